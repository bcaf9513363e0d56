"""The leader that a follower of Kafka up to 3.2 does not name: a leader epoch has one leader, by any broker's word."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C

TERM: list[str] = [C.TOPIC, C.TOPIC_ID, C.PARTITION, C.LEADER_EPOCH]


def with_leader(changes: DataFrame, earlier: DataFrame | None) -> DataFrame:
    """The changes with the leader of their epoch, where a change of this or an earlier delivery names it."""
    told = changes if earlier is None else changes.unionByName(earlier)
    leaders = (
        told.where((F.col(C.LEADER_EPOCH) >= 0) & (F.col(C.LEADER_ID) >= 0))
        .groupBy(*TERM)
        .agg(F.max(C.LEADER_ID).alias("leader_of_term"))
    )
    leader = F.coalesce(C.LEADER_ID, "leader_of_term")
    return changes.join(leaders, TERM, "left").withColumn(C.LEADER_ID, leader).select(*changes.columns)
