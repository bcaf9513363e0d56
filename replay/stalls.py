"""Stalled high watermarks: HW < the leader's LEO and standing still, who held it and why."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from replay.elections import members
from replay.findings import finding, text, until
from replay.profile import Profile
from replay.windows import FIRST, NOW
from schemas import columns as C
from schemas.kinds import EventType, IncidentKind, Severity

STALL_MS = 1_000
"""Twice replica.fetch.wait.max.ms (500): a healthy follower's next fetch raises the HW sooner."""
_OF_EPOCH = (*C.PARTITION_KEY, C.LEADER_EPOCH)
_STRETCH = (*_OF_EPOCH, "stretch")


def stalled_high_watermarks(leader_timeline: DataFrame, profile: Profile) -> DataFrame:
    """One row per stretch of a leader epoch, `STALL_MS` long or more, in which the HW stood below the leader's LEO.

    The HW waits for followers' fetches, and they for nothing but the network: a stall of a second is worth a line, one
    of replica.lag.time.max.ms a warning, for by then the replica ought to be on its way out of the ISR.
    """
    lasted = F.unix_millis(F.coalesce(C.ENDED_AT, "last_at")) - F.unix_millis(C.STARTED_AT)
    stretches = _stretches(leader_timeline).where(lasted >= STALL_MS)
    severity = F.when(lasted >= F.lit(profile.lag_time_ms), Severity.WARNING.value).otherwise(Severity.INFO.value)
    evidence = text(
        "HW {} stood {} below the LEO of leader {}, which came to {}; {}",
        C.HIGH_WATERMARK, until(F.col(C.STARTED_AT), F.col(C.ENDED_AT)), C.LEADER_ID, C.LOG_END_OFFSET, _why(),
    )  # fmt: skip
    held_by = F.coalesce(F.get("limited_by", F.lit(0)), F.lit(-1))
    replica = F.when(F.size("limited_by") == 1, held_by).otherwise(-1)
    offsets = (F.col(C.HIGH_WATERMARK), F.col(C.LOG_END_OFFSET))
    kind = IncidentKind.HIGH_WATERMARK_STALLED
    return finding(stretches, kind, severity, evidence, replica_id=replica, offsets=offsets)


def _in_order() -> WindowSpec:
    return Window.partitionBy(*_OF_EPOCH).orderBy(C.EVENT_SEQ)


def _stretches(leader_timeline: DataFrame) -> DataFrame:
    """One row per stretch with the same HW below the LEO, with what was last known in it."""
    is_behind = (F.col(C.HIGH_WATERMARK) >= 0) & (F.col(C.HIGH_WATERMARK) < F.col(C.LOG_END_OFFSET))
    state = F.struct(is_behind.alias("is_behind"), C.HIGH_WATERMARK)
    is_change = ~F.lag(state).over(_in_order()).eqNullSafe(state)
    # The next event ends the stretch, be it that of the next leader.
    of_partition = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, C.EVENT_SEQ)
    marked = leader_timeline.withColumns(
        {"is_behind": is_behind, "is_change": is_change, "next_at": F.lead(C.EVENT_TIME).over(of_partition)}
    )
    numbered = marked.withColumn(
        "stretch", F.sum(F.col("is_change").cast("int")).over(_in_order().rowsBetween(FIRST, NOW))
    )
    last = F.max_by(
        F.struct(C.ISR, C.MAXIMAL_ISR, C.IS_UNDER_MIN_ISR, C.MIN_ISR, C.REMOTE_LEO_MAP, C.HIGH_WATERMARK_LIMITED_BY),
        C.EVENT_SEQ,
    )
    is_fetch = F.col(C.EVENT_TYPE) == EventType.FETCH.value
    return (
        numbered.where("is_behind")
        .groupBy(*_STRETCH)
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.max(C.LEADER_ID).alias(C.LEADER_ID),
            F.min(C.EVENT_TIME).alias(C.STARTED_AT),
            F.max(C.EVENT_TIME).alias("last_at"),
            F.max_by("next_at", C.EVENT_SEQ).alias(C.ENDED_AT),
            F.max(C.HIGH_WATERMARK).alias(C.HIGH_WATERMARK),
            F.max(C.LOG_END_OFFSET).alias(C.LOG_END_OFFSET),
            F.collect_set(F.when(is_fetch, F.col(C.REPLICA_ID))).alias("fetching"),
            last.alias("at_end"),
        )
        .select("*", "at_end.*", F.col(f"at_end.{C.HIGH_WATERMARK_LIMITED_BY}").alias("limited_by"))
    )


def _why() -> Column:
    """Return why the HW stood, by what the leader knew at the end of the stretch (P:1152 maybeIncrementLeaderHW)."""
    held = F.col("limited_by")
    unheard = F.filter(held, lambda it: F.element_at(F.col(C.REMOTE_LEO_MAP), it) < 0)
    joining = F.array_intersect(held, F.array_except(C.MAXIMAL_ISR, C.ISR))
    outside = F.array_except(held, C.MAXIMAL_ISR)
    silent = F.array_except(held, "fetching")
    reasons = (
        (F.col(C.IS_UNDER_MIN_ISR), text("the ISR {} is under min.insync.replicas {}", members(C.ISR), C.MIN_ISR)),
        (F.size(unheard) > 0, text("the leader waits for the first fetch of {}", members(unheard))),
        (F.size(joining) > 0, text("it waits for {}, whose joining of the ISR is in flight", members(joining))),
        (F.size(outside) > 0, text("it waits for {}, caught up but outside the ISR", members(outside))),
        (F.size(silent) > 0, text("{} did not fetch", members(silent))),
        (F.size(held) > 0, text("{} fetched and was behind", members(held))),
    )
    why = F.lit("nothing in the capture shows whom it waited for")
    for condition, words in reversed(reasons):
        why = F.when(condition, words).otherwise(why)
    return why
