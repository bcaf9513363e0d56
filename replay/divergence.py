"""Divergence: two replicas with different records at the same offsets, ended by a truncation or not."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.findings import finding, text
from replay.losses import HAD_UP_TO, PREVIOUS_EPOCH, PREVIOUS_LEADER, SPLIT_AT
from replay.spans import END_LEO, SPAN
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import IncidentKind, Severity

_KIND = IncidentKind.LOG_DIVERGENCE


def divergences(
    landed: Mapping[str, DataFrame], lost: DataFrame, took_part: DataFrame, truncations: DataFrame
) -> DataFrame:
    """One row per range in which a former leader's log and the new leader's differed, or two dumps differ."""
    return _of_leaders(lost, took_part, truncations).unionByName(of_dumps(landed[T.SEGMENT_BATCHES.name]))


def _of_leaders(lost: DataFrame, took_part: DataFrame, truncations: DataFrame) -> DataFrame:
    """One row per election after which the new leader appended at offsets where its predecessor had other records.

    It begins with the new leadership, and ends when the predecessor cuts: under truncation to the HW it may never do
    so, and fetch on over its own records (KIP-101, scenario 2).
    """
    ends = F.least(F.col(HAD_UP_TO), F.col(END_LEO))
    apart = lost.groupBy(*SPAN, C.CAPTURE_ID, C.LEADER_ID, C.STARTED_AT, PREVIOUS_LEADER, PREVIOUS_EPOCH).agg(
        F.min(SPLIT_AT).alias("begin"), F.max(ends).alias("end")
    ).where("begin < end").where(f"{PREVIOUS_LEADER} <> {C.LEADER_ID}")  # fmt: skip
    former = F.col(C.REPLICA_ID).alias(PREVIOUS_LEADER)
    cuts = truncations.groupBy(*C.PARTITION_KEY, former).agg(
        F.collect_list(F.struct(C.LEADER_EPOCH, C.EVENT_TIME, C.TO_OFFSET)).alias("own_cuts")
    )
    back = took_part.groupBy(*C.PARTITION_KEY, former).agg(
        F.collect_list(F.struct(C.LEADER_EPOCH, C.LOG_END_OFFSET)).alias("own_terms")
    )
    since = F.col(C.LEADER_EPOCH)
    ended = F.filter("own_cuts", lambda it: (it[C.LEADER_EPOCH] >= since) & (it[C.TO_OFFSET] <= F.col("begin")))
    fetched = F.filter("own_terms", lambda it: (it[C.LEADER_EPOCH] >= since) & (it[C.LOG_END_OFFSET] > F.col("begin")))
    of_former = C.on_partition(PREVIOUS_LEADER)
    rows = (
        apart.join(cuts, of_former, "left")
        .join(back, of_former, "left")
        .withColumns(
            {
                C.ENDED_AT: F.array_min(F.transform(ended, lambda it: it[C.EVENT_TIME])),
                "back_in": F.array_min(F.transform(fetched, lambda it: it[C.LEADER_EPOCH])),
            }
        )
    )
    severity, fate = _fate()
    evidence = text(
        "[{}, {}): replica {} had records of epoch {} or before, leader {} appended others in epoch {}; {}",
        "begin", "end", PREVIOUS_LEADER, PREVIOUS_EPOCH, C.LEADER_ID, C.LEADER_EPOCH, fate,
    )  # fmt: skip
    offsets = (F.col("begin"), F.col("end"))
    return finding(rows, _KIND, severity, evidence, replica_id=F.col(PREVIOUS_LEADER), offsets=offsets)


def _fate() -> tuple[Column, Column]:
    """Return the severity and, in words, what became of the predecessor's own records."""
    is_over, is_back = F.col(C.ENDED_AT).isNotNull(), F.col("back_in").isNotNull()
    severity = (
        F.when(is_over, Severity.INFO.value).when(is_back, Severity.CRITICAL.value).otherwise(Severity.WARNING.value)
    )
    words = (
        F.when(is_over, text("replica {} cut its own at {}", PREVIOUS_LEADER, C.ENDED_AT))
        .when(is_back, text("replica {} fetches since epoch {} and has cut nothing", PREVIOUS_LEADER, "back_in"))
        .otherwise(text("replica {} has not been back", PREVIOUS_LEADER))
    )
    return severity, words


def of_dumps(batches: DataFrame) -> DataFrame:
    """One row per partition whose brokers' dumps differ: equal batches of two replicas have equal CRCs and epochs.

    Segments are copied byte for byte, so the batches of a base offset are equal or they diverge. Compaction leaves
    batches of the same offsets with less in them, on each broker at another time: there epochs alone are compared.
    """
    both = (
        _with_gaps(batches)
        .groupBy(*C.PARTITION_KEY, C.BASE_OFFSET, C.LAST_OFFSET)
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.collect_set(F.struct(C.CRC, C.BATCH_SIZE)).alias("contents"),
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
