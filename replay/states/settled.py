"""What an earlier replay has settled by a moment: a replay of the tail alone goes on from there.

Within a leadership the HW is the greatest of its start and of what it rose to; to what comes after a moment the HW at
that moment is as good a start. The number of an event is its place: the last one's says where to count on from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_public
from replay.events.leaderships import STATED_HW
from replay.sequence import incarnation_of
from replay.states.begins import BEGUN, begin_state, begins
from replay.states.highest_before import BY_EPOCH, highest_by_epoch, highest_where, is_earlier
from schemas import columns as C
from schemas.kinds import EventType, Exactness

SETTLED_HW = "settled_high_watermark"
"""bigint: the HW of the leadership at the moment; NULL where it began later."""
SETTLED_LOG_START = "settled_log_start_offset"
"""bigint: likewise the log start; NULL also where it is unknown."""
SETTLED_IS_STATED = "settled_is_stated"
"""boolean: it is still the start that a broker stated."""
RISEN_BY_THEN = "risen_by_then"
"""bigint: the HW at the moment from which on the tail has every request, where it had risen by then; else NULL."""
LAST_SEQ = "last_seq"
"""bigint: event_seq of the leadership's last event by then."""
LAST_AT = "last_at"
"""timestamp: when that was."""

_LEADERSHIP = (C.LEADER_EPOCH, N.INCARNATION)


@dataclass(frozen=True)
class Settled:
    """What stands, of one cluster, and may not change any more."""

    until_us: int | Column
    """The moment, microseconds since the epoch, on every leader's own clock; one for each cluster, if a column."""
    since_us: int | Column
    """From when on every request is in the tail that is replayed; before the moment."""
    leaderships: DataFrame
    """`settled_leaderships`."""
    requests: Mapping[str, DataFrame]
    """`produce_events` and `fetch_events` as landed: a transaction that is open may have begun long before the tail
    (`unfinished`), and the HW with which its LSO was told may have stood since."""

    def has(self, time: str) -> Column:
        """Return whether a time (a timestamp column) is not after the moment."""
        return up_to(self.until_us, time)


def up_to(until_us: int | Column, time: str) -> Column:
    """Return whether a time (a timestamp column) is not after a moment."""
    return F.col(time) <= F.timestamp_micros(F.lit(until_us))


def settled_leaderships(leader_timeline: DataFrame, since_us: int | Column) -> DataFrame:
    """One row per leadership in `leader_timeline` (its rows up to a moment): what is said of the columns above.

    `since_us` is from when on the tail has every request.
    """
    # An undecided order shows the lower of two HWs, and a witness is stated whatever the start was.
    exact = F.col(C.EXACTNESS) == Exactness.EXACT.value
    stated = (F.col(C.EXACTNESS) == Exactness.STATED.value) & (F.col(C.EVENT_TYPE) != EventType.WITNESS.value)
    by_then = F.max(F.when(up_to(since_us, C.EVENT_TIME), F.col(C.HIGH_WATERMARK)))
    started = F.min_by(C.HIGH_WATERMARK, C.EVENT_SEQ)
    numbered = leader_timeline.withColumn(N.INCARNATION, incarnation_of(C.EVENT_SEQ))
    # By themselves: a struct among the aggregates of all rows would have Spark sort these.
    begun = numbered.where(begins()).groupBy(*C.PARTITION_KEY, *_LEADERSHIP).agg(
        F.max_by(begin_state(), C.EVENT_SEQ).alias(BEGUN)
    )  # fmt: skip
    came_to = (
        numbered.groupBy(*C.PARTITION_KEY, *_LEADERSHIP)
        .agg(
            F.max(C.EVENT_SEQ).alias(LAST_SEQ),
            F.max_by(C.EVENT_TIME, C.EVENT_SEQ).alias(LAST_AT),
            F.max(C.HIGH_WATERMARK).alias(SETTLED_HW),
            F.max(F.when(F.col(C.LOG_START_OFFSET) >= 0, F.col(C.LOG_START_OFFSET))).alias(SETTLED_LOG_START),
            F.when(by_then > started, by_then).alias(RISEN_BY_THEN),
            F.max(F.when(exact, F.col(C.EVENT_SEQ))).alias("exact_seq"),
            F.max(F.when(stated, F.col(C.EVENT_SEQ))).alias("stated_seq"),
            F.max(F.when(stated, F.col(C.HIGH_WATERMARK))).alias("stated_hw"),
        )
        # It is what was stated, and no event has borne it out since.
        .withColumn("is_last", F.col("stated_seq") > F.coalesce("exact_seq", F.lit(0)))
        .withColumn(SETTLED_IS_STATED, F.coalesce(F.expr(f"is_last AND stated_hw = {SETTLED_HW}"), F.lit(False)))
        .drop("exact_seq", "stated_seq", "stated_hw", "is_last")
    )
    return came_to.join(F.broadcast(begun), C.on_partition(*_LEADERSHIP), "left")


def with_risen(begun: DataFrame, settled: Settled) -> DataFrame:
    """Return the leaderships, each whose HW had risen before the tail as if its line stated that one.

    Where nothing in the tail raises it so far again (the ISR is too small since long ago) its next rise would begin
    below, and evidence would move across it whoever was told the HW before.
    """
    risen = settled.leaderships.select(*C.PARTITION_KEY, *_LEADERSHIP, RISEN_BY_THEN)
    known = begun.join(F.broadcast(risen), C.on_partition(C.LEADER_EPOCH, N.INCARNATION), "left")
    return known.withColumn(STATED_HW, F.greatest(STATED_HW, RISEN_BY_THEN)).drop(RISEN_BY_THEN)


def with_settled(begun: DataFrame, settled: Settled | None) -> DataFrame:
    """Return the leaderships with their HW and log start at the moment, NULL where nothing is settled."""
    if settled is None:
        unsettled = {name: F.lit(None).cast("bigint") for name in (SETTLED_HW, SETTLED_LOG_START)}
        return begun.withColumns({**unsettled, SETTLED_IS_STATED: F.lit(None).cast("boolean")})
    stood = settled.leaderships.select(*C.PARTITION_KEY, *_LEADERSHIP, SETTLED_HW, SETTLED_LOG_START, SETTLED_IS_STATED)
    return begun.join(F.broadcast(stood), C.on_partition(C.LEADER_EPOCH, N.INCARNATION), "left")


def since_then(cuts: DataFrame, settled: Settled, *, has_own_epoch: bool) -> DataFrame:
    """Return the truncations that the tail shows as everything does, with the highest HW that is settled in mind.

    That is of earlier epochs, and of a cut's own where its place among the leader's events is known.
    """
    settled_by_epoch = F.broadcast(highest_by_epoch(settled.leaderships, SETTLED_HW))
    known = cuts.where(~up_to(settled.since_us, C.EVENT_TIME)).join(settled_by_epoch, C.on_partition(), "left")
    highest = highest_where(lambda it: is_earlier(it, has_own_epoch))
    before = F.greatest(C.PARTITION_HIGH_WATERMARK_BEFORE, highest)
    return known.withColumn(C.PARTITION_HIGH_WATERMARK_BEFORE, before).drop(BY_EPOCH)


def numbered_on(states: DataFrame, settled: Settled, assigned: DataFrame) -> DataFrame:
    """Return the tail's states with the `event_seq` they have in a replay of everything.

    The last public event up to the moment is the same in both; `replay.going_on.unlike.unlike` tells where it is not.
    """
    moment = F.expr(N.ORDER_US) <= settled.until_us
    # With their partition's key: the moment may be one for each cluster.
    named = states.where(is_public()).join(F.broadcast(assigned), N.PARTITION_NUMBER)
    counted = named.where(moment).groupBy(*N.LEADERSHIP).agg(F.max(C.EVENT_SEQ).alias("counted"))
    stood = settled.leaderships.join(assigned, C.on_partition()).select(N.PARTITION_NUMBER, *_LEADERSHIP, LAST_SEQ)
    both = counted.join(stood, [N.PARTITION_NUMBER, *_LEADERSHIP])
    ahead = both.select(*N.LEADERSHIP, (F.col(LAST_SEQ) - F.col("counted")).alias("ahead"))
    shifted = F.col(C.EVENT_SEQ) + F.coalesce("ahead", F.lit(0))
    return states.join(F.broadcast(ahead), [*N.LEADERSHIP], "left").withColumn(C.EVENT_SEQ, shifted).drop("ahead")
