"""Where an append ended, and the appends no PRODUCE line tells of."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas.tables import BROKER_STATEMENTS, FETCH_EVENTS, LEADER_CHANGES, PRODUCE_EVENTS, SEGMENT_BATCHES, Table
from sources.resolve_appends import batch_ends, ends_of_leaders, with_last_offset
from sources.resolve_old_batches import old_batch_ends
from sources.resolve_unlogged import unlogged_appends

pytestmark = pytest.mark.spark

PLACE = {"topic": "orders", "topic_id": "id", "partition": 0, "broker_id": 1, "last_offset": -1, "producer_id": -1}
NEITHER = {"is_control": False, "is_transactional": False}
TIMES = ("event_time", "create_time", "response_time")


def rows_of(spark: SparkSession, table: Table, *rows: dict[str, object]) -> DataFrame:
    """Rows of a table, times in seconds; what a row does not say is NULL."""
    schema = ", ".join(f"{c} {'double' if c in TIMES else c.type.simpleString()}" for c in table.columns)
    told = [{**PLACE, **NEITHER, "source_file": "f", "source_line": n, **row} for n, row in enumerate(rows, 1)]
    values = [tuple(float(row[c]) if c in TIMES and c in row else row.get(c) for c in table.columns) for row in told]
    frame = spark.createDataFrame(values, schema)
    return frame.withColumns(
        {c: F.timestamp_micros((F.col(c) * 1_000_000).cast("bigint")) for c in TIMES if c in frame.columns}
    )


def append(base_offset: int, epoch: int = 0, at: float = 10.0, **more: object) -> dict[str, object]:
    """An append at the leader that a PRODUCE line tells of."""
    return {"base_offset": base_offset, "leader_epoch": epoch, "event_time": at, "error_code": 0, **more}


def batch(base_offset: int, last_offset: int, epoch: int = 0, at: float = 10.0, **more: object) -> dict[str, object]:
    """A batch in a dump."""
    return {
        "base_offset": base_offset, "last_offset": last_offset, "leader_epoch": epoch, "create_time": at, **more,
    }  # fmt: skip


def fetched(offset: int, epoch: int = 0, **more: object) -> dict[str, object]:
    """An accepted fetch of replica 2."""
    accepted = {"error_code": 0, "diverging_epoch": -1, "replica_id": 2}
    return {"fetch_offset": offset, "leader_epoch": epoch, **accepted, **more}


def last_offsets(frame: DataFrame) -> list[int]:
    """Last offsets in the order of the lines."""
    return [row.last_offset for row in frame.orderBy("source_line").collect()]


def loaded(offset: int, epoch: int) -> dict[str, object]:
    """A log that a restart loaded up to `offset`."""
    return {"kind": "loaded_log_end_offset", "offset": offset, "leader_epoch": epoch}


def test_the_dump_tells_by_base_offset_and_leader_epoch(spark: SparkSession) -> None:
    """Offset 5 was truncated and used again: the dump has the later one, and what else is known of it."""
    appends = rows_of(spark, PRODUCE_EVENTS, append(0), append(5), append(5, epoch=1), append(-1), append(5, epoch=-1))
    dump = (batch(0, 4), batch(5, 9, epoch=1, producer_id=77, is_transactional=True))
    batches = rows_of(spark, SEGMENT_BATCHES, *dump, *[{**row, "broker_id": 2} for row in dump])
    ends = batch_ends(rows_of(spark, FETCH_EVENTS), rows_of(spark, BROKER_STATEMENTS))
    found = with_last_offset(appends, batches, ends)
    assert found.columns == appends.columns
    assert last_offsets(found) == [4, -1, 9, -1, -1]
    assert [row.producer_id for row in found.orderBy("source_line").collect()] == [-1, -1, 77, -1, -1]


def test_without_a_dump_the_next_known_place_in_the_epoch_tells(spark: SparkSession) -> None:
    """The next append, an accepted fetch, a loaded log; not a refused fetch, a consumer's, or another epoch's."""
    appends = rows_of(spark, PRODUCE_EVENTS, append(0), append(3), append(8), append(0), append(8, epoch=1))
    fetches = rows_of(
        spark,
        FETCH_EVENTS,
        fetched(6),
        fetched(4, error_code=1),
        fetched(4, diverging_epoch=0),
        fetched(4, replica_id=-1),
        fetched(9, epoch=1, replica_id=-1),
    )
    statements = rows_of(spark, BROKER_STATEMENTS, loaded(11, 0), {**loaded(9, 0), "kind": "truncated_to"})
    no_dump = rows_of(spark, SEGMENT_BATCHES)
    found = with_last_offset(appends, no_dump, batch_ends(fetches, statements))
    assert last_offsets(found) == [2, 5, 10, 2, -1]


def test_the_next_role_of_its_leader_tells_where_an_epoch_ended(spark: SparkSession) -> None:
    """It led 0, followed in 2 and 3, leads 5 and 6 and follows in 8; another broker's roles tell of its own log."""
    terms = [(1, "orders", "id", 0, [(epoch, epoch in (0, 5, 6)) for epoch in (0, 2, 3, 5, 6, 8)])]
    known = "array<struct<leader_epoch int, is_leader boolean>>"
    epochs = spark.createDataFrame(terms, f"broker_id int, topic string, topic_id string, partition int, terms {known}")
    became = [("leader", 0, 0), ("follower", 2, 7), ("follower", 3, 4), ("leader", 5, 30), ("leader", 6, 41),
              ("follower", 8, 55), ("follower", 9, -1)]  # fmt: skip
    said = [
        {"kind": f"became_{role}_log_end_offset", "leader_epoch": epoch, "offset": offset}
        for role, epoch, offset in became
    ]
    other = {"broker_id": 2, "kind": "became_follower_log_end_offset", "leader_epoch": 2, "offset": 3}
    found = ends_of_leaders(rows_of(spark, BROKER_STATEMENTS, *said, other, loaded(9, 2)), epochs).collect()
    assert sorted((row.leader_epoch, row["at"]) for row in found) == [(0, 7), (5, 41), (6, 55)]


def test_old_batches_end_appends_by_offset_and_time(spark: SparkSession) -> None:
    """Magic 1: message 10 of the dump was created when epoch 2's append was made, not epoch 0's; 10 to 12 are one.

    Message 14 came when the logs had ended.
    """
    appends = rows_of(
        spark, PRODUCE_EVENTS, append(9, at=100), append(10, at=110), append(10, epoch=2, at=200), append(13, 2, 210)
    )
    messages = [batch(o, o, -1, at) for o, at in ((9, 99), (10, 199), (11, 199), (12, 199), (13, 209), (14, 300))]
    batches = rows_of(spark, SEGMENT_BATCHES, *messages)
    ends = old_batch_ends(appends, batches)
    assert sorted((row.leader_epoch, row["at"]) for row in ends.collect()) == [(0, 10), (2, 13), (2, 14)]
    assert last_offsets(with_last_offset(appends, batches, ends)) == [9, -1, 12, 13]


def test_a_batch_that_no_line_explains_is_an_append_between_its_neighbours(spark: SparkSession) -> None:
    """Its own time where that fits, else the nearest that does; a leader nobody names leaves it out."""
    appends = rows_of(spark, PRODUCE_EVENTS, append(0, at=10), append(4, at=20), append(0, at=35))
    batches = rows_of(
        spark,
        SEGMENT_BATCHES,
        batch(0, 0),
        batch(1, 1, at=15),
        batch(2, 2, at=5),
        batch(3, 3, at=99, is_control=True, transaction_result="COMMIT"),
        batch(4, 4),
        batch(5, 5, at=8),
        batch(6, 6, epoch=1, at=40),
        batch(7, 7, epoch=2, at=60),
        batch(8, 8, epoch=-1),
    )
    changes = rows_of(
        spark,
        LEADER_CHANGES,
        {"leader_epoch": 1, "leader_id": 3, "broker_id": 3, "event_time": 50, "change_kind": "become_leader"},
        {"leader_epoch": 1, "leader_id": 3, "broker_id": 2, "event_time": 70, "change_kind": "become_follower"},
    )
    found = unlogged_appends(appends, batches, changes).orderBy("base_offset").collect()
    assert [(row.base_offset, row.leader_epoch, row.broker_id, _seconds(row.event_time)) for row in found] == [
        (1, 0, 1, 15),
        (2, 0, 1, 10),
        (3, 0, 1, 20),
        (5, 0, 1, 20),
        (6, 1, 3, 50),
    ]
    assert [row.local_time_us for row in found] == [5_000_000, 10_000_000, 0, 0, 0]
    assert {(row.append_source, row.acks, row.error_code) for row in found} == {("segment", None, 0)}
    assert [(row.is_control, row.transaction_result) for row in found][2] == (True, "COMMIT")


def _seconds(time: datetime) -> float:
    return time.replace(tzinfo=UTC).timestamp()
