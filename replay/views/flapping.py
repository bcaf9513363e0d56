"""Flapping of the ISR: whether it is one follower, one leader, one pair of them, or everybody."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings.isr_story import IS_DROPPED, isr_moves, isr_steps
from schemas import columns as C
from schemas import view_columns as V


def isr_flapping(leader_timeline: DataFrame) -> DataFrame:
    """One row per pair of follower and leader, per follower, per leader and per cluster (`clustered_by`).

    Who leaves the ISR for being no replica any more does not flap.

    Columns: cluster_id, clustered_by, replica_id and leader_id (NULL where the row is of all of them), times_out,
    partitions, not_back, seconds_out_median, seconds_out_max.
    """
    out = isr_moves(isr_steps(leader_timeline)).where(f"NOT is_in AND NOT {IS_DROPPED}")
    # By the clocks of two leaders: out for no time at least.
    lasted = F.unix_micros("next_at") - F.unix_micros(C.STARTED_AT)
    seconds = F.when(lasted < 0, 0).otherwise(lasted) / 1_000_000
    moves = out.select(*C.PARTITION_KEY, F.col("who").alias(C.REPLICA_ID), C.LEADER_ID, seconds.alias("seconds"))
    of_all_replicas, of_all_leaders = F.grouping(C.REPLICA_ID) == 1, F.grouping(C.LEADER_ID) == 1
    clustered_by = (
        F.when(of_all_replicas & of_all_leaders, "cluster")
        .when(of_all_replicas, "leader")
        .when(of_all_leaders, "follower")
        .otherwise("pair")
    )
    figures = (
        F.count(F.lit(1)).alias(V.TIMES_OUT),
        F.count_distinct(C.TOPIC, C.TOPIC_ID, C.PARTITION).alias(V.PARTITIONS),
        F.count_if(F.col("seconds").isNull()).alias(V.NOT_BACK),
        F.percentile("seconds", F.lit(0.5)).alias(V.SECONDS_OUT_MEDIAN),
        F.max("seconds").alias(V.SECONDS_OUT_MAX),
    )
    clustered = moves.cube(C.CLUSTER_ID, C.REPLICA_ID, C.LEADER_ID).agg(clustered_by.alias(V.CLUSTERED_BY), *figures)
    named = (C.CLUSTER_ID, V.CLUSTERED_BY, C.REPLICA_ID, C.LEADER_ID)
    return clustered.where(F.col(C.CLUSTER_ID).isNotNull()).select(
        *named, V.TIMES_OUT, V.PARTITIONS, V.NOT_BACK, V.SECONDS_OUT_MEDIAN, V.SECONDS_OUT_MAX
    )
