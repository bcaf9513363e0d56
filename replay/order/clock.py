"""Order by the leader's clock, kept monotone along what is certainly ordered.

A request log is written in the order of completion, and its times are good to a millisecond. Appends of an epoch are
certainly in the order of their offsets, one replica's fetches in the order of their session. Two brokers' clocks are
never compared. What the clock leaves open, `evidence` decides.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_event
from replay.events.leaderships import START_US, STATED_HW, STATED_LEO
from replay.events.next_roles import REACHED, comes_too_late, is_still_awaited, told_next
from replay.events.responses import is_answered, taken_ns, without_refused
from replay.names import NS_PER_US
from replay.passengers import packed, unpacked
from replay.profile import Profile
from replay.states.unheard import unheard_offset
from replay.windows import FIRST, NOW, carried, whole
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

CLOCK_ERROR_US = 5_000
"""How far a line's time may be off beyond the time the broker worked on the request; measured: 99 % within it."""
STREAMS_BESIDE_FETCHES = 2
"""Metadata is stream 0, appends are stream 1; then each slot's fetches are one."""
_STREAM = (*N.LEADERSHIP, N.STREAM_RANK, C.SESSION_ID)
_FETCHES_IN_ORDER = (C.LEADER_EPOCH, N.INCARNATION, N.ORDER_NS, C.SESSION_EPOCH, C.SOURCE_LINE)
_LEADERSHIP, _ASKED = (C.LEADER_EPOCH, N.INCARNATION), (C.FETCH_OFFSET, C.SESSION_ID, C.SESSION_EPOCH)
_WITHIN = (C.BASE_OFFSET, C.SESSION_EPOCH, N.EVENT_US, C.SOURCE_FILE, C.SOURCE_LINE)
_READ_LATER = (
    C.CAPTURE_ID, C.REPLICA_ID, C.LEADER_ID, N.IS_CONTESTED, REACHED, C.ACKS, C.LAST_OFFSET, C.IS_PARKED,
    C.RESPONSE_HIGH_WATERMARK, N.LOCAL_US, STATED_HW, N.LEADER_SLOT, N.EVERY_MASK, N.NEW_ISR_MASK, N.NEW_ASSIGNED_MASK,
    C.MIN_ISR, N.NEW_LOG_START, N.OWN_LOG_START,
)  # fmt: skip
_LATER = "later"
"""Columns of which the order by the clock knows nothing."""
_OF_FETCHES = (
    C.FETCH_OFFSET, C.RECORDS_SIZE, C.ERROR_CODE, "is_accepted", N.IS_HEEDED, N.RESPONSE_US, N.LOADED_US, N.NEXT_ROLE,
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
    known = without_refused(_with_next_fetches(unpacked(monotone, "of_fetches"), profile)).drop(
        C.SESSION_EPOCH, C.RECORDS_SIZE, "is_repeat", N.LOADED_US, N.NEXT_ROLE, START_US
    )
    return packed(unpacked(known, _LATER), _SHOWN, N.SHOWN)


def _epoch_start(append: Column, profile: Profile) -> Column:
    """Return the LEO the leadership began with: as its line states, or where its first append begins."""
    if not profile.has_unstated_starts:
        return F.coalesce(STATED_LEO, F.lit(UNKNOWN_OFFSET))
    return F.coalesce(STATED_LEO, F.min(F.when(append, F.col(C.BASE_OFFSET))).over(whole()))


def _with_next_fetches(ordered: DataFrame, profile: Profile) -> DataFrame:
    """Return the events, each fetch with what its replica's next one, or its next role, tells of it."""
    of_replica = Window.partitionBy(N.PARTITION_NUMBER, N.STREAM_RANK).orderBy(*_FETCHES_IN_ORDER)
    fetch = is_event(EventType.FETCH)
    # Each by itself: a window that an expression names twice is computed twice.
    seen = ordered.withColumns(
        {
            "then": F.lead(F.struct(N.TENURE, *_LEADERSHIP, *_ASKED, F.expr(N.ORDER_US).alias("us"))).over(of_replica),
            "heard": carried(
                F.when(is_answered(), F.struct(*_LEADERSHIP, N.ORDER_NS, N.RESPONSE_US)),
                of_replica.rowsBetween(FIRST, -1),
            ),
        }
    ).withColumn(N.UNHEARD_OFFSET, F.when(fetch, unheard_offset(F.col("then"))).otherwise(UNKNOWN_OFFSET))
    then = F.col("then")
    goes_on = F.coalesce(_is_of_same(then), F.lit(False))
    next_leo, told_us = told_next(then[C.FETCH_OFFSET], then["us"], then[C.LEADER_EPOCH], profile)
    has_ended = _restarts(told_us)
    known = seen.withColumns(
        {
            # Its next fetch shows that the replica took this response, if it is of the same leadership and process.
            N.NEXT_FETCH_US: F.when(fetch & goes_on & ~has_ended, then["us"]),
            N.HEARD_NS: _heard_ns(F.col("heard")),
            # What was taken by a fetch that is missing in between, this response did not bring.
            N.FOLLOWER_LEO: F.when(fetch, _leo_after(F.when(F.col(N.UNHEARD_OFFSET) < 0, next_leo))),
            N.IS_TAKEN: fetch & ~has_ended & (goes_on | ~comes_too_late() | is_still_awaited(then, profile)),
        }
    )
    taken = taken_ns(F.col(N.ORDER_NS), F.col(N.RESPONSE_US), F.col(N.NEXT_FETCH_US))
    responses: dict[str, Column] = {
        N.RESPONSE_NS: F.when(is_answered(), taken),
        N.IS_TAKEN: F.col(N.IS_TAKEN) & ~((F.col(N.UNHEARD_OFFSET) < 0) & _has_not_grown(goes_on)),
    }
    return known.withColumns(responses).drop("then", "heard")


def _heard_ns(heard: Column) -> Column:
    """Return when the replica took the last response before this fetch in the leadership."""
    return F.when(_is_of_same(heard), taken_ns(heard[N.ORDER_NS], heard[N.RESPONSE_US], F.expr(N.ORDER_US)))


def _is_of_same(other: Column) -> Column:
    """Return whether another fetch of the replica is of the same leadership."""
    return (other[C.LEADER_EPOCH] == F.col(C.LEADER_EPOCH)) & (other[N.INCARNATION] == F.col(N.INCARNATION))


def _restarts(next_us: Column) -> Column:
    """Return whether the fetcher's process ended between this response and what tells of it next: then none took it.

    Two brokers' clocks are compared here, over the seconds a restart takes, and only to doubt.
    """
    since = F.filter(
        N.LOADED_US,
        # The line of the load and that of the role after it may be of the same millisecond.
        lambda us: (us > F.col(N.EVENT_US)) & (next_us.isNull() | (us <= next_us)),
    )
    return F.when(F.size(N.LOADED_US) > 0, F.size(since) > 0).otherwise(F.lit(False))


def _has_not_grown(goes_on: Column) -> Column:
    """Return whether records came and the fetcher has none of them: it dropped the response, and the HW in it.

    So does `AbstractFetcherThread` (349) with what it no longer waits for. Then it asks its leader for the same
    again, or leads with the LEO it had. Under another leader it may have cut them.
    """
    came, leads = F.col(C.RECORDS_SIZE) > 0, F.coalesce(F.col(N.NEXT_ROLE)["leads"], F.lit(False))
    return F.coalesce((goes_on | leads) & came & (F.col(N.FOLLOWER_LEO) == UNKNOWN_OFFSET), F.lit(False))


def _leo_after(next_leo: Column) -> Column:
    """Return the fetcher's LEO after the response; -1 where records came and nothing later tells how many."""
    asked = F.col(C.FETCH_OFFSET)
    nothing_came = F.coalesce(F.col(C.RECORDS_SIZE), F.lit(0)) <= 0
    return F.when(nothing_came, asked).when(next_leo > asked, next_leo).otherwise(F.lit(UNKNOWN_OFFSET))
