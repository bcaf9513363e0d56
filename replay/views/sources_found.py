"""What a cluster's deliveries cover, and the shapes of lines that nothing could be made of."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.windows import FIRST
from schemas import columns as C
from schemas import view_columns as V
from schemas.files import QUIET_MINUTES

_SOURCE = (C.CLUSTER_ID, C.KIND, C.BROKER_ID)
_MINUTE = 60


def sources_found(source_files: DataFrame) -> DataFrame:
    """One row per kind of file and broker: files, lines, time span, and the minutes missing between and in its files.

    A gap within one file is filled where another file has its lines: rotated files are one log. Minutes are missing
    where a running broker would not have been quiet for as long: of state changes there are none.
    """
    counted = source_files.groupBy(*_SOURCE).agg(
        F.count(F.lit(1)).alias(V.FILES),
        F.sum(C.LINES_READ).alias(C.LINES_READ),
        F.sum(C.LINES_LANDED).alias(C.LINES_LANDED),
        F.sum(C.LINES_REJECTED).alias(C.LINES_REJECTED),
        F.min(C.FIRST_AT).alias(C.FIRST_AT),
        F.max(C.LAST_AT).alias(C.LAST_AT),
    )
    known = counted.join(_minutes_missing(source_files), [*map(str, _SOURCE)], "left")
    return known.withColumn(V.MINUTES_MISSING, F.coalesce(V.MINUTES_MISSING, F.lit(0)))


def _minutes_missing(source_files: DataFrame) -> DataFrame:
    """One row per kind of file and broker with lines that have a time: the minutes that no file of it covers."""
    gaps = F.coalesce(C.GAPS, F.array().cast(C.GAPS.type))
    begins = F.concat(F.array(C.FIRST_AT), gaps["to"]).alias("begin")
    ends = F.concat(gaps["from"], F.array(C.LAST_AT)).alias("end")
    covered = source_files.where(F.col(C.FIRST_AT).isNotNull()).select(*_SOURCE, F.inline(F.arrays_zip(begins, ends)))
    before = Window.partitionBy(*_SOURCE).orderBy("begin", "end").rowsBetween(FIRST, -1)
    apart = F.unix_seconds("begin") - F.unix_seconds(F.max("end").over(before))
    # Both are minutes that have lines: one right after the other is a minute apart.
    missing = covered.withColumn("gap", F.when(apart > _quiet_seconds(), apart - _MINUTE).otherwise(0))
    return missing.groupBy(*_SOURCE).agg(F.call_function("div", F.sum("gap"), F.lit(_MINUTE)).alias(V.MINUTES_MISSING))


def _quiet_seconds() -> Column:
    """Return for how long a file of the kind may have no line; NULL where that may be any time."""
    return F.coalesce(*[F.when(F.col(C.KIND) == kind.value, n * _MINUTE) for kind, n in QUIET_MINUTES.items()])


def rejected_shapes(rejected_lines: DataFrame) -> DataFrame:
    """One row per reason and shape of line: how many there are, and one of them.

    A shape is the line with numbers, ids and names of topics taken out of it.
    """
    stamped = F.regexp_replace(C.LINE_TEXT, r"^\[?\d{4}-\d\d-\d\d[ T][\d:,.]+\]?\s*", "")
    unnamed = F.regexp_replace(stamped, r"\S+-\d+\b", "T-N")
    shape = F.substring(F.regexp_replace(unnamed, r"\d+", "N"), 1, 200)
    example = F.struct(C.SOURCE_FILE, C.SOURCE_LINE, C.LINE_TEXT)
    return (
        rejected_lines.groupBy(C.CLUSTER_ID, C.REASON, shape.alias(V.SHAPE))
        .agg(F.count(F.lit(1)).alias(V.LINES), F.min(example).alias("example"))
        .select(C.CLUSTER_ID, C.REASON, V.LINES, V.SHAPE, "example.*")
    )
