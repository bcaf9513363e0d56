"""What a broker knows when it evaluates its HW, and no line of a capture tells: then the HW is bounded, not guessed.

min.insync.replicas is told where a broker starts, or where the setting changes, often weeks before a capture: with an
ISR smaller than the assignment the HW may stand still for it (P:1153). Who is fenced, shutting down or registered anew
the metadata log alone tells: without it a replica outside the ISR that was caught up a moment ago holds the HW, or does
not (P:1164), and one that fetches again is joining, or not yet.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import in_mask
from replay.event_types import is_event
from replay.high_watermark import allows, candidate, isr_mask, proven
from replay.names import slot_column
from replay.profile import Profile
from replay.states.after_silence import may_wait_unseen
from replay.windows import so_far
from schemas import columns as C
from schemas.columns import ALL_ACKS, UNKNOWN_OFFSET
from schemas.kinds import EventType


def isr_enough_for_all() -> dict[str, Column]:
    """Return the smallest ISR of the leadership so far with which the leader took an append with acks=all.

    Under min.insync.replicas it refuses them (`appendRecordsToLeader`, error 19), so that was no more. Of what was
    before it tells nothing: in an incident the setting may have been lowered.
    """
    is_taken = is_event(EventType.APPEND) & (F.col(C.ACKS) == ALL_ACKS) & (F.col(C.ERROR_CODE) == 0)
    size = F.min(F.when(is_taken, F.bit_count(F.col(N.ISR_MASK))))
    return {N.ISR_ENOUGH_FOR_ALL: size.over(so_far())}


def doubted_rise(slots: int, profile: Profile, joining: Column) -> dict[str, Column]:
    """Return how far the HW has surely, and has perhaps, risen in the leadership so far; -1 before it did."""
    is_doubted = _may_be_under_min_isr(profile)
    if profile.has_silence or profile.has_untold_isr:
        is_doubted = is_doubted | may_wait_unseen(slots, profile)
    if profile.has_untold_isr:
        is_doubted = is_doubted | F.col(C.IS_ISR_INFERRED)
    sure = F.when(is_doubted, proven()).otherwise(candidate(slots, profile, joining))
    perhaps = F.when(F.col(N.IS_EVALUATED) & allows(profile), _smallest_surely_held(slots, profile, joining))
    return {
        N.RISEN_SURELY: F.coalesce(F.max(sure).over(so_far()), F.lit(UNKNOWN_OFFSET)),
        N.RISEN_PERHAPS: F.coalesce(F.max(F.coalesce(perhaps, proven())).over(so_far()), F.lit(UNKNOWN_OFFSET)),
    }


def _may_be_under_min_isr(profile: Profile) -> Column:
    """Return whether the ISR may be under a min.insync.replicas that no line tells: at most as many as are assigned."""
    size = F.bit_count(F.col(N.ISR_MASK))
    is_large = (size >= F.bit_count(F.col(N.ASSIGNED_MASK))) | (size >= F.col(N.ISR_ENOUGH_FOR_ALL))
    untold = (F.col(C.MIN_ISR) < 0) & ~F.coalesce(is_large, F.lit(False))
    return F.lit(profile.min_isr_gate) & untold


def _smallest_surely_held(slots: int, profile: Profile, joining: Column) -> Column:
    """Return the smallest LEO of the leader and the replicas that hold the HW whatever no line tells of them."""
    is_untold = F.col(N.FENCED_MASK).isNull()
    held = F.when(is_untold & F.lit(profile.eligibility), isr_mask(slots)).otherwise(F.col(N.HELD_MASK))
    joins = F.when(is_untold & F.lit(profile.fenced_may_not_join), 0).otherwise(joining)
    leo, holding = F.col(C.LOG_END_OFFSET), held.bitwiseOR(joins)
    return F.least(
        leo, *[F.when(in_mask(holding, i), F.col(slot_column(C.REMOTE_LEO, i))).otherwise(leo) for i in range(slots)]
    )
