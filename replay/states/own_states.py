"""What each replica has by itself: its own LEO and HW after each event of its leader, by the slot that it has.

A leader's are its own. A follower's LEO is what it asks for, and after a response what its next fetch asks for; its HW
is the smaller of the HW it was told and its LEO after the append, and not below its log start
(`AbstractFetcherThread.processFetchRequest`, `UnifiedLog.maybeUpdateHighWatermark`, UL:590 and UL:540).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, WindowSpec
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import SLOTS, in_mask
from replay.event_types import is_event, is_event_of, is_of_leader
from replay.events.leaderships import LOADED_HW
from replay.events.responses import hw_of_empty, hw_taken
from replay.names import slot_column
from replay.passengers import aboard, ashore
from replay.profile import Profile, Truncation
from replay.windows import FIRST, NOW, carried, history
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

OWN_LEO, OWN_HW = "own_leo", "own_hw"
"""bigint per slot: the replica's own LEO and HW; -1 unknown."""
BOUND = "bound"
"""struct per slot: a LEO that it has at least, told or proven by a witness; the leader's LEO and HW of that time."""
OPEN = "open"
"""struct per slot: what the replica has if it took its last response, or if as a leader it appended more than is known:
nothing tells, until something does."""
OPEN_HW = "open_hw"
"""struct per slot: the same of its HW, of which its next fetch may tell nothing, but how long its log is."""
LEADER_CHANGES = "leader_changes"
"""boolean: the event may change what the leader has: none that does is left out."""
_LEO_NOW, _HW_NOW = "leo_now", "hw_now"
"""bigint: what the event tells of the replica whose it is, NULL if nothing."""
_FORGOTTEN_MASK = "forgotten_mask"
"""int: slots of whom nothing is known after the event."""
_LEFT_OPEN, _MAY_BE_TAKEN, _LONGER = "left_open", "may_be_taken", "longer"
"""int: slot of whom the event leaves open what it has, or its HW for long; of a leader of a longer log maybe; or -1."""
_OF_LEADER = (
    N.TENURE, C.LEADER_EPOCH, N.INCARNATION, N.ISR_MASK, N.ASSIGNED_MASK, C.LOG_END_OFFSET, C.HIGH_WATERMARK,
    C.EXACTNESS, C.LOG_END_OFFSET_HIGH, C.HIGH_WATERMARK_HIGH,
)  # fmt: skip
"""What the state of a leader is made of."""
_NOW = "now"
"""struct: that, after the event."""
_SHOWN = (
    C.CAPTURE_ID, N.EVENT, C.EVENT_SEQ, N.SLOT, N.LEADER_SLOT, SLOTS, LOADED_HW, N.ISR_MASK, N.ASSIGNED_MASK,
    C.EXACTNESS, C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH, C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH,
)  # fmt: skip
"""Passengers: what a state shows besides."""


def with_own_state(known: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the events with `own_leo_<slot>`, `own_hw_<slot>`, `open_<slot>`, `open_hw_<slot>`; `leader_changes`."""
    in_order = history(has_returns=profile.has_returns)
    so_far = in_order.rowsBetween(FIRST, NOW)
    # An event of another may be from before the leader took its role, or after its process ended.
    is_after_another = ~is_of_leader(F.lag(N.EVENT).over(in_order))
    differs = is_after_another | ~F.lag(_NOW).over(in_order).eqNullSafe(F.col(_NOW))
    columns: dict[str, Column] = {LEADER_CHANGES: is_event(EventType.BECOME_LEADER) | (is_of_leader() & differs)}

    for i in range(slots):
        leads, own = F.col(N.LEADER_SLOT) == i, F.col(N.SLOT) == i
        unknown = in_mask(F.col(_FORGOTTEN_MASK), i)
        # Nor does it go on with what it had as a leader that was not heard to the end.
        led = leads & ~F.col(N.IS_UNSURE)
        leo = F.when(led, F.col(C.LOG_END_OFFSET)).when(leads | unknown, UNKNOWN_OFFSET).when(own, F.col(_LEO_NOW))
        hw = F.when(led, F.col(C.HIGH_WATERMARK)).when(leads | unknown, UNKNOWN_OFFSET).when(own, F.col(_HW_NOW))
        least = F.coalesce(leo, slot_column(C.REMOTE_LEO, i)).alias("least")
        bound = F.when(leo.isNotNull() | _witnessed(i), F.struct(least, C.LOG_END_OFFSET, C.HIGH_WATERMARK))
        last_leo, last_hw = (F.coalesce(carried(it, so_far), F.lit(UNKNOWN_OFFSET)) for it in (leo, hw))
        columns[slot_column(OWN_LEO, i)] = F.when(leads, F.col(C.LOG_END_OFFSET)).otherwise(last_leo)
        columns[slot_column(BOUND, i)] = carried(bound, so_far)
        columns[slot_column(OWN_HW, i)] = F.when(leads, F.col(C.HIGH_WATERMARK)).otherwise(last_hw)
        said = F.struct(
            ((F.col(_LEFT_OPEN) == i) | (F.col(_LONGER) == i)).alias("may_be"),
            F.col(C.LOG_END_OFFSET_HIGH).alias("leo"),
            F.when(F.col(_LONGER) == i, F.col(C.HIGH_WATERMARK_HIGH))
            .otherwise(F.col(C.RESPONSE_HIGH_WATERMARK))
            .alias("hw"),
        )
        # What a witness proves is the least that it has: whether it took its last response, and has more, stays open.
        tells = is_event_of(i, N.RESPONSE) | leo.isNotNull()
        columns[slot_column(OPEN, i)] = carried(F.when(tells, said), so_far)
        columns[slot_column(OPEN_HW, i)] = _open_hw(i, hw, so_far, profile)
    passengers = (*_SHOWN, *[slot_column(C.REMOTE_LEO, i) for i in range(slots)])
    carrying = aboard(_with_what_is_told(known), passengers, "passengers")
    return ashore(carrying.withColumns(columns), passengers, "passengers").drop(
        _NOW, _FORGOTTEN_MASK, _LEO_NOW, _HW_NOW, _LEFT_OPEN, _MAY_BE_TAKEN, _LONGER
    )  # fmt: skip


def _open_hw(slot: int, hw: Column, so_far: WindowSpec, profile: Profile) -> Column:
    """Return `open_hw` of the replica in `slot`, whose HW an event tells as `hw`.

    Since 2.6 a line tells with which HW a follower began: where logs are cut by what fetches tell, nothing is carried.
    """
    is_newer = F.lit(profile.truncation) == Truncation.FETCH_DIVERGENCE.value
    tells = ~is_newer & (is_event_of(slot, N.RESPONSE) | hw.isNotNull())
    may_be = F.col(_MAY_BE_TAKEN) == slot
    said = F.when(tells, F.struct(may_be.alias("may_be"), F.col(C.RESPONSE_HIGH_WATERMARK).alias("hw")))
    # Of a single cluster the rule is no Column: where nothing is carried, no window is planned for it.
    return said if profile.truncation is Truncation.FETCH_DIVERGENCE else carried(said, so_far)


def _with_what_is_told(known: DataFrame) -> DataFrame:
    """Return the events with what each tells of its leader and of its own replica; by slot it is asked again and again.

    Java compiles no method of more than 8,000 bytes, and Spark makes one of all that is between two windows.
    """
    response, restart = is_event(N.RESPONSE), is_event(N.REPLICA_RESTART)
    taken = F.col(N.IS_TAKEN) & (F.col(N.FOLLOWER_LEO) >= 0)
    # A reassignment that drops a replica deletes its log (`StopReplica`): assigned again, it starts anew.
    dropped = F.coalesce(F.bitwise_not(N.NEW_ASSIGNED_MASK), F.lit(0))
    asked = is_event(EventType.FETCH, N.REPLICA_RESTART, N.REFUSED)
    return known.withColumns(
        {
            _NOW: F.struct(*_OF_LEADER),
            # What one had before an epoch without a logged request it may have outgrown there, or cut.
            _FORGOTTEN_MASK: F.when(F.col(N.IS_UNHEARD), -1).otherwise(dropped),
            _LEO_NOW: F.when(asked, F.col(C.FETCH_OFFSET)).when(response & taken, F.col(N.FOLLOWER_LEO)),
            _HW_NOW: F.when(restart, F.col(C.RESPONSE_HIGH_WATERMARK))
            .when(response & taken, hw_taken())
            .otherwise(hw_of_empty()),
            _LEFT_OPEN: _slot_if(response & ~taken, N.SLOT),
            # Records came, and under another leader it may have cut them before it fetched again: nothing tells.
            _MAY_BE_TAKEN: _slot_if(response & ~taken & F.col(N.IS_TAKEN), N.SLOT),
            _LONGER: _slot_if(F.col(C.LOG_END_OFFSET_HIGH) > F.col(C.LOG_END_OFFSET), N.LEADER_SLOT),
        }
    )


def _slot_if(is_so: Column, slot: str) -> Column:
    return F.coalesce(F.when(is_so, F.col(slot)), F.lit(-1))


def _witnessed(slot: int) -> Column:
    """Return whether the event proves that the replica asked for what no line shows it asked for."""
    return is_event(EventType.WITNESS) & in_mask(F.col(N.NEW_ISR_MASK), slot)
