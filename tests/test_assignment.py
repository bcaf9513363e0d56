"""Which replicas a partition has, by all that names one."""

from __future__ import annotations

import contextlib

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.errors import CouldNotRunError
from jobs.replay_inputs import slots_of
from replay.assignment import MOST_SLOTS, SLOTS, assignments, every_mask, mask_of, slot_of
from schemas.tables import FETCH_EVENTS, LEADER_CHANGES, PRODUCE_EVENTS
from tests.frames import rows

pytestmark = pytest.mark.spark
HERE = {"cluster_id": "c", "topic": "t", "topic_id": "", "partition": 0, "leader_id": 1}


def test_a_broker_that_only_ever_follows_is_a_replica(spark: SparkSession) -> None:
    """Without the metadata log no line lists replicas: of one that never was in the ISR its own line tells."""
    changes = rows(
        spark,
        LEADER_CHANGES,
        {**HERE, "broker_id": 1, "change_kind": "become_leader", "isr": [1]},
        {**HERE, "broker_id": 3, "change_kind": "become_follower"},
        {**HERE, "broker_id": -1, "change_kind": "assigned", "isr": [1, 2]},
    )
    requests = {table.name: rows(spark, table) for table in (PRODUCE_EVENTS, FETCH_EVENTS)}
    (row,) = assignments({LEADER_CHANGES.name: changes, **requests}).collect()

    assert row[SLOTS] == [1, 2, 3]


@pytest.mark.parametrize("replicas", [30, 31])
def test_a_partition_has_so_many_replicas_at_most(spark: SparkSession, replicas: int) -> None:
    """Sets of them are bit masks of an int: what does not fit is refused, not worked out wrongly."""
    assigned = spark.createDataFrame([([*range(replicas)],)], f"{SLOTS} array<int>")
    refused = contextlib.nullcontext() if replicas <= MOST_SLOTS else pytest.raises(CouldNotRunError, match="31 repl")

    with refused:
        assert slots_of(assigned) == replicas


def test_the_most_replicas_are_a_mask_of_an_int(spark: SparkSession) -> None:
    """All of them, and the bit beyond."""
    all_of_them = spark.createDataFrame([([*range(MOST_SLOTS)],)], f"{SLOTS} array<int>")
    masks = all_of_them.select(
        mask_of(F.col(SLOTS), MOST_SLOTS).alias("mask"), every_mask().alias("every"), slot_of(F.lit(29)).alias("last")
    )

    assert [tuple(row) for row in masks.collect()] == [(2**30 - 1, 2**30 - 1, 29)]
