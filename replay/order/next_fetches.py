"""What a replica's next fetch, or its next role, tells of a fetch: whether it took the response, and what it had then.

A follower fetches its own LEO, so that each fetch tells what the response before it brought.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_event
from replay.events.responses import is_answered, taken_ns
from replay.events.told_by_roles import came_before, comes_too_late, is_still_awaited, told_next
from replay.profile import Profile
from replay.states.unheard import unheard_offset
from replay.windows import FIRST, carried
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

_FETCHES_IN_ORDER = (C.LEADER_EPOCH, N.INCARNATION, N.ORDER_NS, C.SESSION_EPOCH, C.SOURCE_LINE)
_LEADERSHIP = (C.LEADER_EPOCH, N.INCARNATION)
_ASKED = (C.FETCH_OFFSET, C.SESSION_ID, C.SESSION_EPOCH, C.SESSION_UNBROKEN_SINCE)


def with_next_fetches(ordered: DataFrame, profile: Profile) -> DataFrame:
    """Return the events, each fetch with what its replica's next one, or its next role, tells of it."""
    of_replica = Window.partitionBy(N.PARTITION_NUMBER, N.STREAM_RANK).orderBy(*_FETCHES_IN_ORDER)
    fetch = is_event(EventType.FETCH)
    # Each by itself: a window that an expression names twice is computed twice.
    seen = ordered.withColumns(
        {
            "then": F.lead(F.struct(N.TENURE, *_LEADERSHIP, *_ASKED, F.expr(N.ORDER_US).alias("us"))).over(of_replica),
            "was": F.lag(F.struct(*_LEADERSHIP, C.FETCH_OFFSET)).over(of_replica),
            "heard": carried(
                F.when(is_answered(), F.struct(*_LEADERSHIP, N.ORDER_NS, N.RESPONSE_US)),
                of_replica.rowsBetween(FIRST, -1),
            ),
        }
    ).withColumn(N.UNHEARD_OFFSET, F.when(fetch, unheard_offset(F.col("then"))).otherwise(UNKNOWN_OFFSET))
    then, was = F.col("then"), F.col("was")
    goes_on, has_role = _is_of_same(then), _is_of_same(was) & came_before(was, profile)
    next_leo, told_us = told_next(then, has_role, profile)
    has_ended = _restarts(told_us)
    known = seen.withColumns(
        {
            # Its next fetch shows that the replica took this response, if it is of the same leadership and process.
            N.NEXT_FETCH_US: F.when(fetch & goes_on & ~has_ended, then["us"]),
            N.HEARD_NS: _heard_ns(F.col("heard")),
            # What was taken by a fetch that is missing in between, this response did not bring.
            N.FOLLOWER_LEO: F.when(fetch, _leo_after(F.when(F.col(N.UNHEARD_OFFSET) < 0, next_leo))),
            N.IS_TAKEN: fetch & ~has_ended & (goes_on | has_role | ~comes_too_late() | is_still_awaited(then, profile)),
        }
    )
    taken = taken_ns(F.col(N.ORDER_NS), F.col(N.RESPONSE_US), F.col(N.NEXT_FETCH_US))
    responses: dict[str, Column] = {
        N.RESPONSE_NS: F.when(is_answered(), taken),
        N.IS_TAKEN: F.col(N.IS_TAKEN) & ~((F.col(N.UNHEARD_OFFSET) < 0) & _has_not_grown(goes_on)),
    }
    return known.withColumns(responses).drop("then", "was", "heard")


def _heard_ns(heard: Column) -> Column:
    """Return when the replica took the last response before this fetch in the leadership."""
    return F.when(_is_of_same(heard), taken_ns(heard[N.ORDER_NS], heard[N.RESPONSE_US], F.expr(N.ORDER_US)))


def _is_of_same(other: Column) -> Column:
    """Return whether another fetch of the replica is there, and of the same leadership."""
    same = (other[C.LEADER_EPOCH] == F.col(C.LEADER_EPOCH)) & (other[N.INCARNATION] == F.col(N.INCARNATION))
    return F.coalesce(same, F.lit(False))


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
