"""Whom a leader may have waited for when its request log goes on after a silence (`replay.events.silence`).

A replica outside the ISR holds the HW while it was caught up within the lag time (P:1164), and the fetch that made it
so may be one of those that are lost. Until the lag time has gone by, the HW surely rose to what is proven alone.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import follows, in_mask
from replay.event_types import is_event
from replay.in_sync import now_ms
from replay.names import slot_column
from replay.profile import Profile
from replay.windows import so_far
from schemas import columns as C
from schemas.kinds import EventType

_SILENCES = "silences"


def with_heard_again(states: DataFrame) -> DataFrame:
    """Return the events with `heard_again_ms`: the first answer since the last silence; NULL where there was none.

    A line is written when a request is answered: of those that came with the first one some were answered before it.
    """
    counted = states.withColumn(_SILENCES, F.count_if(is_event(N.SILENCE)).over(so_far()))
    is_since = is_event(EventType.APPEND, EventType.FETCH) & (F.col(_SILENCES) > 0)
    answered_ms = F.expr(f"coalesce({N.RESPONSE_US}, {N.EVENT_US}) div 1000")
    first = F.max(F.when(is_since, F.struct(_SILENCES, (-answered_ms).alias("ms")))).over(so_far())
    return counted.withColumn(N.HEARD_AGAIN_MS, -first["ms"]).drop(_SILENCES)


def may_wait_unseen(slots: int, profile: Profile) -> Column:
    """Return whether a replica may hold the HW by a fetch that is lost: it is behind, and not known to be fenced."""
    fenced = F.when(F.lit(profile.eligibility), F.coalesce(N.FENCED_MASK, F.lit(0))).otherwise(0)
    outside = F.col(N.ASSIGNED_MASK).bitwiseAND(F.bitwise_not(F.col(N.HELD_MASK).bitwiseOR(fenced)))
    someone = F.lit(False)
    for i in range(slots):
        is_behind = F.col(slot_column(C.REMOTE_LEO, i)) < F.col(C.LOG_END_OFFSET)
        someone = someone | (follows(i) & in_mask(outside, i) & is_behind)
    return F.coalesce(someone & (now_ms() - F.col(N.HEARD_AGAIN_MS) <= profile.lag_time_ms), F.lit(False))
