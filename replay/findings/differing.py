"""Differing records: from when on a new leader had other records than a replica, and how many before that cut its own.

A leader that is elected with less than another replica has differs from it with its next append, not before: what a
follower cuts until then was its alone.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.findings.spans import SPAN
from schemas import columns as C

BEGIN, END = "begin", "end"
"""bigint: the offsets at which a replica's log and that of a leadership had other records."""
KEPT = "kept"
"""array<struct<until,up_to>>: cuts of the replica that left some of its records, oldest first."""
_DIFFERS_AT, _REACHED = "differs_at", "reached"


def kept(cuts: str) -> Column:
    """Return `KEPT` of the replica's cuts, an array<struct<leader_epoch,event_time,to_offset>>; NULL is none.

    They are those since the leadership to more than `begin`, and not after `ended_at`.
    """

    def is_in_part(it: Column) -> Column:
        is_since = (it[C.LEADER_EPOCH] >= F.col(C.LEADER_EPOCH)) & (it[C.TO_OFFSET] > F.col(BEGIN))
        return is_since & ~F.coalesce(it[C.EVENT_TIME] > F.col(C.ENDED_AT), F.lit(False))

    in_part = F.filter(cuts, is_in_part)
    each = F.transform(in_part, lambda it: F.struct(it[C.EVENT_TIME].alias("until"), it[C.TO_OFFSET].alias("up_to")))
    return F.array_sort(F.coalesce(each, F.expr("cast(array() AS array<struct<until: timestamp, up_to: bigint>>)")))


def with_differing(apart: DataFrame, leader_timeline: DataFrame, whose: str) -> DataFrame:
    """Return the rows in which both had records at once: since an append beyond `begin`, and up to the LEO at the cut.

    `apart` has a row per leadership and replica `whose`, that ended at `ended_at` if it did, with `KEPT`. What is known
    between bounds may have been appended. The times are of two clocks, as both tell them.
    """
    one = (*SPAN, whose)
    longest = F.greatest(C.LOG_END_OFFSET, C.LOG_END_OFFSET_HIGH)
    is_until = F.col("until").isNull() | (F.col(C.EVENT_TIME) <= F.col("until"))
    parts = apart.select(*one, BEGIN, F.explode(_parts()).alias("part")).select(*one, BEGIN, "part.*")
    told = (
        leader_timeline.select(*C.EPOCH_KEY, C.EVENT_TIME, longest.alias("longest"))
        .join(F.broadcast(parts), C.on_partition(C.LEADER_EPOCH))
        .groupBy(*one, "until", "up_to")
        .agg(
            F.min(F.when(F.col("longest") > F.col(BEGIN), F.col(C.EVENT_TIME))).alias(_DIFFERS_AT),
            F.max(F.when(is_until, F.least("longest", "up_to"))).alias(_REACHED),
        )
        .groupBy(*one)
        .agg(F.min(_DIFFERS_AT).alias(_DIFFERS_AT), F.max(_REACHED).alias(_REACHED))
    )
    known = apart.join(told, [*map(str, one)], "left").withColumns(
        {END: F.least(END, _REACHED), C.STARTED_AT: F.greatest(C.STARTED_AT, _DIFFERS_AT)}
    )
    return known.where(F.col(BEGIN) < F.col(END)).drop(_DIFFERS_AT, _REACHED)


def _parts() -> Column:
    """Return how much of its own the replica had until when, array<struct<until,up_to>>.

    Of what has not ended that is what it still has: the rest was cut, and does not differ any more.
    """
    cuts = F.col(KEPT)
    up_to = F.concat(F.array(END), F.transform(cuts, lambda it: it["up_to"]))
    until = F.concat(F.transform(cuts, lambda it: it["until"]), F.array(C.ENDED_AT))
    # What it fetched between two cuts is not its own.
    least = F.transform(up_to, lambda _, place: F.array_min(F.slice(up_to, 1, place + 1)))
    parts = F.zip_with(until, least, lambda at, offset: F.struct(at.alias("until"), offset.alias("up_to")))
    return F.when(F.col(C.ENDED_AT).isNull(), F.slice(parts, -1, 1)).otherwise(parts)
