"""Where stretches were, no seam is seen in the timelines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from replay.stitched import stitched
from replay.stretch_terms import terms
from replay.stretches import stretches
from replay.timelines import Timelines
from schemas.tables import LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS
from tests.frames import rows

pytestmark = pytest.mark.spark


def at(second: float) -> datetime:
    """A time."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second)


def test_a_state_lasts_until_the_next_in_order(spark: SparkSession) -> None:
    """Replica 1 led epoch 1 and was the last to hear, at 48 s, of epoch 2, which began at 45 s; the cut is at 40 s."""
    key = {"cluster_id": "c", "topic": "t", "partition": 0}
    hot = spark.createDataFrame(
        [("c", "t", "id", 0, [int(at(40).timestamp())])],
        "cluster_id string, topic string, topic_id string, partition int, cuts array<bigint>",
    )
    of_replica = key | {"replica_id": 1}
    first, second = ({"topic_id": part} for part in ("id#0", "id#1"))
    states = rows(
        spark, REPLICA_TIMELINE,
        of_replica | first | {"leader_epoch": 1, "event_seq": 1, "valid_from": at(10), "valid_to": at(30)},
        of_replica | first | {"leader_epoch": 1, "event_seq": 2, "valid_from": at(30), "valid_to": None},
        of_replica | second | {"leader_epoch": 1, "event_seq": 2, "valid_from": at(48), "valid_to": at(48)},
        of_replica | second | {"leader_epoch": 2, "event_seq": 1, "valid_from": at(45), "valid_to": None},
    )  # fmt: skip
    parts = Timelines(rows(spark, LEADER_TIMELINE), states, rows(spark, TRUNCATIONS))

    cut = stretches(hot, F.lit(1))
    timeline = stitched(parts, cut, terms(parts, cut)).replica_timeline.orderBy("leader_epoch", "valid_from")

    begins, ends = (f"unix_seconds({column}) - {int(at(0).timestamp())}" for column in ("valid_from", "valid_to"))
    assert [tuple(row) for row in timeline.selectExpr("topic_id", begins, ends).collect()] == [
        ("id", 10, 30), ("id", 30, 48), ("id", 48, 48), ("id", 45, None),
    ]  # fmt: skip
