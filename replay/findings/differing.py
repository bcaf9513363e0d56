"""Differing records: from when on a new leader had other records than a replica, and how many before that cut its own.

A leader that is elected with less than another replica has differs from it with its next append, not before: what a
follower cuts until then was its alone.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings.spans import SPAN
from schemas import columns as C

BEGIN, END = "begin", "end"
"""bigint: the offsets at which a replica's log and that of a leadership had other records."""
_DIFFERS_AT, _REACHED = "differs_at", "reached"


def with_differing(apart: DataFrame, leader_timeline: DataFrame, whose: str) -> DataFrame:
    """Return the rows in which both had records at once: since an append beyond `begin`, and up to the LEO at the cut.

    `apart` has a row per leadership and replica `whose`, that ended at `ended_at` if it did. What is known between
    bounds may have been appended. The times are of two clocks, as both tell them.
    """
    one = (*SPAN, whose)
    longest = F.greatest(C.LOG_END_OFFSET, C.LOG_END_OFFSET_HIGH)
    is_until = F.col(C.ENDED_AT).isNull() | (F.col(C.EVENT_TIME) <= F.col(C.ENDED_AT))
    told = (
        leader_timeline.select(*C.EPOCH_KEY, C.EVENT_TIME, longest.alias("longest"))
        .join(F.broadcast(apart.select(*one, BEGIN, C.ENDED_AT)), C.on_partition(C.LEADER_EPOCH))
        .groupBy(*one)
        .agg(
            F.min(F.when(F.col("longest") > F.col(BEGIN), F.col(C.EVENT_TIME))).alias(_DIFFERS_AT),
            F.max(F.when(is_until, F.col("longest"))).alias(_REACHED),
        )
    )
    known = apart.join(told, [*map(str, one)], "left").withColumns(
        {END: F.least(END, _REACHED), C.STARTED_AT: F.greatest(C.STARTED_AT, _DIFFERS_AT)}
    )
    return known.where(F.col(BEGIN) < F.col(END)).drop(_DIFFERS_AT, _REACHED)
