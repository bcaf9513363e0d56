"""What was appended between appends: by requests whose response tells no offset, transaction markers and acks=0.

An append ends where the next one begins only if nothing came between them. A marker is one record: where as many are
known to lie between two appends as may lie there, by the times in which requests were worked on, the first ends as many
records before the second, and the markers have the offsets in between. How many records acks=0 brought nothing tells.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from sources.resolve_appends import AT, GAP, MARKERS, MAY_BE_MORE, NEXT_BASE, TERM
from sources.resolve_epochs import EARLINESS_US, LATENESS_US
from sources.silent_appends import is_marker, is_silent

_BEGINS, _SILENT_BEGINS, _ENDS, _SILENT_ENDS = range(4)
"""What happens at a point: work on an append begins, or ends, or that on a silent one. Of one time in this order."""
_LINE = (C.SOURCE_FILE, C.SOURCE_LINE, C.PRODUCER_ID)
_AFTER, _NUMBER = "after", "number"
"""bigint: base offset of the last append that had certainly ended before the marker; the marker's number after that."""


def points(appends: DataFrame) -> DataFrame:
    """One row a beginning and an end of each append in logs with silent ones, with how many silent ones had by then.

    `appends` are also those that `beginnings` are.

    Columns: `TERM`, the line, `base_offset` (NULL: silent), `us`, `does`; `after`; of `markers` and `others` how many
    had `begun` and `ended`, and `all` of the log.
    """
    silent = appends.where(is_silent())
    placed = appends.where((F.col(C.BASE_OFFSET) >= 0) & (F.col(C.LEADER_EPOCH) >= 0)).join(
        F.broadcast(silent.select(*TERM).distinct()), TERM, "left_semi"
    )
    begin_us = F.unix_micros(C.EVENT_TIME)
    end_us = begin_us + F.coalesce(C.LOCAL_TIME_US, F.lit(0))
    # Before a transaction's records are appended its coordinator is asked (KIP-890): that is no local time.
    done_us = F.when(F.col(C.IS_TRANSACTIONAL), F.greatest(end_us, F.unix_micros(C.RESPONSE_TIME))).otherwise(end_us)
    # A producer's repeat is answered with the offset of the first.
    work = F.min(F.struct((begin_us - EARLINESS_US).alias("begin"), (done_us + LATENESS_US).alias("end")))
    once = placed.groupBy(*TERM, C.BASE_OFFSET).agg(work.alias("work")).withColumn("work", _in_order_of_offsets())
    of_silent = silent.select(*TERM, *_LINE, is_marker().alias("is_marker"), _two(begin_us, end_us, _SILENT_BEGINS))
    both = once.select(
        *TERM, C.BASE_OFFSET, _two(F.col("work")["begin"], F.col("work")["end"], _BEGINS)
    ).unionByName(of_silent, allowMissingColumns=True)  # fmt: skip
    so_far = Window.partitionBy(*TERM).orderBy("us", "does").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    whole = Window.partitionBy(*TERM).rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    begins, ends = F.col("does") == _SILENT_BEGINS, F.col("does") == _SILENT_ENDS
    counts = {}
    for what, is_it in (("markers", F.col("is_marker")), ("others", ~F.col("is_marker"))):
        counts[f"{what}_begun"] = F.count_if(begins & is_it).over(so_far)
        counts[f"{what}_ended"] = F.count_if(ends & is_it).over(so_far)
        counts[f"{what}_all"] = F.count_if(begins & is_it).over(whole)
    after = F.max(F.when(F.col("does") == _ENDS, F.col(C.BASE_OFFSET))).over(so_far)
    return both.select("*", "point.*").drop("point").withColumns({**counts, _AFTER: after})


def gaps(points: DataFrame) -> DataFrame:
    """One row an append of these logs: `at`, its base offset, and `gap`, what lies between it and the next.

    A struct: `markers`, so many do; `may_be_more`, something may that cannot be counted; `next_base`, NULL after the
    last.
    """
    counted = ("markers", "others")
    at_begin = [F.max(F.when(F.col("does") == _BEGINS, F.col(f"{it}_ended"))).alias(f"{it}_ended") for it in counted]
    at_end = [F.max(F.when(F.col("does") == _ENDS, F.col(f"{it}_begun"))).alias(f"{it}_begun") for it in counted]
    totals = [F.max(f"{it}_all").alias(f"{it}_all") for it in counted]
    each = points.where(F.col(C.BASE_OFFSET).isNotNull()).groupBy(*TERM, C.BASE_OFFSET).agg(*at_begin, *at_end, *totals)
    in_order = Window.partitionBy(*TERM).orderBy(C.BASE_OFFSET)

    def by_the_next(counted: str, what: str) -> Column:
        return F.coalesce(F.lead(f"{what}_{counted}").over(in_order), f"{what}_all")

    between = each.withColumns(
        {
            "markers_may_be": by_the_next("begun", "markers") - F.col("markers_ended"),
            "markers_are": by_the_next("ended", "markers") - F.col("markers_begun"),
            "others_may_be": by_the_next("begun", "others") - F.col("others_ended"),
            NEXT_BASE: F.lead(C.BASE_OFFSET).over(in_order),
        }
    )
    may_be_more = (F.col("markers_may_be") != F.col("markers_are")) | (F.col("others_may_be") > 0)
    gap = F.struct(F.col("markers_are").alias(MARKERS), may_be_more.alias(MAY_BE_MORE), F.col(NEXT_BASE))
    return between.select(*TERM, F.col(C.BASE_OFFSET).alias(AT), gap.alias(GAP))


def with_markers(
    appends: DataFrame, begun: DataFrame, points: DataFrame, gaps: DataFrame, batches: DataFrame
) -> DataFrame:
    """The appends, markers with their offset where it is known; without those that a dump tells of better.

    `appends` have their ends, `begun` are `beginnings`, `batches` all that are known.
    """
    in_gap = Window.partitionBy(*TERM, _AFTER).orderBy("us", *_LINE)
    markers = points.where((F.col("does") == _SILENT_BEGINS) & F.col("is_marker") & F.col(_AFTER).isNotNull()).select(
        *TERM, *_LINE, _AFTER, F.row_number().over(in_gap).alias(_NUMBER)
    )
    at_base: list[Column | str] = [*TERM, F.col(C.BASE_OFFSET).alias(_AFTER), C.LAST_OFFSET]
    ended = appends.where(F.col(C.LAST_OFFSET) >= 0).select(*at_base).unionByName(begun.select(*at_base))
    before = ended.groupBy(*TERM, _AFTER).agg(F.max(C.LAST_OFFSET).alias("last"))
    gap = F.col(GAP)
    fits = gap[NEXT_BASE].isNull() | (F.col("last") + gap[MARKERS] + 1 == gap[NEXT_BASE])
    offsets = (
        markers.join(gaps.withColumnRenamed(AT, _AFTER), [*TERM, _AFTER])
        .join(before, [*TERM, _AFTER])
        .where(~gap[MAY_BE_MORE] & fits)
        .select(*TERM, *_LINE, (F.col("last") + F.col(_NUMBER)).alias("offset_of_marker"))
    )
    dumped = batches.where(F.col(C.LEADER_EPOCH) >= 0).select(*TERM, F.col(C.BASE_OFFSET).alias("offset_of_marker"))
    known = offsets.join(dumped.distinct().withColumn("is_dumped", F.lit(True)), [*TERM, "offset_of_marker"], "left")
    # As many as there are transactions: too many to be sent to every task, for all that is known.
    placed = appends.join(known, [*TERM, *_LINE], "left").where(F.col("is_dumped").isNull())
    at_offset: dict[str, Column] = {c: F.coalesce("offset_of_marker", c) for c in (C.BASE_OFFSET, C.LAST_OFFSET)}
    return placed.withColumns(at_offset).select(*appends.columns)


def _in_order_of_offsets() -> Column:
    """When an append was worked on: not before those of lower offsets, and no longer than those of higher ones."""
    by_offset = Window.partitionBy(*TERM).orderBy(C.BASE_OFFSET)
    not_before = F.max(F.col("work")["begin"]).over(by_offset.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    no_longer = F.min(F.col("work")["end"]).over(by_offset.rowsBetween(Window.currentRow, Window.unboundedFollowing))
    return F.struct(not_before.alias("begin"), no_longer.alias("end"))


def _two(begin_us: Column, end_us: Column, begins: int) -> Column:
    """The points at which the work begins and ends, a row each."""
    each = (
        F.struct(us.alias("us"), F.lit(does).alias("does")) for us, does in ((begin_us, begins), (end_us, begins + 2))
    )
    return F.explode(F.array(*each)).alias("point")
