"""Commit latency: from a record's append at the leader until the HW was past it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.names import INCARNATION
from replay.sequence import incarnation_of
from replay.windows import FIRST, NOW
from schemas import columns as C
from schemas import view_columns as V
from schemas.kinds import EventType

_SHARES = {V.P50_MS: 0.5, V.P95_MS: 0.95, V.P99_MS: 0.99}


def commit_times(leader_timeline: DataFrame) -> DataFrame:
    """One row per append, with `appended_at`, `committed_at` and `latency_ms`.

    Columns: partition key, leader_epoch, leader_id, appended_at, log_end_offset (the LEO after it), committed_at and
    latency_ms. `committed_at` is NULL where the leadership ended first: a later one may hold the records and commit
    them, or not. A batch that a producer repeats, and that is committed already, is so at once.

    The HW never falls within a leadership, and only its order beside the LEOs matters: both are sorted by offset once,
    and the first event at which the HW was there or beyond is a running minimum from the greatest offset down.
    """
    is_append = F.col(C.EVENT_TYPE) == EventType.APPEND.value
    offsets = F.array(
        F.struct(F.col(C.HIGH_WATERMARK).alias("reach"), F.lit(1).alias("is_hw")),
        F.when(is_append, F.struct(F.col(C.LOG_END_OFFSET).alias("reach"), F.lit(0).alias("is_hw"))),
    )
    both = leader_timeline.select(
        *C.EPOCH_KEY, incarnation_of(C.EVENT_SEQ).alias(INCARNATION), C.LEADER_ID, C.EVENT_SEQ, C.EVENT_TIME,
        C.HIGH_WATERMARK, F.explode(F.array_compact(offsets)).alias("at"),
    ).select("*", "at.*")  # fmt: skip
    # A leader that restarted with its epoch and a shorter log had reached the offset before, with another record.
    from_the_end = Window.partitionBy(*C.EPOCH_KEY, INCARNATION).orderBy(F.desc("reach"), F.desc("is_hw"), C.EVENT_SEQ)
    past = F.struct(C.EVENT_SEQ, C.EVENT_TIME)
    first = F.min(F.when(F.col("is_hw") == 1, past)).over(from_the_end.rowsBetween(FIRST, NOW))
    committed = both.withColumn("first", first).where("is_hw = 0 AND reach >= 0")
    is_after = F.col(f"first.{C.EVENT_SEQ}") >= F.col(C.EVENT_SEQ)
    is_there = F.col(C.HIGH_WATERMARK) >= F.col("reach")
    at = F.when(is_after, F.col(f"first.{C.EVENT_TIME}")).when(is_there, F.col(C.EVENT_TIME))
    return committed.select(
        *C.EPOCH_KEY, C.LEADER_ID, F.col(C.EVENT_TIME).alias(V.APPENDED_AT), F.col("reach").alias(C.LOG_END_OFFSET),
        at.alias(V.COMMITTED_AT),
        ((F.unix_micros(at) - F.unix_micros(C.EVENT_TIME)) / 1000).alias(V.LATENCY_MS),
    )  # fmt: skip


def commit_latency(leader_timeline: DataFrame) -> DataFrame:
    """One row per partition and minute: its appends, those the leader's epoch never committed, percentiles in ms.

    What lies between two latencies is told to the microsecond, as they are.
    """
    minute = F.date_trunc("minute", V.APPENDED_AT).alias(V.MINUTE)
    return (
        commit_times(leader_timeline)
        .groupBy(*C.PARTITION_KEY, minute)
        .agg(
            F.count(F.lit(1)).alias(V.APPENDS),
            F.count_if(F.col(V.COMMITTED_AT).isNull()).alias(V.NOT_COMMITTED_IN_EPOCH),
            *[_percentile(share).alias(name) for name, share in _SHARES.items()],
            F.max(V.LATENCY_MS).alias(V.MAX_MS),
        )
    )


def _percentile(share: float) -> Column:
    return F.round(F.percentile(V.LATENCY_MS, F.lit(share)), 3)
