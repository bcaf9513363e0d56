"""The leader-epoch cache of each replica as the events made it: where each epoch begins in its log, and where it ends.

The same fold that asks what another rule of truncation would have done, under the rule that the brokers followed.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.assignment import assignments
from replay.profile import Truncation
from replay.what_if.outcomes import logs_after
from replay.what_if.steps import steps
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import EventType

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
    log_starts = _log_starts(leaders, landed[T.FETCH_EVENTS.name])
    log_start = F.least(F.coalesce(F.col(C.LOG_START_OFFSET), F.lit(0)), F.col("log.leo")).alias(C.LOG_START_OFFSET)
    entries = held.join(log_starts, C.on_partition(C.REPLICA_ID), "left").select(
        *C.PARTITION_KEY, C.REPLICA_ID, F.posexplode("log.runs").alias("place", "run"), "log", log_start
    )
    following = F.get("log.runs", F.col("place") + 1)["start"]
    # Of those that begin no later than the log, the last one is left (`LeaderEpochFileCache.truncateFromStart`).
    is_kept = following.isNull() | (following > F.col(C.LOG_START_OFFSET))
    return entries.where(is_kept).select(
        *C.PARTITION_KEY,
        C.REPLICA_ID,
        F.col("run.epoch").alias(C.LEADER_EPOCH),
        F.greatest(F.col("run.start"), C.LOG_START_OFFSET).alias(C.START_OFFSET),
        F.coalesce(following, F.col("log.leo")).alias(C.END_OFFSET),
    )


def _log_starts(leaders: DataFrame, fetches: DataFrame) -> DataFrame:
    """One row per replica that led or fetched: its own `log_start_offset`, which does not go back.

    A response tells a follower its leader's, at the latest that to a fetch that was held. What is deleted after it the
    follower has not heard of.
    """
    fetched = leaders.where(F.col(C.EVENT_TYPE) == EventType.FETCH.value)
    led = leaders.withColumn(C.REPLICA_ID, F.col(C.LEADER_ID))
    told = fetches.where(F.col(C.REPLICA_ID) >= 0).withColumn(C.LOG_START_OFFSET, F.col(C.RESPONSE_LOG_START_OFFSET))
    columns = (*C.REPLICA_KEY, C.LOG_START_OFFSET)
    every = reduce(DataFrame.unionByName, [rows.select(*columns) for rows in (fetched, led, told)])
    return every.groupBy(*C.REPLICA_KEY).agg(F.max(C.LOG_START_OFFSET).alias(C.LOG_START_OFFSET))
