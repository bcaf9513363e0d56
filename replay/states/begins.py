"""How leaderships begin: what their first rows show follows from lines of whatever time, and may be otherwise by news.

What is first told of a setting was in force before, an epoch of which two leaders tell is nobody's, and where no line
states the LEO its first append does.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.events.leaderships import STATED_LEO
from replay.sequence import incarnation_of
from schemas import columns as C
from schemas.kinds import EventType, Exactness

BEGUN = "begun"
"""struct: `begin_state` of a leadership's BECOME_LEADER; NULL without one."""
_LEADERSHIP = (*C.EPOCH_KEY, N.INCARNATION)


def begins() -> Column:
    """Return whether a row of `leader_timeline` is the begin of a leadership."""
    return F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value


def begin_state() -> Column:
    """Return what a begin shows that no request tells, but for the first append.

    Bounded without bounds is a leadership of which lines contradict each other.
    """
    is_low = F.col(C.HIGH_WATERMARK_LOW) < F.col(C.HIGH_WATERMARK_HIGH)
    is_short = F.col(C.LOG_END_OFFSET_LOW) < F.col(C.LOG_END_OFFSET_HIGH)
    is_contested = (F.col(C.EXACTNESS) == Exactness.BOUNDED.value) & ~is_low & ~is_short
    return F.struct(C.LEADER_ID, C.LOG_END_OFFSET, C.ISR, C.MIN_ISR, is_contested.alias("is_contested"))


def other_begins(tail: DataFrame, settled: DataFrame) -> DataFrame:
    """One row per leadership that begins otherwise than it did: its partition's key.

    `tail` is the leaders' timeline of what is replayed, `settled` is `settled.settled_leaderships`.
    """
    number = incarnation_of(C.EVENT_SEQ).alias(N.INCARNATION)
    found = tail.where(begins()).select(*C.EPOCH_KEY, number, begin_state().alias("found"))
    stood = settled.where(F.col(BEGUN).isNotNull()).select(*_LEADERSHIP, BEGUN)
    both = stood.join(found, [*map(str, _LEADERSHIP)], "left")
    return both.where(~F.col("found").eqNullSafe(F.col(BEGUN))).select(*C.PARTITION_KEY)


def begun_anew_untold(begun: DataFrame) -> DataFrame:
    """One row per leadership of a process that kept its epoch and of which no line states the LEO: its partition's key.

    Where its first append begins tells; a stretch of a hot partition knows, of those before it, the epoch's first.
    `begun` is `leaderships.leaderships`.
    """
    return begun.where((F.col(N.INCARNATION) > 0) & F.col(STATED_LEO).isNull()).select(*C.PARTITION_KEY)
