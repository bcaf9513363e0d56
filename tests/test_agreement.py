"""Rebuilt against stated, on a few literal values."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from replay.agreement.compared import TRUTH, agreement
from replay.agreement.verdict import agrees, differing, summary
from schemas import tables as T
from tests.checked_rows import BEGIN, HERE, event, state
from tests.frames import rows

pytestmark = pytest.mark.spark

MS = int(BEGIN.timestamp() * 1000)
Said = tuple[str, int, int, int | None, int | None, int]
APPENDED: Said = ("append", 2, 2, None, None, 4)
"""Broker 2 says that its log ends where the history has it."""


def truth(spark: SparkSession, *said: Said) -> DataFrame:
    """Statements: kind, second, broker, replica, from, to; all of epoch 0."""
    given = [
        (k, MS + s * 1000, broker, "ledger", 0, 0, replica, low, high) for k, s, broker, replica, low, high in said
    ]
    return spark.createDataFrame([(*row, None) for row in given], TRUTH)


def nothing_more(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """No truncation and no line beside."""
    return rows(spark, T.TRUNCATIONS), rows(spark, T.BROKER_STATEMENTS)


def values_of(spark: SparkSession, *said: Said) -> DataFrame:
    """A small history against statements, value by value."""
    leaders = rows(
        spark, T.LEADER_TIMELINE,
        event(0, 1, 4, 0, remote_log_end_offset={2: -1}),
        event(0, 2, 4, 4, remote_log_end_offset={2: 4}),
        event(0, 3, 9, 7, remote_log_end_offset={2: 4}, exactness="bounded"),
    )  # fmt: skip
    replicas = rows(spark, T.REPLICA_TIMELINE, state(2, 0, 2, 4, 4))
    return agreement(truth(spark, *said), leaders, replicas, *nothing_more(spark))


def compared(spark: SparkSession, *said: Said) -> dict[str, Row]:
    """The same summed up, by kind of value."""
    return {row["what"]: row for row in summary(values_of(spark, *said)).collect()}


def test_what_was_said_and_rebuilt_agrees(spark: SparkSession) -> None:
    """The HW a leadership began with is no step, and a bounded one is none either."""
    found = compared(
        spark,
        ("become_leader", 1, 1, None, None, 0),
        ("leader_hw", 2, 1, None, 0, 4),
        ("remote_leo", 2, 1, 2, None, 4),
        ("follower_hw", 2, 2, 2, None, 4),
        APPENDED,
    )

    assert {what: (row["stated"], row["found"], row["missing"], row["extra"]) for what, row in found.items()} == {
        "leader_hw": (1, 1, 0, 0), "remote_leo": (1, 1, 0, 0), "follower_hw": (1, 1, 0, 0),
        "append": (1, 1, 0, 0),
    }  # fmt: skip
    assert found["leader_hw"]["p99_ms"] == 0.0
    assert agrees(list(found.values()))


def test_what_differs_is_told_in_the_order_of_time(spark: SparkSession) -> None:
    """As many as are asked for: what was stated and not rebuilt, and what was rebuilt and never stated."""
    began, low, high = (
        ("become_leader", 1, 1, None, None, 0),
        ("remote_leo", 1, 1, 2, None, 3),
        ("follower_hw", 4, 2, 2, None, 9),
    )
    values = values_of(spark, began, high, low, APPENDED).localCheckpoint()

    def told(most: int) -> list[tuple[str, int, bool]]:
        return [
            (row["what"], row["offset"], row["rebuilt_ms"] is None) for row in differing(values).limit(most).collect()
        ]

    assert told(1) == [("remote_leo", 3, True)]
    assert told(9) == [
        ("remote_leo", 3, True), ("follower_hw", 4, False), ("leader_hw", 4, False), ("remote_leo", 4, False),
        ("follower_hw", 9, True),
    ]  # fmt: skip


def test_a_step_within_bounds_is_not_missing(spark: SparkSession) -> None:
    """One such step is borne, and told apart."""
    found = compared(
        spark,
        ("leader_hw", 2, 1, None, 0, 4),
        ("leader_hw", 3, 1, None, 4, 7),
        ("remote_leo", 2, 1, 2, None, 4),
        ("follower_hw", 2, 2, 2, None, 4),
        APPENDED,
    )

    assert [found["leader_hw"][name] for name in ("stated", "found", "bounded", "missing", "extra")] == [2, 1, 1, 0, 0]
    assert agrees(list(found.values()))


def test_a_hw_of_a_follower_within_bounds_is_not_missing(spark: SparkSession) -> None:
    """What lies outside of them is; the bounds of one replica say nothing of another's HW."""
    between = {"exactness": "bounded", "high_watermark_high": 7}
    replicas = rows(spark, T.REPLICA_TIMELINE, state(2, 0, 2, 9, 4, **between), state(3, 0, 2, 9, 4))
    said = truth(spark, *(("follower_hw", 2, b, b, None, hw) for b, hw in ((2, 5), (2, 7), (2, 8), (3, 4), (3, 5))))
    values = agreement(said, rows(spark, T.LEADER_TIMELINE), replicas, *nothing_more(spark))

    (found,) = summary(values.where("what = 'follower_hw'")).collect()
    assert [found[name] for name in ("stated", "found", "bounded", "missing", "extra")] == [5, 1, 2, 2, 0]


def test_a_replica_is_where_it_said_that_its_log_ends(spark: SparkSession) -> None:
    """A leader as well as a follower; what it cut to, had when its role changed, or began with, no append states."""
    between = {"exactness": "bounded", "log_end_offset_high": 7}
    replicas = rows(
        spark, T.REPLICA_TIMELINE,
        state(1, 0, 2, 9, 4, role="LEADER"), state(2, 0, 2, 5, 4, **between),
        state(3, 0, 1, 0, 0), state(3, 0, 2, 9, 4), state(3, 0, 3, 6, 4),
    )  # fmt: skip
    appends = (("append", 2, b, None, None, leo) for b, leo in ((1, 9), (2, 4), (2, 6), (2, 7), (2, 8)))
    said = truth(spark, *appends, ("truncate", 3, 3, None, None, 6))
    values = agreement(said, rows(spark, T.LEADER_TIMELINE), replicas, *nothing_more(spark)).where("what = 'append'")

    (found,) = summary(values).collect()
    assert [found[name] for name in ("stated", "found", "bounded", "missing", "extra")] == [5, 1, 2, 2, 1]
    assert [(row["replica_id"], row["offset"]) for row in values.where("stated_ms is null").collect()] == [(3, 9)]


def test_a_remote_leo_of_a_time_without_requests_is_not_missing(spark: SparkSession) -> None:
    """From the last fetch that is known to the next one; what was never between them is missing."""
    leaders = rows(
        spark, T.LEADER_TIMELINE,
        event(0, 1, 4, 4, remote_log_end_offset={2: 4, 3: 2}),
        event(0, 2, 9, 7, remote_log_end_offset={2: 4, 3: 2}, exactness="bounded", log_end_offset_high=11),
        event(0, 3, 12, 10, remote_log_end_offset={2: 10, 3: 2}),
    )  # fmt: skip
    said = truth(spark, *(("remote_leo", 2, 1, replica, None, leo) for replica in (2, 3) for leo in (1, 2, 4, 7, 11)))
    values = agreement(said, leaders, rows(spark, T.REPLICA_TIMELINE), *nothing_more(spark))

    missing = values.where("what = 'remote_leo' and rebuilt_ms is null and not is_bounded")
    assert sorted((row["replica_id"], row["offset"]) for row in missing.collect()) == [
        (2, 1), (2, 2), (2, 11), (3, 1), (3, 4), (3, 7), (3, 11)
    ]  # fmt: skip


def test_where_a_log_was_begun_anew_its_end_and_hw_are_not_extra(spark: SparkSession) -> None:
    """The line that says so states neither; of another replica it says nothing."""
    begun = {**HERE, "kind": "truncated_fully_at", "broker_id": 2, "offset": 4}
    replicas = rows(spark, T.REPLICA_TIMELINE, state(2, 0, 2, 4, 4), state(3, 0, 2, 4, 4))
    said = truth(spark, ("follower_hw", 2, 2, 2, None, 9), ("append", 2, 2, None, None, 9))
    cuts, lines = rows(spark, T.TRUNCATIONS), rows(spark, T.BROKER_STATEMENTS, begun)
    values = agreement(said, rows(spark, T.LEADER_TIMELINE), replicas, cuts, lines)

    extra = values.where("stated_ms is null")
    assert {(row["what"], row["replica_id"], row["offset"]) for row in extra.collect()} == {
        ("append", 3, 4), ("follower_hw", 3, 4)
    }  # fmt: skip


def test_what_was_not_said_or_not_rebuilt_is_told(spark: SparkSession) -> None:
    """A step that is missing, one that is made up, and a truncation nobody rebuilt."""
    found = compared(
        spark,
        ("leader_hw", 2, 1, None, 0, 3),
        ("truncate", 3, 2, None, None, 2),
    )  # fmt: skip

    assert (found["leader_hw"]["missing"], found["leader_hw"]["extra"]) == (1, 1)
    assert found["remote_leo"]["extra"] == 1
    assert found["truncate"]["missing"] == 1
    assert not agrees(list(found.values()))


def test_what_a_leader_kept_over_its_re_elections_is_not_extra(spark: SparkSession) -> None:
    """However many in a row, also past epochs that nobody began; another leader's in between is not its own."""
    of_leader = [(0, 1), (1, 1), (3, 1), (4, 2), (5, 1)]
    leaders = rows(
        spark, T.LEADER_TIMELINE,
        *(event(epoch, 1, 4, 0, leader_id=leader, remote_log_end_offset={3: 4}) for epoch, leader in of_leader),
    )  # fmt: skip
    said = truth(spark, ("remote_leo", 2, 1, 3, None, 4))
    values = agreement(said, leaders, rows(spark, T.REPLICA_TIMELINE), *nothing_more(spark))

    extra = values.where("what = 'remote_leo' and stated_ms is null").orderBy("leader_epoch")
    assert [row["leader_epoch"] for row in extra.collect()] == [4, 5]


def test_what_a_leader_brought_along_is_not_extra(spark: SparkSession) -> None:
    """A HW that it began with and had been told as a follower, if no line states it again."""
    leaders = rows(spark, T.LEADER_TIMELINE, event(1, 1, 4, 3, leader_id=2), event(2, 1, 4, 2, leader_id=1))
    said = truth(spark, ("follower_hw", 2, 2, 2, None, 3))
    values = agreement(said, leaders, rows(spark, T.REPLICA_TIMELINE), *nothing_more(spark))

    extra = values.where("what = 'leader_hw' and stated_ms is null")
    assert [(row["leader_epoch"], row["offset"]) for row in extra.collect()] == [(2, 2)]


def test_what_was_in_flight_when_a_leader_was_killed_is_bounded(spark: SparkSession) -> None:
    """Between what it had heard and its LEO; what another leader is said to have heard is missing."""
    leaders = rows(
        spark, T.LEADER_TIMELINE,
        event(0, 1, 9, 4, remote_log_end_offset={2: 4}),
        event(0, 2, 9, 4, remote_log_end_offset={2: 4}, event_type="RESTART"),
    )  # fmt: skip
    said = truth(spark, *(("remote_leo", 2, 1, 2, None, offset) for offset in (4, 9, 10)))
    values = agreement(said, leaders, rows(spark, T.REPLICA_TIMELINE), *nothing_more(spark))

    (found,) = summary(values.where("what = 'remote_leo'")).collect()
    assert [found[name] for name in ("stated", "found", "bounded", "missing", "extra")] == [3, 1, 1, 1, 0]


def test_up_to_2_3_a_step_names_no_hw_before_it(spark: SparkSession) -> None:
    """It is a rise all the same, and the HW that the leader loaded is the one that it began with."""
    found = compared(spark, ("loaded", 0, 1, None, None, 0), ("leader_hw", 2, 1, None, None, 4))["leader_hw"]

    assert (found["stated"], found["found"], found["missing"], found["extra"]) == (1, 1, 0, 0)


def test_of_brokers_that_write_of_no_append_none_is_extra(spark: SparkSession) -> None:
    """One line of it anywhere, and all of them are compared; of the broker itself, what comes after."""
    led = ("leader_hw", 2, 1, None, 0, 4)

    assert "append" not in compared(spark, led)
    assert compared(spark, led, ("append", 2, 2, None, None, 9))["append"]["extra"] == 1
    assert compared(spark, led, ("append", 60, 2, None, None, 9))["append"]["extra"] == 0
