"""Who may have been caught up: a follower's fetch and an append that the leader worked on at the same time.

A fetch counts as caught up if it is at the LEO the leader had when it began to read (`Partition.readRecords`, P:1514),
though an append may come in between and its records go out with the same response. Which was first no line tells; a
leader that was frozen and thaws has seconds of such requests. It matters for the lag time after: a replica caught up
then holds the HW, outside the ISR too (P:1164). The responses tell: they carry the HW it held, or one beyond. Where
none does, the HW is bounded between both.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import follows
from replay.event_types import is_event
from replay.high_watermark import risen
from replay.in_sync import is_eligible, now_ms
from replay.names import NS_PER_US, slot_column
from replay.order.clock import CLOCK_ERROR_US
from replay.profile import Profile
from replay.windows import before, carried, following, place, so_far
from schemas import columns as C
from schemas.columns import NO_BOUND
from schemas.kinds import EventType

_MAY_BE = "may_be_caught_up_ms"
_ROSE, _ROSE_BEFORE, _WAITED, _WAITED_BEFORE = "rose", "rose_before", "waited", "waited_before"
"""bigint: HW after the event, and before it, if no doubtful fetch was caught up; the same if each was."""
_PARTED = "parted"
"""struct: where the two had last parted before the event, and the HW to which it then rose if it did not wait."""


def with_proof_of_catching_up(states: DataFrame, slots: int, profile: Profile, start: Column) -> DataFrame:
    """Return the leaders' events with `is_proven_caught_up`: the first response that can tell says the HW waited.

    And with `high_watermark_if_waited`: what it then was, where no response says that it was more. `states` are those
    of `leader_states`, `start` the least HW the leadership began with.
    """
    both = _with_both(_with_doubts(states), slots, profile, start)
    told = F.when(_is_answered() & ~F.col(C.IS_PARKED), F.col(C.RESPONSE_HIGH_WATERMARK))
    words = {"word": following("said"), "told": F.max(told).over(so_far())}
    heard = both.withColumn("said", _said()).withColumns(words)
    word, least = F.col("word"), F.greatest(_WAITED, "told")
    # The response tells of a rise in the lag time after the fetch.
    proven = F.col("is_doubtful") & word["waited"] & (word["ms"] - now_ms()).between(0, profile.lag_time_ms)
    rose = F.coalesce(~word["waited"] & (word["least"] < F.col(_ROSE)), F.lit(False))
    made = {
        N.IS_PROVEN_CAUGHT_UP: proven,
        N.HW_IF_WAITED: F.when((least < F.col(_ROSE)) & ~rose, least).otherwise(NO_BOUND),
    }
    worked_with = (_ROSE, _ROSE_BEFORE, _WAITED, _WAITED_BEFORE, _PARTED, "is_doubtful", "said", "word", "told")
    return heard.withColumns(made).drop(*worked_with)


def _said() -> Column:
    """Return what a response says: whether the HW waited when it would have risen else, when that was; the least HW.

    One from purgatory carries the HW of when it was answered: a lower one tells, a higher one may have come meanwhile.
    """
    told, parted = F.col(C.RESPONSE_HIGH_WATERMARK), F.col(_PARTED)
    # So near to the rise the fetch may as well have come before it.
    after = F.col(N.ORDER_NS) - parted["ns"] > CLOCK_ERROR_US * NS_PER_US
    waited = F.when((told < parted["rose"]) & after, F.lit(True)).when(
        ~F.col(C.IS_PARKED) & (told >= F.col(_ROSE_BEFORE)), F.lit(False)
    )
    can_tell = _is_answered() & (F.col(_WAITED_BEFORE) < F.col(_ROSE_BEFORE)) & waited.isNotNull()
    parted_ms = F.call_function("div", parted["ns"], F.lit(1_000_000)).alias("ms")
    return F.when(can_tell, F.struct(waited.alias("waited"), parted_ms, F.col(_WAITED_BEFORE).alias("least")))


def _is_answered() -> Column:
    """Return whether the event is a fetch whose response carries a HW."""
    return is_event(EventType.FETCH) & (F.col(C.ERROR_CODE) == 0) & (F.col(C.RESPONSE_HIGH_WATERMARK) >= 0)


def _with_doubts(states: DataFrame) -> DataFrame:
    """Return the events with `is_doubtful`: the fetch is not behind where the log ended before an append in work."""
    appended = is_event(EventType.APPEND)
    ended = F.struct(
        F.col("leo_before").alias("leo"), (F.col(N.ORDER_NS) + F.col(N.LOCAL_US) * NS_PER_US).alias("until_ns")
    )
    behind = states.withColumn("leo_before", F.lag(C.LOG_END_OFFSET).over(place()))
    appends = behind.withColumn("append", carried(F.when(appended, ended), so_far()))
    is_there = F.col(C.FETCH_OFFSET) >= F.col("append")["leo"]
    doubtful = is_event(EventType.FETCH) & is_there & (F.col("append")["until_ns"] >= F.col(N.ORDER_NS))
    return appends.withColumn("is_doubtful", doubtful).drop("leo_before", "append")


def _with_both(doubted: DataFrame, slots: int, profile: Profile, start: Column) -> DataFrame:
    """Return the events with the HW if no doubtful fetch was caught up, if each was, and where the two parted."""
    may_be = {
        slot_column(_MAY_BE, i): F.max(F.when(F.col("is_doubtful") & (F.col(N.SLOT) == i), now_ms())).over(so_far())
        for i in range(slots)
    }
    waits = F.lit(0)
    for i in range(slots):
        recent = now_ms() - F.col(slot_column(_MAY_BE, i)) <= profile.lag_time_ms
        waits = waits.bitwiseOR(F.when(follows(i) & recent & is_eligible(i, profile), 1 << i).otherwise(0))
    waiting = doubted.withColumns(may_be).withColumn("waits", waits.bitwiseOR(F.col(N.JOINING_MASK)))
    risen_if = risen(slots, profile, F.col("waits"))
    both = waiting.withColumns(
        {
            _ROSE: F.greatest(N.RISEN_TO, start),
            _ROSE_BEFORE: F.greatest(N.RISEN_BEFORE, start),
            _WAITED: F.greatest(risen_if[N.RISEN_TO], start),
            _WAITED_BEFORE: F.greatest(risen_if[N.RISEN_BEFORE], start),
        }
    )
    parts = (F.col(_WAITED) < F.col(_ROSE)) & (F.col(_WAITED_BEFORE) >= F.col(_ROSE_BEFORE))
    where = F.when(parts, F.struct(F.col(N.ORDER_NS).alias("ns"), F.col(_ROSE).alias("rose")))
    return both.withColumn(_PARTED, carried(where, before())).drop("waits", *may_be)
