"""Where stretches were, no seam is seen in the timelines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from replay.states.begins import begun_anew_untold
from replay.stretches.across_cuts import cut_below_starts
from replay.stretches.cut import stretches
from replay.stretches.stitched import stitched
from replay.stretches.terms import terms
from replay.timelines import Timelines
from schemas.tables import BROKER_STATEMENTS, LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS
from tests.frames import rows

pytestmark = pytest.mark.spark


def at(second: float) -> datetime:
    """A time."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second)


@pytest.fixture
def hot(spark: SparkSession) -> DataFrame:
    """A partition that is cut at 40 s."""
    return spark.createDataFrame(
        [("c", "t", "id", 0, [int(at(40).timestamp())])],
        "cluster_id string, topic string, topic_id string, partition int, cuts array<bigint>",
    )


def test_a_cut_below_the_log_start_is_for_one_piece(spark: SparkSession, hot: DataFrame) -> None:
    """Replica 2's log started at 5 and was cut to 3: it starts there. Replica 3's was moved only after its cut."""
    key = {"cluster_id": "c", "topic": "t", "topic_id": "id", "partition": 0}
    cut = stretches(hot, F.lit(1))
    moved, truncated = "log_start_offset", "truncated_to"
    lines = [(2, 10, moved, 5), (2, 20, truncated, 6), (3, 20, truncated, 3), (3, 30, moved, 5)]

    def found(*more: tuple[int, int, str, int]) -> int:
        told = [
            key | {"broker_id": broker, "event_time": at(second), "kind": kind, "offset": offset}
            for broker, second, kind, offset in (*lines, *more)
        ]
        return cut_below_starts(rows(spark, BROKER_STATEMENTS, *told), cut).count()

    assert found() == 0
    assert found((2, 25, truncated, 3)) == 1


def test_who_kept_its_epoch_untold_is_for_one_piece(spark: SparkSession) -> None:
    """Of its second process no line states the LEO; of the first one the epoch's first append tells."""
    kind = "cluster_id string, topic string, topic_id string, partition int, incarnation int"
    begun = [
        ("c", "t", "id", 0, 0, None),
        ("c", "t", "id", 0, 1, 7),
        ("c", "t", "id", 1, 0, 0),
        ("c", "t", "id", 1, 1, None),
    ]
    frame = spark.createDataFrame(begun, f"{kind}, stated_log_end_offset bigint")

    assert [row["partition"] for row in begun_anew_untold(frame).collect()] == [1]


def test_a_state_lasts_until_the_next_epoch(spark: SparkSession, hot: DataFrame) -> None:
    """Replica 1 led epoch 1 and was the last to hear, at 48 s, of epoch 2, which began at 45 s; the cut is at 40 s.

    Replica 3 is none in epoch 2: its state ends where that begins, though the stretch before knew of no end.
    """
    key = {"cluster_id": "c", "topic": "t", "partition": 0}
    of_replica = key | {"replica_id": 1, "role": "LEADER"}
    dropped = key | {"replica_id": 3, "role": None}
    first, second = ({"topic_id": part} for part in ("id#0", "id#1"))
    states = rows(
        spark, REPLICA_TIMELINE,
        of_replica | first | {"leader_epoch": 1, "event_seq": 1, "valid_from": at(10), "valid_to": at(30)},
        of_replica | first | {"leader_epoch": 1, "event_seq": 2, "valid_from": at(30), "valid_to": None},
        of_replica | second | {"leader_epoch": 1, "event_seq": 2, "valid_from": at(48), "valid_to": at(48)},
        of_replica | second | {"leader_epoch": 2, "event_seq": 1, "valid_from": at(45), "valid_to": None},
        dropped | first | {"role": "FOLLOWER", "leader_epoch": 1, "event_seq": 3, "valid_from": at(35)},
        dropped | second | {"leader_epoch": 2, "event_seq": 1, "valid_from": at(45), "valid_to": None},
    )  # fmt: skip
    parts = Timelines(rows(spark, LEADER_TIMELINE), states, rows(spark, TRUNCATIONS))

    cut = stretches(hot, F.lit(1))
    timeline = stitched(parts, cut, terms(parts, cut)).replica_timeline.orderBy(
        "replica_id", "leader_epoch", "valid_from"
    )

    begins, ends = (f"unix_seconds({column}) - {int(at(0).timestamp())}" for column in ("valid_from", "valid_to"))
    assert [tuple(row) for row in timeline.selectExpr("topic_id", begins, ends).collect()] == [
        ("id", 10, 30), ("id", 30, 45), ("id", 48, 48), ("id", 45, None), ("id", 35, 45),
    ]  # fmt: skip
