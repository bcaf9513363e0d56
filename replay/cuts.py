"""Truncations below the partition's HW: Kafka's own warning practically never fires before 4.2 (KAFKA-19474)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings import finding, text
from replay.spans import START_LEO
from schemas import columns as C
from schemas.kinds import IncidentKind, Severity


def cuts_below_high_watermark(truncations: DataFrame, led: DataFrame) -> DataFrame:
    """One row per truncation to below the highest HW any leader had reached; `led` is `replay.spans.spans`.

    How bad it is depends on what the leaders before the cutter's epoch had committed: offsets that only the present
    leader committed are other records than those which were cut. What the present leader began with is fetched again.
    """
    below = truncations.where(F.col(C.TO_OFFSET) < F.col(C.PARTITION_HIGH_WATERMARK_BEFORE))
    spans = led.select(*C.PARTITION_KEY, F.col(C.LEADER_EPOCH).alias("epoch"), START_LEO, C.HIGH_WATERMARK)
    key = C.on_partition(C.REPLICA_ID, C.LEADER_EPOCH, C.EVENT_TIME)
    at_leaders = (
        below.select(*key)
        .join(spans, C.on_partition())
        .groupBy(*key)
        .agg(
            F.max(F.when(F.col("epoch") < F.col(C.LEADER_EPOCH), F.col(C.HIGH_WATERMARK))).alias("committed_before"),
            F.max(F.when(F.col("epoch") == F.col(C.LEADER_EPOCH), F.col(START_LEO))).alias("leader_has_up_to"),
        )
    )
    rows = below.join(at_leaders, key, "left").withColumns({C.STARTED_AT: F.col(C.EVENT_TIME), C.ENDED_AT: F.lit(None)})
    return _findings(rows)


def _findings(rows: DataFrame) -> DataFrame:
    start, hw = F.col(C.TO_OFFSET), F.col(C.PARTITION_HIGH_WATERMARK_BEFORE)
    end = F.when(F.col(C.FROM_OFFSET) >= 0, F.least(F.col(C.FROM_OFFSET), hw)).otherwise(hw)
    committed_end = F.least(end, F.coalesce("committed_before", hw))
    was_committed, is_held = start < committed_end, F.col("leader_has_up_to") >= committed_end
    severity = (
        F.when(~was_committed, Severity.INFO.value)
        .when(is_held, Severity.WARNING.value)
        .otherwise(Severity.CRITICAL.value)
    )
    verdict = (
        F.when(~was_committed, "the records it cut were committed by no leader: later ones have their offsets")
        .when(is_held, "the leader began with those records: they are fetched again")
        .otherwise(text("the leader began at {}: what lies beyond is gone from it too", "leader_has_up_to"))
    )
    evidence = F.concat(
        text(
            "replica {} cut [{}, {}) in epoch {} by {}; the partition's HW had been {}, the replica's own {}; ",
            C.REPLICA_ID, C.TO_OFFSET, C.FROM_OFFSET, C.LEADER_EPOCH, C.METHOD, C.PARTITION_HIGH_WATERMARK_BEFORE,
            C.HIGH_WATERMARK_BEFORE,
        ),
        verdict,
        F.when(F.col(C.IS_STATED), "; the broker says so too").otherwise(""),
    )  # fmt: skip
    kind = IncidentKind.TRUNCATED_BELOW_HIGH_WATERMARK
    return finding(rows, kind, severity, evidence, replica_id=F.col(C.REPLICA_ID), offsets=(start, end))
