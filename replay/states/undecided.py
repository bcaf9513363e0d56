"""Where nothing decides the order of two events: the HW between them is bounded, not guessed.

Two requests of one partition run in parallel under a read lock, and the log's times are good to a fraction of a
millisecond. If two neighbours lie closer than that, if the HW would pass another value had they come the other way
round, and if no response says which, the HW after the first of them is one of the two.

A change of the ISR is made under the write lock (`Partition.maybeShrinkIsr`, `handleAlterPartitionUpdate`): a request
that was being worked on when its line was written had waited for it, or it for the request.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import SLOTS, in_mask
from replay.event_types import is_event
from replay.events.requests import APPENDS_AFTER, FETCHES_AFTER, handled_after_us
from replay.high_watermark import allows
from replay.names import NS_PER_US, slot_column
from replay.passengers import aboard, ashore
from replay.profile import Profile
from replay.windows import place
from schemas import columns as C
from schemas.kinds import EventType, Exactness

RESOLUTION_US = 300
"""Closer than this the clock decides nothing: every second order was wrong."""
OVERLAP = 0.3
"""Likewise of requests worked on at the same time, if they are nearer than this share of the time they overlap in: of
such neighbours 3 of 5 orders were wrong, of those farther apart 5 of 24 (live captures of random faults)."""

LINE_US = 1_000
"""A line of a log is written to the millisecond."""
_HOLDERS = "holders"
"""int: bit mask of the replicas that the HW waits for after the event; NULL where it may not rise."""
_NEXT = (N.EVENT, N.SLOT, C.FETCH_OFFSET, C.LAST_OFFSET, N.ORDER_NS, N.LOCAL_US, C.IS_PARKED,
         C.RESPONSE_HIGH_WATERMARK, C.HIGH_WATERMARK, N.STREAM_RANK)  # fmt: skip


_SHOWN = (
    *C.PARTITION_KEY, C.CAPTURE_ID, C.SOURCE_FILE, C.SOURCE_LINE, N.EVENT, C.EVENT_SEQ, C.REPLICA_ID, C.LEADER_ID,
    N.IS_CONTESTED, SLOTS, N.LOCAL_US, C.MIN_ISR, N.ISR_MASK, N.ASSIGNED_MASK, N.HELD_MASK, C.ISR, C.REMOTE_LEO_MAP,
    C.HIGH_WATERMARK_LIMITED_BY,
    N.JOINING_MASK, C.LOG_START_OFFSET, C.LOG_END_OFFSET, C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH,
    C.HIGH_WATERMARK, C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH, C.EXACTNESS, C.LAST_STABLE_OFFSET,
)  # fmt: skip
"""Passengers: what `leader_timeline` shows, or is made of."""


def with_undecided(known: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the leaders' events, the HW bounded after those whose order with the next one nothing decides.

    `known` holds the events of `leader_timeline` with their states, without responses and restarts.
    """
    # With every replica in every ISR no change of it is another, and nothing of it is looked at.
    isr = (_HOLDERS,) if profile.has_outsiders else ()
    states = [C.LOG_END_OFFSET, C.HIGH_WATERMARK, *isr, *[slot_column(C.REMOTE_LEO, i) for i in range(slots)]]
    neighbours = {"then": F.lead(F.struct(*_NEXT, *isr)).over(place()), "was": F.lag(F.struct(*states)).over(place())}
    waiting = aboard(known.withColumns({c: F.when(allows(profile), _waited_for()) for c in isr}), _SHOWN, "passengers")
    seen = ashore(waiting.withColumns(neighbours), _SHOWN, "passengers")
    first = _if_next_came_first(slots, profile)
    swapped = seen.withColumn("other", F.greatest(F.col("was")[C.HIGH_WATERMARK], first))
    here, other = F.col(C.HIGH_WATERMARK), F.col("other")
    low, high = F.col(C.HIGH_WATERMARK_LOW), F.col(C.HIGH_WATERMARK_HIGH)
    undecided = _may_be_swapped(has_changes=profile.has_outsiders) & _differs() & ~_is_told()
    return swapped.withColumns(
        {
            C.HIGH_WATERMARK: F.when(undecided, F.least(here, other)).otherwise(here),
            C.HIGH_WATERMARK_LOW: F.when(undecided, F.least(low, other)).otherwise(low),
            C.HIGH_WATERMARK_HIGH: F.when(undecided, F.greatest(high, other)).otherwise(high),
            C.EXACTNESS: F.when(undecided, Exactness.BOUNDED.value).otherwise(F.col(C.EXACTNESS)),
        }
    ).drop("then", "was", "other", *isr)


def _waited_for() -> Column:
    """Return the replicas that the HW waits for, a joining one too, as a bit mask."""
    return F.col(N.HELD_MASK).bitwiseOR(F.col(N.JOINING_MASK))


def _if_next_came_first(slots: int, profile: Profile) -> Column:
    """Return what the HW would have risen to after the next event alone."""
    then, was = F.col("then"), F.col("was")
    appended = F.when(is_event(EventType.APPEND, of=then[N.EVENT]), then[C.LAST_OFFSET] + 1)
    leo = F.greatest(was[C.LOG_END_OFFSET], appended)
    fetched = is_event(EventType.FETCH, of=then[N.EVENT])
    if profile.has_outsiders:
        changes_next, changes = is_event(EventType.ISR_CHANGE, of=then[N.EVENT]), is_event(EventType.ISR_CHANGE)
        holders = F.when(changes_next, then[_HOLDERS]).when(changes, was[_HOLDERS]).otherwise(F.col(_HOLDERS))
        may_rise = holders.isNotNull()
    else:
        holders, may_rise = _waited_for(), allows(profile)
    held, recorded = [], F.least(then[C.FETCH_OFFSET], then[C.LAST_OFFSET] + 1)
    for i in range(slots):
        before = was[slot_column(C.REMOTE_LEO, i)]
        remote = F.when(fetched & (then[N.SLOT] == i), recorded).otherwise(before)
        held.append(F.when(in_mask(holders, i), remote).otherwise(leo))
    return F.when(may_rise, F.least(leo, *held))


def _may_be_swapped(*, has_changes: bool) -> Column:
    """Return whether the event and the next are not certainly ordered, and closer than the clock can tell.

    Two requests, or a request and a change of the ISR that was made while it was worked on.
    """
    requests, then = (EventType.APPEND, EventType.FETCH), F.col("then")
    # A time that is exact (a synthetic event, worked on for no time) decides.
    works = is_event(*requests) & (F.col(N.LOCAL_US) > 0)
    next_works = is_event(*requests, of=then[N.EVENT]) & (then[N.LOCAL_US] > 0)
    work_us = (1 - FETCHES_AFTER) * F.col(N.LOCAL_US) + FETCHES_AFTER * then[N.LOCAL_US]
    both = works & next_works & (F.col(N.STREAM_RANK) != then[N.STREAM_RANK])
    near_us = F.when(both, RESOLUTION_US + OVERLAP * work_us)
    if has_changes:
        until = F.col(N.LOCAL_US) - handled_after_us(F.col(N.LOCAL_US), _share(F.col(N.EVENT)))
        since = handled_after_us(then[N.LOCAL_US], _share(then[N.EVENT]))
        near_us = near_us.when(works & is_event(EventType.ISR_CHANGE, of=then[N.EVENT]), until)
        near_us = near_us.when(is_event(EventType.ISR_CHANGE) & next_works, LINE_US + since)
    return F.coalesce(then[N.ORDER_NS] - F.col(N.ORDER_NS) < near_us * NS_PER_US, F.lit(False))


def _share(event: Column) -> Column:
    """Return the share of its local time after which a request takes effect."""
    return F.when(is_event(EventType.APPEND, of=event), APPENDS_AFTER).otherwise(FETCHES_AFTER)


def _differs() -> Column:
    """Return whether the HW would pass another value in the other order."""
    before, here, other = F.col("was")[C.HIGH_WATERMARK], F.col(C.HIGH_WATERMARK), F.col("other")
    after = F.col("then")[C.HIGH_WATERMARK]
    passes = ((here != before) & (here != after)) | ((other != before) & (other != after))
    return (here != other) & passes


def _is_told() -> Column:
    """Return whether the next fetch, answered at once, carries the HW this event made."""
    then, here = F.col("then"), F.col(C.HIGH_WATERMARK)
    told = ~then[C.IS_PARKED] & (then[C.RESPONSE_HIGH_WATERMARK] == here) & (here != F.col("was")[C.HIGH_WATERMARK])
    return F.coalesce(is_event(EventType.FETCH, of=then[N.EVENT]) & told, F.lit(False))
