"""What a leader knew after each event: one projection a level of dependency, all over the same sort.

remote LEOs, LEO, ISR -> who was caught up -> (the ISR where no line tells) -> candidates without a joining replica ->
who was joining -> candidates.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.brokers_rules import of_each_leader
from replay.event_types import is_event
from replay.events.leaderships import STATED_HW, STATED_LEO
from replay.high_watermark import held_mask, isr_mask, risen
from replay.in_sync import with_caught_up, with_joining
from replay.names import slot_column
from replay.passengers import aboard, ashore, unpacked
from replay.profile import Profile
from replay.sequence import with_event_seq
from replay.states.after_silence import with_heard_again
from replay.states.doubts import doubted_rise, isr_enough_for_all
from replay.states.inferred_isr import with_bounds_of_rise, with_inferred_isr
from replay.states.unheard import with_possible_rise
from replay.states.variables import with_variables
from replay.windows import carried, so_far
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

_MOST_ROUNDS = 4
"""More would be for a sixth replica, joining in a row with four others."""


def joining_rounds(slots: int) -> int:
    """Return how often it is worked out who joins: that depends on the HW, and the HW on who is joining.

    The HW without joining replicas is right up to the first that joins; the next round sees those after it against
    the HW that the first ones held back. In a row there may be as many as there are followers.
    """
    return min(max(2, slots - 1), _MOST_ROUNDS)


def leader_states(
    ordered: DataFrame, slots: int, profile: Profile, *, has_witnesses: bool = True, least_hw: Column | None = None
) -> DataFrame:
    """One row per event, with the leader's state after it: LEO, remote LEO of each slot, masks, `risen_to`.

    `risen_to` is the running maximum of the HW's candidates in the leadership (-1 before the first): the HW is the
    greater of it and the HW the leadership began with. Before witnesses are found there are none to be looked for.
    `least_hw` is what the HW is known not to be below, besides.
    """
    known, nobody = with_variables(ordered, slots, profile, has_witnesses=has_witnesses), F.lit(0)
    # With every replica in every ISR nobody waits outside: neither for whom was caught up, nor for who joins.
    rounds = joining_rounds(slots) if profile.has_outsiders or profile.has_untold_isr else 0
    if rounds:
        known = with_caught_up(known, slots)
        known = with_heard_again(known) if profile.has_silence and has_witnesses else known
    if profile.has_untold_isr:
        known = with_inferred_isr(known, slots, profile)
    held = known.withColumn(N.HELD_MASK, held_mask(slots, profile) if rounds else isr_mask(slots))
    besides = _known_of_witnesses() if has_witnesses else {}
    together = held.withColumns({N.JOINING_MASK: nobody, **risen(slots, profile, nobody), **besides})
    for number in range(1, rounds + 1):
        joining = with_joining(together, slots, profile, F.lit(UNKNOWN_OFFSET) if least_hw is None else least_hw)
        is_last = has_witnesses and number == rounds
        doubted = doubted_rise(slots, profile, F.col(N.JOINING_MASK)) if is_last else {}
        together = joining.withColumns({**risen(slots, profile, F.col(N.JOINING_MASK)), **doubted})
    if not has_witnesses:
        return together
    possible = with_possible_rise(with_event_seq(together), slots, profile)
    return with_bounds_of_rise(possible, slots) if profile.has_untold_isr else possible


def _known_of_witnesses() -> dict[str, Column]:
    """Return what is looked for besides where witnesses are: in one window with the HW's candidates."""
    witnessed = F.when(is_event(EventType.WITNESS), F.greatest(C.LOG_END_OFFSET, N.MAY_HAVE_GROWN_TO))
    # One of an earlier leadership of the process came when its log was no longer than at the begin of this one.
    leo = F.coalesce(carried(witnessed, so_far()), F.col(N.EPOCH_START))
    return {N.WITNESSED_LEO: leo, **isr_enough_for_all()}


FORGOTTEN = (
    *C.PARTITION_KEY, N.EVENT_US, N.RESPONSE_US, N.NEXT_FETCH_US, C.SESSION_ID, C.RECORDS_SIZE, C.ACKS, C.ERROR_CODE,
    N.IS_NEW_LEADER, STATED_LEO, N.NEW_LOG_START, N.NEW_FENCED_MASK, N.NEW_REGISTERED_MASK, N.FENCED_MASK,
    N.IS_EVALUATED, N.IS_PROVEN_CAUGHT_UP, N.EVERY_MASK, N.PLACE, N.SETTLED, N.RISEN_BEFORE, N.RISEN_AT_END,
    N.ISR_ENOUGH_FOR_ALL, N.RAISED_MASK, N.WITNESSED_LEO,
    N.UNHEARD_OFFSET, N.HEARD_AGAIN_MS, N.FETCHER_LEO_BEFORE,
)  # fmt: skip
"""What the order and the states were made of, and no timeline shows."""


_PASSENGERS = (
    C.IS_PARKED, C.RESPONSE_HIGH_WATERMARK, N.LOCAL_US, N.NEW_ISR_MASK, N.NEW_ASSIGNED_MASK, N.IS_TAKEN, STATED_HW,
)  # fmt: skip
"""What the timelines are made of and no state is."""


def remembered(ordered: DataFrame, slots: int, profile: Profile, *, is_tail: bool = False) -> DataFrame:
    """Return the leaders' states with the columns that the timelines are made of: they are kept, and each costs.

    Of a tail (`replay.going_on.tail`) the HW that stands in `stated_high_watermark` is one that had been risen to
    before.
    """
    of_slots = [
        slot_column(name, i) for name in (N.IS_REREGISTERED, N.CAUGHT_UP_MS, N.UNHEARD_OFFSET) for i in range(slots)
    ]
    passengers = tuple(name for name in _PASSENGERS if not (is_tail and name == STATED_HW))
    least_hw = F.col(STATED_HW) if is_tail else None
    carrying = aboard(ordered, passengers, "passengers")
    states = leader_states(carrying, slots, of_each_leader(profile), least_hw=least_hw)
    return unpacked(ashore(states, passengers, "passengers").drop(*FORGOTTEN, *of_slots), N.SHOWN)
