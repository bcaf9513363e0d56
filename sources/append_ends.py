"""Where the appends of a delivery ended, also where what came between them has no offset in any response.

`resolve_appends` has the rule for an append and the next place where a batch begins or ends, `silent_appends` what has
no offset, and `between_appends` where that lies; this is the order in which they are asked.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from sources.between_appends import gaps, points, with_markers
from sources.parsed import settled
from sources.resolve_appends import with_last_offset
from sources.silent_appends import beginnings, is_silent


def with_ends(appends: DataFrame, statements: DataFrame, batches: DataFrame, ends: DataFrame) -> DataFrame:
    """The appends with `last_offset`, -1 where nothing tells it, and markers with their offset where it is known.

    `statements` and `batches` are all that are known, `ends` as `resolve_appends.batch_ends` has them. A marker that
    a dump tells of is left out: its batch is a row of its own.
    """
    if appends.where(is_silent()).isEmpty():
        return with_last_offset(appends, batches, ends)
    begun = settled(beginnings(appends, statements))
    begun_and_ended = settled(points(appends.unionByName(begun, allowMissingColumns=True)))
    between = settled(gaps(begun_and_ended))
    ended = settled(with_last_offset(appends, batches, ends, between))
    return with_markers(ended, begun, begun_and_ended, between, batches)
