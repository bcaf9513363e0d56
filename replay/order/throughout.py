"""Who was in the ISR all the time from an append to its response: of those alone an acks=all success tells.

The success waits for the HW (P:1089), and the HW goes by the ISR that is in force when it rises (P:1170). That may be
any from the append to the response: a replica that left in between need not have fetched the record.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import in_mask
from replay.event_types import is_event
from replay.names import slot_column
from replay.profile import Profile
from replay.windows import following_in_tenure
from schemas.kinds import EventType

_OUTSIDE, _NEXT_OUTSIDE = "outside_ns", "next_outside_ns"
"""bigint per slot: place of an event that brings an ISR without the replica; that of the next one."""


def outside(slots: int, profile: Profile) -> dict[str, Column]:
    """Return what `next_outside` looks for; nothing where every replica is in every ISR."""
    brings_isr = is_event(EventType.BECOME_LEADER, EventType.ISR_CHANGE)
    return {
        slot_column(_OUTSIDE, i): F.when(brings_isr & ~in_mask(F.col(N.NEW_ISR_MASK), i), F.col(N.ORDER_NS))
        for i in _slots(slots, profile)
    }


def next_outside(slots: int, profile: Profile) -> dict[str, Column]:
    """Return when next the ISR is without each replica, also in a later epoch of the same running leader."""
    return {
        slot_column(_NEXT_OUTSIDE, i): following_in_tenure(slot_column(_OUTSIDE, i), is_long=profile.has_long_tenures)
        for i in _slots(slots, profile)
    }


def throughout(until_ns: Column, slots: int, profile: Profile) -> Column:
    """Return the members of the ISR after the event that are in every ISR up to a later place, as a bit mask."""
    mask = F.col(N.ISR_MASK)
    for i in _slots(slots, profile):
        left = F.coalesce(F.col(slot_column(_NEXT_OUTSIDE, i)) <= until_ns, F.lit(False))
        mask = F.when(left, mask.bitwiseAND(~(1 << i))).otherwise(mask)
    return mask


def _slots(slots: int, profile: Profile) -> range:
    return range(slots if profile.has_outsiders else 0)
