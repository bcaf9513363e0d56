"""What each replica has by itself: its own LEO and HW after each event of its leader, by the slot that it has.

A leader's are its own. A follower's LEO is what it asks for, and after a response what its next fetch asks for; its HW
is the smaller of the HW it was told and its LEO after the append (`AbstractFetcherThread.processFetchRequest`,
`UnifiedLog.maybeUpdateHighWatermark`, UL:590).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import SLOTS, in_mask
from replay.event_types import is_event, is_event_of
from replay.leaderships import LOADED_HW
from replay.names import slot_column
from replay.passengers import aboard, ashore
from replay.profile import Profile
from replay.windows import FIRST, NOW, carried, history
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

OWN_LEO, OWN_HW = "own_leo", "own_hw"
"""bigint per slot: the replica's own LEO and HW; -1 unknown."""
OPEN = "open"
"""struct per slot: what the replica has if it took its last response: nothing tells, until something does."""
LEADER_CHANGES = "leader_changes"
"""boolean: the event changes what the leader has."""
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
    """Return the events with `own_leo_<slot>`, `own_hw_<slot>` and `open_<slot>`, and `leader_changes`."""
    in_order = history(has_returns=profile.has_returns)
    so_far = in_order.rowsBetween(FIRST, NOW)
    columns: dict[str, Column] = {LEADER_CHANGES: ~F.lag(_NOW).over(in_order).eqNullSafe(F.col(_NOW))}

    def last(value: Column) -> Column:
        return F.coalesce(carried(value, so_far), F.lit(UNKNOWN_OFFSET))

    for i in range(slots):
        leads = F.col(N.LEADER_SLOT) == i
        fetch, response = is_event_of(i, EventType.FETCH), is_event_of(i, N.RESPONSE)
        restart = is_event_of(i, N.REPLICA_RESTART)
        taken = F.col(N.IS_TAKEN) & (F.col(N.FOLLOWER_LEO) >= 0)
        leo = (
            F.when(fetch | restart, F.col(C.FETCH_OFFSET))
            .when(response & taken, F.col(N.FOLLOWER_LEO))
            .when(_witnessed(i), F.col(slot_column(C.REMOTE_LEO, i)))
        )
        told = F.least(F.col(C.RESPONSE_HIGH_WATERMARK), F.col(N.FOLLOWER_LEO))
        # A reassignment that drops a replica deletes its log (`StopReplica`): assigned again, it starts anew.
        dropped = F.coalesce(~in_mask(F.col(N.NEW_ASSIGNED_MASK), i), F.lit(False))
        columns[slot_column(OWN_LEO, i)] = last(
            F.when(leads, F.col(C.LOG_END_OFFSET)).when(dropped, UNKNOWN_OFFSET).otherwise(leo)
        )
        columns[slot_column(OWN_HW, i)] = last(
            F.when(leads, F.col(C.HIGH_WATERMARK))
            .when(dropped, UNKNOWN_OFFSET)
            .when(restart, F.col(C.RESPONSE_HIGH_WATERMARK))
            .otherwise(F.when(response & taken, told))
        )
        said = F.struct(
            (response & ~taken).alias("may_be"),
            F.col(C.LOG_END_OFFSET).alias("leo"),
            F.col(C.RESPONSE_HIGH_WATERMARK).alias("hw"),
        )
        columns[slot_column(OPEN, i)] = carried(F.when(response | leads | dropped | leo.isNotNull(), said), so_far)
    passengers = (*_SHOWN, *[slot_column(C.REMOTE_LEO, i) for i in range(slots)])
    carrying = aboard(known.withColumn(_NOW, F.struct(*_OF_LEADER)), passengers, "passengers")
    return ashore(carrying.withColumns(columns), passengers, "passengers").drop(_NOW)


def _witnessed(slot: int) -> Column:
    """Return whether the event proves that the replica asked for what no line shows it asked for."""
    return is_event(EventType.WITNESS) & in_mask(F.col(N.NEW_ISR_MASK), slot)
