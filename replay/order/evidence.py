"""Order by evidence: what the clock leaves open, the HW in a response decides.

A fetch that is answered at once carries the HW from just before its own update (P:1514), and one whose response omits
the partition tells that this was still what the fetch session had been told: wherever the order by the clock says
otherwise, and the difference is one the clock cannot resolve, the fetch is moved across the event that raised the HW. A
fetch of an offset comes after the append that brought the leader there, or it would have been out of range. What
requests prove that no line tells of is in `witnesses`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_event
from replay.events.leaderships import STATED_HW
from replay.names import NS_PER_US
from replay.order.clock import CLOCK_ERROR_US, STREAMS_BESIDE_FETCHES
from replay.order.doubtful import with_proof_of_catching_up
from replay.order.throughout import next_outside, outside
from replay.order.witnesses import is_beyond_log, with_witnesses
from replay.passengers import aboard, ashore, unpacked
from replay.profile import Profile
from replay.states.leader import leader_states
from replay.windows import before, carried, following, so_far, tenure_whole
from schemas import columns as C
from schemas.columns import NO_BOUND, UNKNOWN_OFFSET
from schemas.kinds import EventType

_READ_LATER = (
    N.SHOWN, N.NEW_LOG_START, N.RESPONSE_NS, N.NEXT_FETCH_US, N.FOLLOWER_LEO, N.UNHEARD_OFFSET, N.IS_TAKEN,
)  # fmt: skip
_LATER = "later"
"""Columns that the second pass reads and not the first."""
_OF_REQUESTS = (C.BASE_OFFSET, C.ERROR_CODE, N.HEARD_NS, C.IS_PARKED, C.RESPONSE_HIGH_WATERMARK, N.LOCAL_US)
_OF_RESPONSES = (N.RESPONSE_US, C.ACKS, N.NEW_ISR_MASK, N.NEW_ASSIGNED_MASK)
_UNMOVED = (
    N.EVENT, N.SLOT, C.FETCH_OFFSET, C.LAST_OFFSET, C.ERROR_CODE, C.IS_PARKED, C.RESPONSE_HIGH_WATERMARK,
    N.LOCAL_US, N.EPOCH_START, STATED_HW, N.LEADER_SLOT, N.EVERY_MASK, C.MIN_ISR, C.LOG_END_OFFSET, N.ISR_MASK,
    "highest",
)  # fmt: skip
"""Passengers: until it is decided where a fetch moves, until witnesses are found, and of the last window."""


def decided_by_evidence(ordered: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the events of `ordered` in the order the responses bear out, with the witnesses that are needed."""
    undecided = {
        N.IS_PROVEN_CAUGHT_UP: F.lit(False),
        N.HW_IF_WAITED: F.lit(NO_BOUND),
        N.MAY_HAVE_GROWN_TO: F.lit(None).cast("bigint"),
    }
    carrying = aboard(ordered.withColumns(undecided), _READ_LATER, _LATER)
    carrying = aboard(aboard(carrying, _OF_REQUESTS, "of_requests"), _OF_RESPONSES, "of_responses")
    states = leader_states(carrying, slots, profile, has_witnesses=False, least_hw=F.col(STATED_HW))
    start = _stated_start()
    if profile.has_outsiders:
        states = with_proof_of_catching_up(states, slots, profile, start)
    known = states.withColumn(C.HIGH_WATERMARK, F.greatest(F.col(N.RISEN_TO), start))
    rises = _with_rises(ashore(_with_ends(known, start, profile), _OF_REQUESTS, "of_requests"), slots, profile)
    moved = rises.withColumn("moved_ns", F.coalesce(_moved_to(), F.col(N.ORDER_NS)))
    unmoved = (*_UNMOVED, *next_outside(slots, profile))
    placed = aboard(moved, unmoved, "unmoved").withColumn(N.ORDER_NS, _never_back(slots))
    monotone = ashore(ashore(placed, unmoved, "unmoved"), _OF_RESPONSES, "of_responses")
    read = [c for c in ordered.columns if c not in (*_READ_LATER, N.HEARD_NS, C.BASE_OFFSET)]
    return unpacked(with_witnesses(monotone, slots, profile).select(*read, *undecided, _LATER), _LATER)


def _stated_start() -> Column:
    """Return the HW that the leadership's line states, or that of an empty log; -1 unknown."""
    return F.coalesce(STATED_HW, F.when(F.col(N.EPOCH_START) == 0, F.lit(0)), F.lit(UNKNOWN_OFFSET))


def _is_known_hw() -> Column:
    """Return whether the HW by then is known, and not only what it rose to at least.

    Where no line states the HW with which a leadership begins, that may be as high as the log was then: a response that
    tells it tells of no rise.
    """
    return (_stated_start() >= 0) | (F.col(C.HIGH_WATERMARK) >= F.col(N.EPOCH_START))


def _with_ends(known: DataFrame, start: Column, profile: Profile) -> DataFrame:
    """Return the events with the `highest` HW that their leader's tenure comes to."""
    if profile.has_long_tenures:
        return known.withColumn("highest", F.max(C.HIGH_WATERMARK).over(tenure_whole()))
    return known.withColumn("highest", F.greatest(F.col(N.RISEN_AT_END), start))


def _never_back(slots: int) -> Column:
    """Return the place each event moves to, never before one that is certainly earlier: what is of one stream.

    Only fetches move. Streams are in the order of the clock already, so that a running maximum of each needs no other
    sort.
    """
    place = F.col("moved_ns")
    for slot in range(slots):
        of_stream = F.col(N.STREAM_RANK) == slot + STREAMS_BESIDE_FETCHES
        place = F.when(of_stream, F.max(F.when(of_stream, F.col("moved_ns"))).over(so_far())).otherwise(place)
    # The greatest of some rows may be NULL as far as Spark knows; that is looked at in every window that follows.
    return F.coalesce(place, "moved_ns")


def _with_rises(known: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the events with the HW's rise before and after each, and the next append: where a fetch may have to move.

    And when each replica is next outside the ISR. A rise is (from, to, order_ns, local_us) of the event that raised the
    HW.
    """
    marked = known.withColumn("hw_before", F.greatest(F.col(N.RISEN_BEFORE), _stated_start()))
    rise = F.struct(
        F.col("hw_before").alias("low"),
        F.col(C.HIGH_WATERMARK).alias("high"),
        F.col(N.ORDER_NS).alias("ns"),
        F.col(N.LOCAL_US).alias("local_us"),
    )
    rises = F.when(F.col(C.HIGH_WATERMARK) > F.col("hw_before"), rise)
    leo = F.col(C.LAST_OFFSET) + 1
    # Before a line that states a greater LEO, what no line tells of may have been appended at any time.
    base = F.when(is_event(EventType.APPEND), F.col(C.BASE_OFFSET)).otherwise(leo)
    grown = F.struct(base.alias("base"), leo.alias("leo"), F.col(N.ORDER_NS).alias("ns"))
    appended = F.when(is_event(EventType.APPEND, N.SHRINK_PROPOSED) & leo.isNotNull(), grown)
    return marked.withColumns(
        {
            "last_rise": carried(rises, before()),
            "rise": rises,
            "appended": appended,
            **outside(slots, profile),
        }
    ).withColumns(
        {
            "next_rise": following("rise"),
            "next_append": following("appended"),
            **next_outside(slots, profile),
        }
    )


def _moved_to() -> Column:
    """Return the place an offset not yet appended, or the stated HW, gives a fetch; NULL where it may stay."""
    stated, append = F.col(C.RESPONSE_HIGH_WATERMARK), F.col("next_append")
    fetch = is_event(EventType.FETCH)
    immediate = fetch & ~F.col(C.IS_PARKED) & (F.col(C.ERROR_CODE) == 0) & (stated >= 0)
    ahead = fetch & is_beyond_log() & F.col(C.FETCH_OFFSET).between(append["base"] + 1, append["leo"])
    last, coming = F.col("last_rise"), F.col("next_rise")

    def is_near(rise: Column) -> Column:
        apart = F.abs(F.col(N.ORDER_NS) - rise["ns"])
        return apart <= (CLOCK_ERROR_US + F.col(N.LOCAL_US) + rise["local_us"]) * NS_PER_US

    earlier = immediate & (stated < F.col("hw_before")) & (stated >= last["low"]) & is_near(last)
    # A response may also carry the rise its own fetch made: completed from purgatory at once, it shows as unparked.
    is_higher = _is_known_hw() & (stated > F.col(C.HIGH_WATERMARK))
    later = immediate & is_higher & (stated <= coming["high"]) & is_near(coming)
    before_it = F.greatest(last["ns"] - 1, N.HEARD_NS)
    return F.when(ahead, append["ns"] + 1).when(earlier, before_it).when(later, coming["ns"] + 1)
