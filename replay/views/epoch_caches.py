"""The leader-epoch cache of each replica as the events made it: where each epoch begins in its log, and where it ends.

The same fold that asks what another rule of truncation would have done, under the rule that the brokers followed.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.assignment import assignments
from replay.profile import Truncation
from replay.what_if.steps import steps
from replay.what_if.truncation import logs_after
from schemas import columns as C
from schemas import tables as T

MADE_OF = (
    T.LEADER_CHANGES, T.BROKER_STATEMENTS, T.PRODUCE_EVENTS, T.FETCH_EVENTS, T.LEADER_TIMELINE, T.REPLICA_TIMELINE
)  # fmt: skip


def leader_epoch_caches(*tables: DataFrame) -> DataFrame:
    """One row per replica and leader epoch in its log at the end; `tables` are those of `MADE_OF`, in that order.

    `start_offset` bigint, `end_offset` bigint: what `endOffsetFor` that epoch answers, the start of the next epoch in
    the log or the LEO (`LeaderEpochFileCache.endOffsetFor`, LEFC:284). Of leader epoch -1 are the records from before
    the capture. A follower has no entry of an epoch in which nothing was appended (UL:1180).
    """
    landed = {table.name: frame for table, frame in zip(MADE_OF, tables, strict=True)}
    leaders, replicas = landed[T.LEADER_TIMELINE.name], landed[T.REPLICA_TIMELINE.name]
    happened = steps(landed, leaders, replicas, assignments(landed))
    # A diverging fetch and a request for the epoch's end find the same place (KIP-595, KIP-101).
    held = logs_after(happened, Truncation.LEADER_EPOCH).where("log IS NOT NULL")
    entries = held.select(
        *C.PARTITION_KEY, C.REPLICA_ID, F.posexplode("log.runs").alias("place", "run"), F.col("log").alias("log")
    )
    following = F.get("log.runs", F.col("place") + 1)["start"]
    # Of those that begin no later than the log, the last one is left (`LeaderEpochFileCache.truncateFromStart`).
    first_kept = F.max(C.LOG_START_OFFSET).alias("first_kept")
    log_starts = leaders.groupBy(*C.PARTITION_KEY).agg(first_kept)
    return (
        entries.join(log_starts, C.on_partition())
        .where(following.isNull() | (following > F.col("first_kept")))
        .select(
            *C.PARTITION_KEY,
            C.REPLICA_ID,
            F.col("run.epoch").alias(C.LEADER_EPOCH),
            F.greatest(F.col("run.start"), F.col("first_kept")).alias(C.START_OFFSET),
            F.coalesce(following, F.col("log.leo")).alias(C.END_OFFSET),
        )
    )
