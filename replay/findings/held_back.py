"""HW explained: every stretch in which it stood below the leader's LEO, who held it and why."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.findings.min_isr_gates import has_gate, min_isr_gates
from replay.findings.request_logs import HEARD_UNTIL, heard_until
from replay.findings.told_epochs import told_epochs, with_deletions, with_untold_epochs
from replay.windows import FIRST, NOW, begun_at, is_end_told_late, timeline
from schemas import columns as C
from schemas import view_columns as V
from schemas.answers import HeldBy
from schemas.kinds import EventType

_STRETCH = (*C.PARTITION_KEY, "stretch")
_REASON = "reason"


def held_back(leader_timeline: DataFrame, epochs: DataFrame, heard: DataFrame, *cut_at: str) -> DataFrame:
    """One row per stretch of a leader with one HW below the LEO, cut also where a column of `cut_at` changes.

    A leader that leads on in the next epoch goes on with all that it knows, and so does the stretch.
    Columns: partition key, leader_epoch (in which it began), capture_id, leader_id, started_at, ended_at (the next
    event, be it the next leader's, the begin of an epoch that nobody led, or that the log was deleted; NULL = still),
    `lasted_ms`, high_watermark, log_end_offset (the highest), what the leader knew at the end, and `fetching`, who did.
    `epochs` is `told_epochs.with_deletions`, `heard` `request_logs.heard_until`: what still goes on lasts for as long
    as the leader's requests are logged.
    """
    stretches = _stretches(with_untold_epochs(leader_timeline, epochs), *cut_at)
    known = stretches.join(F.broadcast(heard), [str(C.CLUSTER_ID), str(C.LEADER_ID)], "left")
    # The clock of the next leader may be behind.
    ended = F.when(F.col(C.ENDED_AT).isNotNull(), F.greatest(C.ENDED_AT, "active_at"))
    last = F.coalesce(ended, F.greatest("last_at", HEARD_UNTIL))
    lasted = F.unix_millis(last) - F.unix_millis(C.STARTED_AT)
    dated = known.withColumns({C.ENDED_AT: ended, V.LASTED_MS: lasted})
    return dated.drop("at_end", "stretch", "last_at", "active_at", HEARD_UNTIL)


def explained(stretches: DataFrame, gate: Column) -> DataFrame:
    """Return stretches of `held_back` with `why` and `waits_for`.

    `gate` is whether the HW of their leader stands while the ISR is under min.insync.replicas, `Profile.min_isr_gate`.
    """
    why, who = _explained(gate)
    return stretches.withColumns({V.WHY: why, V.WAITS_FOR: who}).drop("fetching")


def high_watermark_held(
    leader_timeline: DataFrame,
    leader_changes: DataFrame,
    metadata_changes: DataFrame,
    broker_statements: DataFrame,
    produce_events: DataFrame,
    fetch_events: DataFrame,
    settings: DataFrame,
) -> DataFrame:
    """One row per stretch in which the HW was held back by the same replicas for one reason: `held_back`, as shown."""
    epochs = with_deletions(told_epochs(leader_changes, metadata_changes), broker_statements)
    heard = heard_until(produce_events, fetch_events)
    cut_at = (C.HIGH_WATERMARK_LIMITED_BY, C.IS_UNDER_MIN_ISR, _REASON)
    stretches = held_back(leader_timeline.withColumn(_REASON, _reason()), epochs, heard, *cut_at)
    of_release = stretches.join(F.broadcast(min_isr_gates(settings)), C.CLUSTER_ID, "left")
    return explained(of_release, has_gate(F.col(C.LEADER_ID), F.col(C.STARTED_AT))).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID, C.STARTED_AT, C.ENDED_AT, V.LASTED_MS,
        C.HIGH_WATERMARK, C.LOG_END_OFFSET, V.WHY, V.WAITS_FOR, C.ISR, C.MIN_ISR,
    )  # fmt: skip


def is_behind() -> Column:
    """Return whether the HW is below the LEO after an event; between bounds, whether it surely is."""
    # A killed process ends no stretch: the next leader does.
    high = F.when(is_end_told_late(), F.col(C.HIGH_WATERMARK)).otherwise(F.col(C.HIGH_WATERMARK_HIGH))
    return (F.col(C.HIGH_WATERMARK) >= 0) & (high < F.col(C.LOG_END_OFFSET_LOW))


def _stretches(leader_timeline: DataFrame, *cut_at: str) -> DataFrame:
    """One row per stretch with the same HW below the LEO, with the last state that tells why, or else the last."""
    state = F.struct(is_behind().alias("is_behind"), C.HIGH_WATERMARK, C.LEADER_ID, *cut_at)
    is_change = ~F.lag(state).over(timeline()).eqNullSafe(state)
    # The next event ends the stretch, be it that of the next leader.
    begun = leader_timeline.withColumn("begun", begun_at())
    marked = begun.withColumns(
        {"is_behind": is_behind(), "is_change": is_change, "next_at": F.lead("begun").over(timeline())}
    )
    numbered = marked.withColumn(
        "stretch", F.sum(F.col("is_change").cast("int")).over(timeline().rowsBetween(FIRST, NOW))
    )
    in_order = F.struct(*C.TIMELINE_ORDER)
    known = F.struct(C.ISR, C.MAXIMAL_ISR, C.IS_UNDER_MIN_ISR, C.MIN_ISR, C.REMOTE_LEO_MAP, C.HIGH_WATERMARK_LIMITED_BY)
    tells_why = (F.size(C.HIGH_WATERMARK_LIMITED_BY) > 0) | F.col(C.IS_UNDER_MIN_ISR)
    last = F.coalesce(F.max_by(known, F.when(tells_why, in_order)), F.max_by(known, in_order))
    is_fetch = F.col(C.EVENT_TYPE) == EventType.FETCH.value
    active_at = F.when(~is_end_told_late(), F.col(C.EVENT_TIME))
    return (
        numbered.where("is_behind")
        .groupBy(*_STRETCH)
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.max(C.LEADER_ID).alias(C.LEADER_ID),
            F.min(C.LEADER_EPOCH).alias(C.LEADER_EPOCH),
            F.min(active_at).alias(C.STARTED_AT),
            F.max(C.EVENT_TIME).alias("last_at"),
            F.max(active_at).alias("active_at"),
            F.max_by("next_at", in_order).alias(C.ENDED_AT),
            F.max(C.HIGH_WATERMARK).alias(C.HIGH_WATERMARK),
            F.max(C.LOG_END_OFFSET).alias(C.LOG_END_OFFSET),
            F.collect_set(F.when(is_fetch, F.col(C.REPLICA_ID))).alias("fetching"),
            last.alias("at_end"),
        )
        .where(F.col(C.STARTED_AT).isNotNull())  # its end alone is no stretch
        .select("*", "at_end.*")
    )


def _reason() -> Column:
    """Return which of the reasons that a single event tells holds after it; NULL where none of them does."""
    return _first_of(_told_at_once(_held()))[0]


def _held() -> Column:
    """Return for whom the HW waits, nobody where that is not told."""
    return F.coalesce(C.HIGH_WATERMARK_LIMITED_BY, F.expr(C.NOBODY))


def _first_of(reasons: Sequence[tuple[HeldBy, Column]]) -> tuple[Column, Column]:
    """Return the first reason that is of some replica, NULL where none is, and the replicas that it is of."""
    nobody = F.expr(C.NOBODY)
    why, who = F.lit(None).cast("string"), nobody
    for reason, replicas in reversed(reasons):
        is_it = F.size(F.coalesce(replicas, nobody)) > 0
        why, who = F.when(is_it, reason.value).otherwise(why), F.when(is_it, F.array_sort(replicas)).otherwise(who)
    return why, who


def _told_at_once(held: Column) -> tuple[tuple[HeldBy, Column], ...]:
    """Return the reasons that a single event tells, and the replicas that each is of."""
    return (
        (HeldBy.FIRST_FETCH, F.filter(held, lambda it: F.element_at(F.col(C.REMOTE_LEO_MAP), it) < 0)),
        (HeldBy.ISR_CHANGE_IN_FLIGHT, F.array_intersect(held, F.array_except(C.MAXIMAL_ISR, C.ISR))),
        (HeldBy.CAUGHT_UP_OUTSIDE_ISR, F.array_except(held, C.MAXIMAL_ISR)),
    )


def _explained(gate: Column) -> tuple[Column, Column]:
    """Return why the HW stood and for whom it waited, by what the leader knew (P:1152 maybeIncrementLeaderHW)."""
    held = _held()
    others = ((HeldBy.NOT_FETCHING, F.array_except(held, "fetching")), (HeldBy.BEHIND, held))
    why, who = _first_of((*_told_at_once(held), *others))
    under = gate & F.coalesce(C.IS_UNDER_MIN_ISR, F.lit(False))
    return (
        F.when(under, HeldBy.UNDER_MIN_ISR.value).otherwise(F.coalesce(why, F.lit(HeldBy.UNKNOWN.value))),
        F.when(under, F.expr(C.NOBODY)).otherwise(who),
    )
