"""Order by the leader's clock, kept monotone along what is certainly ordered.

A request log is written in the order of completion, and its times are good to a millisecond. Appends of an epoch are
certainly in the order of their offsets, one replica's fetches in the order of their session. No two events are put in
order by two brokers' clocks; whether a response was taken may be doubted by them, where they are far apart
(`told_by_roles`, `next_fetches`). What the clock leaves open, `evidence` decides.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_event
from replay.events.leaderships import START_US, STATED_HW, STATED_LEO
from replay.events.next_roles import REACHED
from replay.events.responses import with_refused_apart
from replay.names import NS_PER_US
from replay.order.next_fetches import with_next_fetches
from replay.passengers import packed, unpacked
from replay.profile import Profile
from replay.windows import FIRST, NOW, whole
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

CLOCK_ERROR_US = 5_000
"""How far a line's time may be off beyond the time the broker worked on the request; measured: 99 % within it."""
STREAMS_BESIDE_FETCHES = 2
"""Metadata is stream 0, appends are stream 1; then each slot's fetches are one."""
_STREAM = (*N.LEADERSHIP, N.STREAM_RANK, C.SESSION_ID)
_WITHIN = (C.BASE_OFFSET, C.SESSION_EPOCH, N.EVENT_US, C.SOURCE_FILE, C.SOURCE_LINE)
_READ_LATER = (
    C.CAPTURE_ID, C.REPLICA_ID, C.LEADER_ID, N.IS_CONTESTED, REACHED, C.ACKS, C.LAST_OFFSET, C.IS_PARKED,
    C.RESPONSE_HIGH_WATERMARK, N.LOCAL_US, STATED_HW, N.LEADER_SLOT, N.EVERY_MASK, N.NEW_ISR_MASK, N.NEW_ASSIGNED_MASK,
    C.MIN_ISR, N.NEW_LOG_START, N.OWN_LOG_START,
)  # fmt: skip
_LATER = "later"
"""Columns of which the order by the clock knows nothing."""
_OF_FETCHES = (
    C.FETCH_OFFSET, C.RECORDS_SIZE, C.ERROR_CODE, N.IS_ACCEPTED, N.IS_HEEDED, N.RESPONSE_US, N.LOADED_US, N.NEXT_ROLE,
    C.SESSION_UNBROKEN_SINCE,
)  # fmt: skip
"""Passengers until each replica's fetches are looked at."""
_SHOWN = (
    C.CAPTURE_ID, C.SOURCE_FILE, C.SOURCE_LINE, C.REPLICA_ID, C.LEADER_ID, N.IS_CONTESTED, REACHED, N.OWN_LOG_START,
)  # fmt: skip


def ordered_by_clock(placed: DataFrame, profile: Profile) -> DataFrame:
    """Return the events with their stream, their place in it, and `order_ns`, never falling along a stream.

    A fetch also gets `next_fetch_us` and `follower_leo`: its replica's own LEO once it took the response, which its
    next fetch tells, wherever that went. An idempotent producer's repeat (an old base offset, appended once) stays
    where the clock puts it: it must not drag later appends with it. What is only shown is packed from here on.
    """
    certain = Window.partitionBy(*_STREAM).orderBy(*_WITHIN)
    fetch = is_event(EventType.FETCH)
    append = is_event(EventType.APPEND)
    rank = F.when(fetch, F.col(N.SLOT) + STREAMS_BESIDE_FETCHES).when(append, 1).otherwise(0)
    streams = packed(packed(placed, _READ_LATER, _LATER), _OF_FETCHES, "of_fetches").withColumns(
        {
            N.STREAM_RANK: rank,
            C.SESSION_ID: F.coalesce(F.when(fetch, F.col(C.SESSION_ID)), F.lit(0)),
            C.SESSION_EPOCH: F.coalesce(F.when(fetch, F.col(C.SESSION_EPOCH)), F.lit(0)),
            C.BASE_OFFSET: F.coalesce(F.when(append, F.col(C.BASE_OFFSET)), F.lit(0)),
        }
    )
    clock = F.col(N.EVENT_US) * NS_PER_US
    repeats = append & F.coalesce(F.lag(C.BASE_OFFSET).over(certain) == F.col(C.BASE_OFFSET), F.lit(False))
    counted = streams.withColumns(
        {
            N.STREAM_POS: F.row_number().over(certain).cast("bigint"),
            "is_repeat": repeats | (append & F.coalesce(F.col(C.BASE_OFFSET) < F.col(STATED_LEO), F.lit(False))),
        }
    )
    never_back = F.max(F.when(~F.col("is_repeat"), clock)).over(certain.rowsBetween(FIRST, NOW))
    monotone = counted.withColumns(
        {
            # A request may be served before the line that tells of the leadership is written.
            N.ORDER_NS: F.greatest(
                F.when(F.col("is_repeat"), clock).otherwise(never_back), F.col(START_US) * NS_PER_US
            ),
            N.EPOCH_START: _epoch_start(append, profile),
        }
    )
    known = with_refused_apart(with_next_fetches(unpacked(monotone, "of_fetches"), profile)).drop(
        C.SESSION_EPOCH, C.SESSION_UNBROKEN_SINCE, C.RECORDS_SIZE, "is_repeat", N.LOADED_US, N.NEXT_ROLE, START_US
    )
    return packed(unpacked(known, _LATER), _SHOWN, N.SHOWN)


def _epoch_start(append: Column, profile: Profile) -> Column:
    """Return the LEO the leadership began with: as its line states, or where its first append begins."""
    if not profile.has_unstated_starts:
        return F.coalesce(STATED_LEO, F.lit(UNKNOWN_OFFSET))
    return F.coalesce(STATED_LEO, F.min(F.when(append, F.col(C.BASE_OFFSET))).over(whole()))
