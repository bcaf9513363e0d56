"""Divergence: two replicas with different records at the same offsets, ended by a truncation or not."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.finding import finding, text
from replay.findings.parted_followers import parted_followers
from replay.findings.parted_logs import parted_from_leaders
from replay.profile import Profile
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import IncidentKind, Severity

_KIND = IncidentKind.LOG_DIVERGENCE


def divergences(
    landed: Mapping[str, DataFrame],
    lost: DataFrame,
    took_part: DataFrame,
    truncations: DataFrame,
    leader_timeline: DataFrame,
    profile: Profile,
) -> DataFrame:
    """One row per range in which a replica's log and the new leader's differed, or two dumps differ."""
    of_leaders = parted_from_leaders(landed, lost, took_part, truncations, leader_timeline)
    of_followers = parted_followers(landed, lost, took_part, truncations, leader_timeline, profile)
    return of_leaders.unionByName(of_followers).unionByName(of_dumps(landed[T.SEGMENT_BATCHES.name]))


def of_dumps(batches: DataFrame) -> DataFrame:
    """One row per partition whose brokers' dumps differ: equal batches of two replicas have equal CRCs and epochs.

    Segments are copied byte for byte, so the batches of a base offset are equal or they diverge; where two logs part a
    batch begins in both, be they of other lengths. Compaction leaves batches of the same offsets with less in them, on
    each broker at another time: there epochs alone are compared.
    """
    both = (
        _with_gaps(batches)
        .groupBy(*C.PARTITION_KEY, C.BASE_OFFSET)
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.max(C.LAST_OFFSET).alias(C.LAST_OFFSET),
            F.collect_set(F.struct(C.LAST_OFFSET, C.CRC, C.BATCH_SIZE)).alias("contents"),
            F.sort_array(F.collect_set(F.struct(C.BROKER_ID, C.LEADER_EPOCH))).alias("held"),
            F.max(C.CREATE_TIME).alias("created"),
            F.bool_or("is_compacted").alias("is_compacted"),
        )
    )
    epochs = F.array_distinct(F.filter(F.transform("held", lambda it: it[C.LEADER_EPOCH]), lambda it: it >= 0))
    brokers = F.array_distinct(F.transform("held", lambda it: it[C.BROKER_ID]))
    has_others = (F.size("contents") > 1) & ~F.col("is_compacted")
    differ = both.where((F.size(brokers) > 1) & (has_others | (F.size(epochs) > 1)))
    rows = differ.groupBy(*C.PARTITION_KEY).agg(
        F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
        F.max(F.array_max(F.transform("held", lambda it: it[C.LEADER_EPOCH]))).alias(C.LEADER_EPOCH),
        F.min("created").alias(C.STARTED_AT),
        F.min(C.BASE_OFFSET).alias("begin"),
        (F.max(C.LAST_OFFSET) + 1).alias("end"),
        F.count(F.lit(1)).alias("batches"),
        F.min_by("held", C.BASE_OFFSET).alias("held"),
    )
    held = F.array_join(
        F.transform("held", lambda it: text("broker {} of epoch {}", it[C.BROKER_ID], it[C.LEADER_EPOCH])), ", "
    )
    evidence = text(
        "{} batches between {} and {} differ in the brokers' dumps; the first is held by {}",
        "batches",
        "begin",
        "end",
        held,
    )
    still = rows.withColumn(C.ENDED_AT, F.lit(None))
    return finding(still, _KIND, Severity.CRITICAL, evidence, offsets=(F.col("begin"), F.col("end")))


def _with_gaps(batches: DataFrame) -> DataFrame:
    """Return the batches with `is_compacted`: in some broker's dump of the partition offsets are missing."""
    of_log = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(C.BASE_OFFSET, C.SOURCE_FILE, C.SOURCE_LINE)
    so_far = F.max(C.LAST_OFFSET).over(of_log.rowsBetween(FIRST, -1))
    of_partition = Window.partitionBy(*C.PARTITION_KEY).rowsBetween(FIRST, LAST)
    has_gap = F.coalesce(F.col(C.BASE_OFFSET) > so_far + 1, F.lit(False))
    return batches.withColumn("gap", has_gap).withColumn("is_compacted", F.bool_or("gap").over(of_partition))
