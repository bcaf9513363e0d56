"""The loss ledger's findings: each range gone, with the election, the replicas and what producers were told."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.findings.cutters import SEEN_IN
from replay.findings.elections import IS_UNCLEAN
from replay.findings.finding import finding, text
from replay.findings.losses import LOSS, is_replaced
from replay.findings.lost_ranges import HAD_UP_TO, PREVIOUS_EPOCH, PREVIOUS_LEADER, STARTS
from replay.findings.spans import START_LEO
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import IncidentKind as Kind
from schemas.kinds import Severity


def loss_findings(
    landed: Mapping[str, DataFrame], lost: DataFrame, truncations: DataFrame, elected: DataFrame
) -> DataFrame:
    """One row per range gone and class; `lost` is `losses.losses`, `elected` `elections.elections`."""
    told = (
        lost.join(elected.select(*C.PARTITION_KEY, C.LEADER_EPOCH, IS_UNCLEAN), C.on_partition(C.LEADER_EPOCH), "left")
        .join(_acknowledged(landed[T.PRODUCE_EVENTS.name], lost), [*LOSS], "left")
        .join(_cut_by(truncations, lost), [*LOSS], "left")
    )
    kind = F.col(C.KIND)
    severity = (
        F.when(kind == Kind.COMMITTED_RECORDS_LOST.value, Severity.CRITICAL.value)
        .when(kind == Kind.RECORDS_LOST_UNKNOWN_IF_COMMITTED.value, Severity.WARNING.value)
        .when(F.col("is_acknowledged"), Severity.WARNING.value)
        .when(kind == Kind.UNCOMMITTED_RECORDS_LOST.value, Severity.INFO.value)
    )
    instant = told.withColumn(C.ENDED_AT, F.lit(None))
    offsets = (F.col(C.FROM_OFFSET), F.col(C.TO_OFFSET))
    return finding(instant, kind, severity, _evidence(), replica_id=F.col(C.LEADER_ID), offsets=offsets)


def _evidence() -> Column:
    """Return the words: the election, who had the records, what the HW was, who cut them, who was told what."""
    is_restart = F.col(C.LEADER_EPOCH) == F.col(PREVIOUS_EPOCH)
    how = F.when(F.col(IS_UNCLEAN), "unclean").when(~F.col(IS_UNCLEAN), "clean").otherwise("unknown if clean")
    election = F.when(is_restart, text("restart of leader {} in epoch {}", C.LEADER_ID, C.LEADER_EPOCH)).otherwise(
        text("election of leader {} in epoch {} ({})", C.LEADER_ID, C.LEADER_EPOCH, how)
    )
    held = text(
        ": its log began at LEO {}; leader {} of epoch {} had records up to {}; highest HW before was {}",
        START_LEO, PREVIOUS_LEADER, PREVIOUS_EPOCH, HAD_UP_TO, C.PARTITION_HIGH_WATERMARK_BEFORE,
    )  # fmt: skip
    unknown = F.when(
        F.col(C.KIND) == Kind.RECORDS_LOST_UNKNOWN_IF_COMMITTED.value,
        text("; unknown if committed: {}", "why_unknown"),
    ).otherwise("")
    cut = F.coalesce(F.concat(F.lit("; cut by "), "cuts"), F.lit("; no replica is seen to cut them"))
    acknowledged = F.coalesce(F.concat(F.lit("; producers: "), "answers"), F.lit("; no PRODUCE line tells of them"))
    appended = F.coalesce(text("; appended {} to {}", "first_append", "last_append"), F.lit(""))
    return F.concat(
        election, held, unknown, cut, acknowledged, F.when(F.col("answers").isNotNull(), appended).otherwise("")
    )


def _acknowledged(produced: DataFrame, lost: DataFrame) -> DataFrame:
    """One row per range: what producers were told of its records, by acks and error code, and when."""
    last = F.greatest(F.col(C.BASE_OFFSET), F.col(C.LAST_OFFSET))
    appends = produced.where(F.col(C.ACKS).isNotNull() & (F.col(C.BASE_OFFSET) >= 0)).select(
        *C.PARTITION_KEY, F.col(C.LEADER_EPOCH).alias("epoch"), C.BASE_OFFSET, last.alias(C.LAST_OFFSET),
        C.ACKS, C.ERROR_CODE, F.col(C.EVENT_TIME).alias("appended_at"),
    )  # fmt: skip
    overlaps = (F.col(C.BASE_OFFSET) < F.col(C.TO_OFFSET)) & (F.col(C.LAST_OFFSET) >= F.col(C.FROM_OFFSET))
    # An offset may have been appended, lost and appended again before: only the latest append was in the log.
    is_restart = F.col(PREVIOUS_EPOCH) == F.col(C.LEADER_EPOCH)
    in_it = (F.col("epoch") == F.col(C.LEADER_EPOCH)) & (F.col("appended_at") < F.col(C.STARTED_AT))
    before = (F.col("epoch") < F.col(C.LEADER_EPOCH)) | (is_restart & in_it)
    held = appends.join(F.broadcast(lost.select(*LOSS, C.STARTED_AT, PREVIOUS_EPOCH, STARTS)), C.on_partition()).where(
        overlaps & before & ~is_replaced("epoch", C.BASE_OFFSET)
    )
    # A producer that repeats a batch is told the offset of the first (`ProducerStateEntry.findDuplicateBatch`).
    once = held.groupBy(*LOSS, C.ACKS, C.ERROR_CODE, "epoch", C.BASE_OFFSET).agg(
        F.max(C.LAST_OFFSET).alias(C.LAST_OFFSET),
        F.min("appended_at").alias("first"),
        F.max("appended_at").alias("last"),
    )
    count = F.sum(F.least(F.col(C.LAST_OFFSET) + 1, C.TO_OFFSET) - F.greatest(C.BASE_OFFSET, C.FROM_OFFSET))
    answered = once.groupBy(*LOSS, C.ACKS, C.ERROR_CODE).agg(
        count.alias("offsets"), F.min("first").alias("first"), F.max("last").alias("last")
    )
    is_success = (F.col(C.ERROR_CODE) == 0) & (F.col(C.ACKS) != 0)
    answer = F.when(is_success, text("{} acknowledged with acks={}", "offsets", C.ACKS)).otherwise(
        text("{} not acknowledged (acks={}, error {})", "offsets", C.ACKS, C.ERROR_CODE)
    )
    return answered.groupBy(*LOSS).agg(
        F.array_join(F.sort_array(F.collect_list(answer)), ", ").alias("answers"),
        F.bool_or(is_success).alias("is_acknowledged"),
        F.min("first").alias("first_append"),
        F.max("last").alias("last_append"),
    )


def _cut_by(truncations: DataFrame, lost: DataFrame) -> DataFrame:
    """One row per range: the truncations that removed records of it from single replicas."""
    cuts = truncations.select(
        *C.PARTITION_KEY, F.col(C.REPLICA_ID).alias("cutter"), F.col(C.LEADER_EPOCH).alias("cut_in"), C.EVENT_TIME,
        F.col(C.FROM_OFFSET).alias("cut_from"), F.col(C.TO_OFFSET).alias("cut_to"), C.METHOD, SEEN_IN,
    )  # fmt: skip
    reaches = (F.col("cut_to") < F.col(C.TO_OFFSET)) & (
        (F.col("cut_from") < 0) | (F.col("cut_from") > F.col(C.FROM_OFFSET))
    )
    # A replica may cut its tail in the epoch before, and then be elected: hw_truncation's replica 3.
    near = F.col("cut_in") >= F.col(PREVIOUS_EPOCH)
    # What it had of a leader since, or in place of what a later one appended, are other records of these offsets.
    had_them = (F.col(SEEN_IN) <= F.col(PREVIOUS_EPOCH)) & ~is_replaced(SEEN_IN, "first_cut")
    words = text("replica {} in epoch {} ([{}, {}) by {})", "cutter", "cut_in", "cut_to", "cut_from", C.METHOD)
    return (
        cuts.join(F.broadcast(lost.select(*LOSS, PREVIOUS_EPOCH, STARTS)), C.on_partition())
        .withColumn("first_cut", F.greatest("cut_to", C.FROM_OFFSET))
        .where(reaches & near & F.coalesce(had_them, F.lit(True)))
        .groupBy(*LOSS)
        .agg(
            F.sort_array(F.collect_list(F.struct("cut_in", "cutter", C.EVENT_TIME, words.alias("words")))).alias("all")
        )
        .select(*LOSS, F.array_join(F.transform("all", lambda it: it["words"]), ", ").alias("cuts"))
    )
