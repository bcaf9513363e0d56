"""The fold: what a leader's HW may rise to (`Partition.maybeIncrementLeaderHW`, P:1152).

The smallest LEO among the leader and the replicas that hold the HW: the maximal ISR, and replicas outside it that were
caught up within the lag time and may join. Nothing while the committed ISR is under the effective min ISR.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import follows, in_mask
from replay.event_types import is_event
from replay.in_sync import is_caught_up, is_eligible
from replay.names import slot_column
from replay.profile import Profile
from replay.windows import before, so_far, to_the_end
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType as E


def effective_min_isr(profile: Profile) -> Column:
    """Return min.insync.replicas as it counts (P:391 effectiveMinIsr); the default, 1, if unknown."""
    assigned = F.bit_count(F.col(N.ASSIGNED_MASK)).cast("int")
    return F.when(F.col(C.MIN_ISR) < 0, 1).otherwise(capped(F.col(C.MIN_ISR), assigned, profile))


def capped(min_isr: Column, assigned: Column, profile: Profile) -> Column:
    """Return min.insync.replicas, at most as many as are assigned.

    The cap came with the gate (KIP-966, 3.7): before, one replica alone was under a min ISR of two for good.
    """
    return F.when(F.lit(profile.min_isr_gate), F.least(min_isr, assigned)).otherwise(min_isr)


def is_under_min_isr(profile: Profile) -> Column:
    """Return whether the committed ISR is smaller than the effective min ISR (P:382); a pending change counts not."""
    return F.bit_count(F.col(N.ISR_MASK)).cast("int") < effective_min_isr(profile)


def held_mask(slots: int, profile: Profile) -> Column:
    """Return the replicas the HW waits for, a joining one apart, as a bit mask: never the leader, who has its LEO.

    They are the committed ISR, and replicas outside it that were caught up a moment ago and may join.
    """
    return _mask(
        in_mask(F.col(N.ISR_MASK), i) | (is_caught_up(i, profile) & is_eligible(i, profile)) for i in range(slots)
    )


def isr_mask(slots: int) -> Column:
    """Return the same where no replica was ever outside the ISR: the committed ISR but for the leader."""
    return _mask(in_mask(F.col(N.ISR_MASK), i) for i in range(slots))


def _mask(waits_for: Iterable[Column]) -> Column:
    """Return the assigned replicas but the leader for which it holds, as a bit mask."""
    return sum([F.when(follows(i) & is_it, 1 << i).otherwise(0) for i, is_it in enumerate(waits_for)], F.lit(0))


def holds(slot: int, joining: Column) -> Column:
    """Return whether the HW waits for the replica in `slot`, given who is joining."""
    return in_mask(F.col(N.HELD_MASK).bitwiseOR(joining), slot)


def smallest_held(slots: int, joining: Column) -> Column:
    """Return the smallest LEO of the leader and the replicas that hold the HW; -1 counts, and holds it."""
    held = [
        F.when(holds(i, joining), F.col(slot_column(C.REMOTE_LEO, i))).otherwise(F.col(C.LOG_END_OFFSET))
        for i in range(slots)
    ]
    return F.least(F.col(C.LOG_END_OFFSET), *held)


def allows(profile: Profile) -> Column:
    """Return whether the HW may rise at all: the ISR is known and, from 3.7 on, not under min ISR (P:1153)."""
    return F.col(N.ISR_MASK).isNotNull() & ~(F.lit(profile.min_isr_gate) & is_under_min_isr(profile))


def candidate(slots: int, profile: Profile, joining: Column) -> Column:
    """Return what the event lets the HW rise to; NULL where the HW is not evaluated or may not rise."""
    allowed = F.col(N.IS_EVALUATED) & allows(profile)
    return F.when(allowed, smallest_held(slots, joining)).otherwise(proven())


def proven() -> Column:
    """Return the HW that a witness (an acks=all success that no logged event explains) proves by itself; else NULL."""
    return F.when(is_event(E.WITNESS), F.col(C.LAST_OFFSET) + 1)


def risen(slots: int, profile: Profile, joining: Column) -> dict[str, Column]:
    """Return the greatest candidate of the leadership so far, before the event, and at the end; -1 before the first."""
    best = F.max(candidate(slots, profile, joining))
    return {
        N.RISEN_TO: F.coalesce(best.over(so_far()), F.lit(UNKNOWN_OFFSET)),
        N.RISEN_BEFORE: F.coalesce(best.over(before()), F.lit(UNKNOWN_OFFSET)),
        N.RISEN_AT_END: F.coalesce(best.over(to_the_end()), F.lit(UNKNOWN_OFFSET)),
    }
