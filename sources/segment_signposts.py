"""Signposts of a dump of segments: the headers between the batches, which alone may tell whose a batch is.

Dumping /data/orders-0/00000000000000000000.log
Log starting offset: 0
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from sources.partition_names import FILE_NAME, FOLDER, HEADER

INDEX = r"^Dumping .*\.(?:time|txn)?index$"
LINE_TYPE, SEGMENT, PLACE = "line_type", "segment_start", "place"
"""What type of line it is; bigint, where the segment starts; struct<topic,partition>, whose it is."""
START, DUMPING = "start", "header"
"""Types of the lines that are signposts."""
SIGNPOSTS, FIRSTS, IS_INDEX = "signposts", "firsts", "is_index"


def signposts(typed: DataFrame) -> DataFrame:
    """One row per file: its headers with the partition each names, and where each partition's first segment starts."""
    header = F.when(F.col(LINE_TYPE) == DUMPING, _partition_of(F.col(C.LINE_TEXT), HEADER))
    so_far = Window.partitionBy(C.SOURCE_FILE).orderBy(C.SOURCE_LINE)
    so_far_above = F.last(header, ignorenulls=True).over(
        so_far.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    posts = typed.where(F.col(LINE_TYPE).isin(DUMPING, START)).withColumn(
        PLACE, F.coalesce(so_far_above, place_by_name())
    )
    firsts = posts.groupBy(C.SOURCE_FILE, PLACE).agg(
        F.min(SEGMENT).alias(SEGMENT),
        F.collect_list(F.struct(C.SOURCE_LINE, PLACE, F.col(C.LINE_TEXT).rlike(INDEX).alias(IS_INDEX))).alias(
            "of_place"
        ),
    )
    return firsts.groupBy(C.SOURCE_FILE).agg(
        F.array_sort(F.flatten(F.collect_list("of_place"))).alias(SIGNPOSTS),
        F.collect_list(F.struct(PLACE, SEGMENT)).alias(FIRSTS),
    )


def above() -> Column:
    """The last header above the line."""
    all_above = F.filter(SIGNPOSTS, lambda post: post[C.SOURCE_LINE] <= F.col(C.SOURCE_LINE))
    return F.try_element_at(all_above, F.lit(-1))


def place_by_name() -> Column:
    """The partition that the file is named after, else its folder."""
    file = F.col(C.SOURCE_FILE)
    return F.coalesce(_partition_of(file, FILE_NAME), _partition_of(file, FOLDER))


def is_first() -> Column:
    """The segment is the first that the file has of its partition."""
    return F.exists(FIRSTS, lambda first: (first[PLACE] == F.col(PLACE)) & (first[SEGMENT] == F.col(SEGMENT)))


def _partition_of(text: Column, regex: str) -> Column:
    partition = F.regexp_extract(text, regex, 2).try_cast("int")
    return F.when(
        partition.isNotNull(), F.struct(F.regexp_extract(text, regex, 1).alias(C.TOPIC), partition.alias(C.PARTITION))
    )
