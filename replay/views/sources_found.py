"""What a cluster's deliveries cover, and the shapes of lines that nothing could be made of."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.windows import FIRST
from schemas import columns as C

_SOURCE = (C.CLUSTER_ID, C.KIND, C.BROKER_ID)


def sources_found(source_files: DataFrame) -> DataFrame:
    """One row per kind of file and broker: files, lines, time span, and the minutes missing between and in its files.

    A gap within one file is filled where another file has its lines: rotated files are one log.
    """
    by_time = Window.partitionBy(*_SOURCE).orderBy(C.FIRST_AT, C.LAST_AT, C.SOURCE_FILE).rowsBetween(FIRST, -1)
    covered_to = F.max(C.LAST_AT).over(by_time)
    missing = F.when(F.col(C.FIRST_AT) > covered_to, F.col(C.FIRST_AT).cast("long") - covered_to.cast("long"))
    within = F.aggregate(
        F.coalesce(C.GAPS, F.array().cast(C.GAPS.type)),
        F.lit(0).cast("bigint"),
        lambda total, gap: total + (gap["to"].cast("long") - gap["from"].cast("long")),
    )
    known = source_files.withColumns({"missing": F.coalesce(missing, F.lit(0)), "within": within})
    return known.groupBy(*_SOURCE).agg(
        F.count(F.lit(1)).alias("files"),
        F.sum(C.LINES_READ).alias(C.LINES_READ),
        F.sum(C.LINES_LANDED).alias(C.LINES_LANDED),
        F.sum(C.LINES_REJECTED).alias(C.LINES_REJECTED),
        F.min(C.FIRST_AT).alias(C.FIRST_AT),
        F.max(C.LAST_AT).alias(C.LAST_AT),
        ((F.sum("missing") + F.sum("within")) / 60).cast("bigint").alias("minutes_missing"),
    )


def rejected_shapes(rejected_lines: DataFrame) -> DataFrame:
    """One row per reason and shape of line: how many there are, and one of them.

    A shape is the line with numbers, ids and names of topics taken out of it.
    """
    stamped = F.regexp_replace(C.LINE_TEXT, r"^\[?\d{4}-\d\d-\d\d[ T][\d:,.]+\]?\s*", "")
    unnamed = F.regexp_replace(stamped, r"\S+-\d+\b", "T-N")
    shape = F.substring(F.regexp_replace(unnamed, r"\d+", "N"), 1, 200)
    example = F.struct(C.SOURCE_FILE, C.SOURCE_LINE, C.LINE_TEXT)
    return (
        rejected_lines.groupBy(C.CLUSTER_ID, C.REASON, shape.alias("shape"))
        .agg(F.count(F.lit(1)).alias("lines"), F.min(example).alias("example"))
        .select(C.CLUSTER_ID, C.REASON, "lines", "shape", "example.*")
    )
