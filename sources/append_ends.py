"""Where the appends of a delivery ended, also where what came between them has no offset in any response.

`resolve_appends` has the rule for an append and the next place where a batch begins or ends, `silent_appends` what has
no offset, and `between_appends` where that lies; this is the order in which they are asked.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources.between_appends import gaps, points, with_markers
from sources.parsed import settled
from sources.resolve_appends import TERM, with_last_offset
from sources.resolve_epochs import BEGINS_AT, begins
from sources.silent_appends import beginnings, is_silent

_PARTITION = TERM[:-1]


def with_ends(appends: DataFrame, statements: DataFrame, batches: DataFrame, ends: DataFrame) -> DataFrame:
    """The appends with `last_offset`, -1 where nothing tells it, and markers with their offset where it is known.

    `statements` and `batches` are all that are known, `ends` as `resolve_appends.batch_ends` has them. A marker that
    a dump tells of is left out: its batch is a row of its own.
    """
    ended = _ended(appends, statements, batches, ends)
    begun = begins(statements, _PARTITION)
    if appends.join(begun, TERM).where(_is_repeat()).isEmpty():
        return ended
    return _with_ends_of_repeats(settled(ended.join(F.broadcast(begun), TERM, "left")), batches).select(*ended.columns)


def _ended(appends: DataFrame, statements: DataFrame, batches: DataFrame, ends: DataFrame) -> DataFrame:
    """The appends with their last offsets, as far as batches and later appends tell; and transactions' markers."""
    if appends.where(is_silent()).isEmpty():
        return with_last_offset(appends, batches, ends)
    begun = settled(beginnings(appends, statements))
    begun_and_ended = settled(points(appends.unionByName(begun, allowMissingColumns=True)))
    between = settled(gaps(begun_and_ended))
    ended = settled(with_last_offset(appends, batches, ends, between))
    return with_markers(ended, begun, begun_and_ended, between, batches)


def _is_repeat() -> Column:
    """Whether a producer asked again, in a later epoch: it is answered with the offset of the first (KIP-98)."""
    return (F.col(C.BASE_OFFSET) >= 0) & (F.col(C.BASE_OFFSET) < F.col(BEGINS_AT))


def _with_ends_of_repeats(ended: DataFrame, batches: DataFrame) -> DataFrame:
    """The appends, repeats with the end of what they repeat: of the last epoch before theirs that has its offset."""
    place = [*_PARTITION, str(C.BASE_OFFSET)]
    told = F.struct(C.LEADER_EPOCH, C.LAST_OFFSET).alias("original")
    of_requests = ended.where(~F.coalesce(_is_repeat(), F.lit(False)) & (F.col(C.LAST_OFFSET) >= 0))
    known = of_requests.select(*place, told).unionByName(batches.select(*place, told))
    originals = known.groupBy(*place).agg(F.array_sort(F.collect_set("original")).alias("originals"))
    before = F.filter("originals", lambda one: one[C.LEADER_EPOCH] < F.col(C.LEADER_EPOCH))
    last = F.coalesce(F.try_element_at(before, F.lit(-1))[C.LAST_OFFSET], F.lit(C.UNKNOWN_OFFSET))
    told_end = F.when(_is_repeat(), last).otherwise(F.col(C.LAST_OFFSET))
    return ended.join(originals, place, "left").withColumn(C.LAST_OFFSET, told_end)
