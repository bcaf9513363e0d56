"""Which replicas a partition has, by all that names one."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from replay.assignment import SLOTS, assignments
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
