"""An event that names no leader epoch is of the one its broker was in."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas.kinds import StatementKind
from schemas.tables import BROKER_STATEMENTS, FETCH_EVENTS, LEADER_CHANGES, PRODUCE_EVENTS, Table
from sources.resolve_epochs import terms, with_append_epoch, with_fetch_epoch, with_statement_epoch

pytestmark = pytest.mark.spark

PLACE = {"topic": "orders", "topic_id": "id", "partition": 0, "broker_id": 1, "leader_epoch": -1, "local_time_us": 0}


def rows_of(spark: SparkSession, table: Table, rows: list[dict[str, object]]) -> DataFrame:
    """Rows of a table, `at` a second; what a row does not say is NULL."""
    columns = [column for column in table.columns if column != "event_time"]
    told = [{**PLACE, "source_line": n, **row} for n, row in enumerate(rows, 1)]
    schema = ", ".join(f"{column} {column.type.simpleString()}" for column in columns)
    frame = spark.createDataFrame(
        [(float(row["at"]), *[row.get(column) for column in columns]) for row in told], f"at double, {schema}"
    )
    return frame.withColumn("event_time", F.timestamp_micros((F.col("at") * 1_000_000).cast("bigint"))).drop("at")


def led(epoch: int, at: float, kind: str = "become_leader", leader: int = 1) -> dict[str, object]:
    """Broker 1's word on who leads an epoch."""
    return {"leader_epoch": epoch, "at": at, "change_kind": kind, "leader_id": leader}


def epochs(frame: DataFrame) -> list[int]:
    """The leader epochs, in the order of the lines."""
    return [row.leader_epoch for row in frame.orderBy("source_line").collect()]


NOTHING: list[dict[str, object]] = []


def said(spark: SparkSession, **begins_at: int) -> DataFrame:
    """Broker 1's lines of the LEOs with which it began to lead epochs, `e3` is epoch 3."""
    lines = [
        {"leader_epoch": int(epoch[1:]), "offset": leo, "kind": StatementKind.BECAME_LEADER_LEO.value, "at": 0.0}
        for epoch, leo in begins_at.items()
    ]
    return rows_of(spark, BROKER_STATEMENTS, lines)


def test_an_append_is_of_the_last_epoch_the_broker_led(spark: SparkSession) -> None:
    """Leader in 2 and 5, follower in 4; an append may seem to come just before the line that begins its epoch."""
    changes = rows_of(
        spark, LEADER_CHANGES, [led(2, 10), led(4, 20, "become_follower", leader=3), led(5, 30), led(5, 40)]
    )
    known = terms(changes, rows_of(spark, FETCH_EVENTS, NOTHING), said(spark))
    appends = [
        {"at": 9.0, "base_offset": 1},
        {"at": 9.9995, "base_offset": 1},
        {"at": 19.0, "base_offset": 2},
        {"at": 25.0, "base_offset": 3},
        {"at": 25.0, "base_offset": -1, "error_code": 6},
        {"at": 29.9, "base_offset": 4, "local_time_us": 200_000},
        {"at": 45.0, "base_offset": 5},
        {"at": 45.0, "base_offset": 5, "broker_id": 2},
        {"at": 45.0, "base_offset": 5, "leader_epoch": 3},
    ]
    assert epochs(with_append_epoch(rows_of(spark, PRODUCE_EVENTS, appends), known)) == [-1, 2, 2, 2, 4, 5, 5, -1, 3]


def test_what_lies_below_where_an_epoch_began_was_appended_before_it(spark: SparkSession) -> None:
    """If it was worked on as the line of the epoch was written; later it is a repeat, and of the epoch that answers."""
    changes = rows_of(spark, LEADER_CHANGES, [led(0, 10), led(1, 20.001)])
    known = terms(changes, rows_of(spark, FETCH_EVENTS, NOTHING), said(spark, e0=0, e1=10))
    appends = [
        {"at": 20.0, "base_offset": 5, "local_time_us": 700},
        {"at": 20.0, "base_offset": 10, "local_time_us": 700},
        {"at": 20.1, "base_offset": 5},
    ]
    assert epochs(with_append_epoch(rows_of(spark, PRODUCE_EVENTS, appends), known)) == [0, 1, 1]


def test_a_time_without_a_fraction_may_be_a_second_early(spark: SparkSession) -> None:
    """Of the files where it has none; in any other a millisecond."""
    known = terms(
        rows_of(spark, LEADER_CHANGES, [led(2, 10), led(3, 20)]), rows_of(spark, FETCH_EVENTS, NOTHING), said(spark)
    )
    appends = [{"at": 19.9, "base_offset": 1, "source_file": name} for name in ("cut.log", "whole.log")]
    fetches = [{**append, "replica_id": 2, "error_code": 0} for append in appends]
    fetches[0]["at"] = 18.9

    assert epochs(with_append_epoch(rows_of(spark, PRODUCE_EVENTS, appends), known, {"cut.log"})) == [3, 2]
    assert epochs(with_fetch_epoch(rows_of(spark, FETCH_EVENTS, fetches), known, {"cut.log"})) == [2, 2]


def test_a_fetch_that_was_answered_shows_the_epoch_without_any_other_log(spark: SparkSession) -> None:
    """Followers name the epoch; before the first of them the broker was in it already, or is not known to be."""
    fetches = rows_of(
        spark,
        FETCH_EVENTS,
        [
            {"at": 10.0, "leader_epoch": 7, "replica_id": 2, "error_code": 0},
            {"at": 12.0, "leader_epoch": 7, "replica_id": 2, "error_code": 0},
            {"at": 20.0, "leader_epoch": 8, "replica_id": 2, "error_code": 0},
            {"at": 15.0, "leader_epoch": 9, "replica_id": -1, "error_code": 0},
            {"at": 21.0, "leader_epoch": -1, "replica_id": 2, "error_code": 74},
        ],
    )
    known = terms(rows_of(spark, LEADER_CHANGES, NOTHING), fetches, said(spark))
    assert epochs(with_fetch_epoch(fetches, known)) == [7, 7, 8, 9, 8]
    appends = [{"at": 5.0, "base_offset": 1}, {"at": 19.0, "base_offset": 2}]
    assert epochs(with_append_epoch(rows_of(spark, PRODUCE_EVENTS, appends), known)) == [7, 7]


def test_the_brokers_own_line_outweighs_what_it_was_told(spark: SparkSession) -> None:
    """LEADER_AND_ISR takes time to apply: until then the broker leads the epoch before."""
    changes = rows_of(spark, LEADER_CHANGES, [led(2, 10), led(3, 20, "assigned"), led(3, 21), led(4, 30, "assigned")])
    known = terms(changes, rows_of(spark, FETCH_EVENTS, NOTHING), said(spark))
    appends = [{"at": at, "base_offset": 1} for at in (20.5, 21.5, 30.5)]
    assert epochs(with_append_epoch(rows_of(spark, PRODUCE_EVENTS, appends), known)) == [2, 3, 4]


def test_a_loaded_log_is_of_the_epoch_before_the_restart(spark: SparkSession) -> None:
    """The line comes before the broker is told its role."""
    changes = rows_of(spark, LEADER_CHANGES, [led(2, 10), led(3, 31, "become_follower", leader=3)])
    known = terms(changes, rows_of(spark, FETCH_EVENTS, NOTHING), said(spark))
    loaded = rows_of(spark, BROKER_STATEMENTS, [{"at": 30.0, "kind": "loaded_log_end_offset", "offset": 11}])
    assert epochs(with_statement_epoch(loaded, known)) == [2]
