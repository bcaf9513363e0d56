"""Who may have been caught up: a follower's fetch and an append that the leader worked on at the same time.

A fetch counts as caught up if it is at the LEO the leader had when it began to read (`Partition.readRecords`, P:1514),
though an append may come in between and its records go out with the same response. Which was first no line tells; a
leader that was frozen and thaws has seconds of such requests. It matters for the lag time after: a replica caught up
then holds the HW, outside the ISR too (P:1164). The responses tell: they carry the HW it held, or one beyond.
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
from replay.profile import Profile
from replay.windows import carried, following, place, so_far
from schemas import columns as C
from schemas.kinds import EventType

_MAY_BE, _IF_WAITED = "may_be_caught_up_ms", "risen_if_waited"


def with_proof_of_catching_up(states: DataFrame, slots: int, profile: Profile, start: Column) -> DataFrame:
    """Return the leaders' events with `is_proven_caught_up`: the first response that can tell says the HW waited.

    `states` are those of `leader_states`, `start` the least HW the leadership began with.
    """
    waited = _if_waited(_with_doubts(states), slots, profile)
    narrow, wide = F.greatest(F.col(N.RISEN_BEFORE), start), F.greatest(F.col(_IF_WAITED), start)
    told = F.col(C.RESPONSE_HIGH_WATERMARK)
    at_once = is_event(EventType.FETCH) & ~F.col(C.IS_PARKED) & (F.col(C.ERROR_CODE) == 0)
    can_tell = at_once & (told >= 0) & (wide < narrow)
    says = F.when(told <= wide, F.lit(True)).when(told >= narrow, F.lit(False))
    word = F.when(can_tell & says.isNotNull(), F.struct(says.alias("waited"), now_ms().alias("ms")))
    heard = waited.withColumn("said", word).withColumn("word", following("said"))
    in_time = F.col("word")["ms"] - now_ms() <= profile.lag_time_ms
    proven = F.col("is_doubtful") & F.col("word")["waited"] & in_time
    return heard.withColumn(N.IS_PROVEN_CAUGHT_UP, proven).drop("is_doubtful", "said", "word", _IF_WAITED)


def _with_doubts(states: DataFrame) -> DataFrame:
    """Return the events with `is_doubtful`: the fetch is not behind where the log ended before an append in work."""
    appended = is_event(EventType.APPEND)
    ended = F.struct(
        F.col("leo_before").alias("leo"), (F.col(N.ORDER_NS) + F.col(N.LOCAL_US) * NS_PER_US).alias("until_ns")
    )
    before = states.withColumn("leo_before", F.lag(C.LOG_END_OFFSET).over(place()))
    appends = before.withColumn("append", carried(F.when(appended, ended), so_far()))
    is_there = F.col(C.FETCH_OFFSET) >= F.col("append")["leo"]
    doubtful = is_event(EventType.FETCH) & is_there & (F.col("append")["until_ns"] >= F.col(N.ORDER_NS))
    return appends.withColumn("is_doubtful", doubtful).drop("leo_before", "append")


def _if_waited(doubted: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the events with how far the HW had risen before each if every doubtful fetch was caught up."""
    may_be = {
        slot_column(_MAY_BE, i): F.max(F.when(F.col("is_doubtful") & (F.col(N.SLOT) == i), now_ms())).over(so_far())
        for i in range(slots)
    }
    waits = F.lit(0)
    for i in range(slots):
        recent = now_ms() - F.col(slot_column(_MAY_BE, i)) <= profile.lag_time_ms
        waits = waits.bitwiseOR(F.when(follows(i) & recent & is_eligible(i, profile), 1 << i).otherwise(0))
    waiting = doubted.withColumns(may_be).withColumn("waits", waits.bitwiseOR(F.col(N.JOINING_MASK)))
    return waiting.withColumn(_IF_WAITED, risen(slots, profile, F.col("waits"))[N.RISEN_BEFORE]).drop("waits", *may_be)
