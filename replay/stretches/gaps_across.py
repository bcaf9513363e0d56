"""Requests that are missing just where a history is cut: they bound the HW since the one before.

However long ago that was (`replay.states.unheard`), and though their replica has left the ISR since, so that no state
at the cut shows it.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.going_on.standing import FETCHER
from replay.partitions import of_partitions
from replay.states.unheard import is_broken_between
from replay.stretches.cut import FROM_US
from replay.stretches.requests import SECOND_US, second_of
from schemas import columns as C

_SESSION = (*FETCHER, C.SESSION_ID)


def gaps_across(fetched: DataFrame, until_us: int | Column) -> DataFrame:
    """One row per follower of which requests are missing across a moment, and that asked for more after them.

    `fetched` are the fetches of a tail (`replay.going_on.tail`).
    """
    is_before = F.col(C.EVENT_TIME) <= F.timestamp_micros(F.lit(until_us))
    ends = _in_sessions(fetched).groupBy(*_SESSION).agg(
        F.max(F.when(is_before, _asked())).alias("last"), F.min(F.when(~is_before, _asked())).alias("then")
    )  # fmt: skip
    return ends.where(_is_gap()).select(*FETCHER)


def gaps_across_cuts(fetched: DataFrame, cut: DataFrame) -> DataFrame:
    """One row per follower of which requests are missing across a cut, and that asked for more after them.

    `fetched` are all fetches, `cut` is `cut.stretches`. They are looked at by the second first: a window over all
    would sort them.
    """
    hot = of_partitions(_in_sessions(fetched), cut)
    second = second_of(F.unix_micros(C.EVENT_TIME)).alias("second")
    each = hot.groupBy(*_SESSION, second).agg(F.max(_asked()).alias("latest"), F.min(_asked()).alias("then"))
    along = Window.partitionBy(*_SESSION).orderBy("second")
    known = each.withColumns({"last": F.lag("latest").over(along), "since": F.lag("second").over(along)})
    begins = cut.select(*C.PARTITION_KEY, (F.col(FROM_US) / SECOND_US).alias("at"))
    crossed = known.where(_is_gap()).join(F.broadcast(begins), C.on_partition())
    return crossed.where(F.col("at").between(F.col("since"), F.col("second"))).select(*FETCHER)


def _in_sessions(fetched: DataFrame) -> DataFrame:
    """Return the followers' fetches that have a number in their session."""
    return fetched.where((F.col(C.REPLICA_ID) >= 0) & (F.col(C.SESSION_ID) > 0) & (F.col(C.SESSION_EPOCH) >= 0))


def _asked() -> Column:
    return F.struct(C.SESSION_EPOCH, C.SESSION_UNBROKEN_SINCE, C.FETCH_OFFSET)


def _is_gap() -> Column:
    """Return whether requests are missing between `last` and `then`, which asks for more."""
    last, then = F.col("last"), F.col("then")
    return is_broken_between(last[C.SESSION_EPOCH], then) & (then[C.FETCH_OFFSET] > last[C.FETCH_OFFSET])
