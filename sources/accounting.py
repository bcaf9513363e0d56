"""What became of every line: the rejected ones with their reason, and the counts of each file. Nothing is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from schemas import columns as C
from schemas import tables as T
from sources.coverage import coverage
from sources.outcomes import (
    IGNORED,
    LANDED,
    LINES,
    MAX_TEXT,
    OUTCOME,
    OUTCOME_COLUMNS,
    REJECTED,
    counted,
    ignored,
    rejected,
    with_outcome,
)
from sources.source_file import SourceFile

MAX_LINE_BYTES = 10_000_000
"""A longer line is no line of a log. A full fetch of some thousand partitions has about a million."""

WHOLE_FILE = 0
"""The line number of what is wrong with a file as a whole."""

FILE_COLUMNS = (C.SOURCE_FILE, C.KIND, C.BROKER_ID, C.BROKERS, C.FIRST_AT, C.LAST_AT, C.GAPS, C.DIGEST)
OF_ANOTHER_FILE = "landed with another file"
"""Why the first lines of a file that grew are ignored, and all of the one that it grew from where both came at once."""

OF_OTHERS = "line of another file"
"""Why a line of a console is ignored (sources/echoes.py)."""


def of_bearable_length(lines: DataFrame, files: Iterable[SourceFile]) -> DataFrame:
    """The lines that a parser is to see."""
    return lines.where(F.octet_length(C.LINE_TEXT) <= MAX_LINE_BYTES) if _has_long_lines(files) else lines


def too_long(lines: DataFrame, files: Iterable[SourceFile]) -> list[DataFrame]:
    """The lines that none is, with their outcome; no frame, and no pass over the files, where there is none."""
    if not _has_long_lines(files):
        return []
    long = lines.where(F.octet_length(C.LINE_TEXT) > MAX_LINE_BYTES)
    return [with_outcome(long, rejected("line too long")).select(*OUTCOME_COLUMNS)]


def echoed(lines: DataFrame | None) -> list[DataFrame]:
    """The lines that other files tell, with their outcome."""
    return [] if lines is None else [with_outcome(lines, ignored(OF_OTHERS)).select(*OUTCOME_COLUMNS)]


def _has_long_lines(files: Iterable[SourceFile]) -> bool:
    # A character that is no UTF-8 is read as one of three bytes.
    return any(3 * file.longest_line > MAX_LINE_BYTES for file in files)


def outcomes_of(frames: Iterable[DataFrame]) -> DataFrame:
    """One row per line, from what the parsers say of theirs."""
    short = F.make_valid_utf8(F.substring(C.LINE_TEXT, 1, MAX_TEXT)).alias(C.LINE_TEXT)
    of_all = [c for c in OUTCOME_COLUMNS if c != C.LINE_TEXT]
    return reduce(DataFrame.unionByName, [frame.select(*of_all, short) for frame in frames])


def damaged(spark: SparkSession, files: Iterable[SourceFile]) -> DataFrame:
    """One row per file with something wrong with it as a file, as if that were a line of it."""
    rows = [
        (file.name, WHOLE_FILE, file.broker_id, file.kind.value, "", REJECTED, file.problem)
        for file in files
        if file.problem is not None
    ]
    types = [getattr(column, "type", C.REASON.type) for column in OUTCOME_COLUMNS]
    schema = StructType([StructField(str(c), of) for c, of in zip(OUTCOME_COLUMNS, types, strict=True)])
    return spark.createDataFrame(rows, schema)


def rejected_rows(spark: SparkSession, outcomes: DataFrame, later: DataFrame, files: Iterable[SourceFile]) -> DataFrame:
    """Rows of `rejected_lines`: what parsers rejected, and `later` steps of what had landed."""
    kinds = spark.createDataFrame([(file.name, file.kind.value) for file in files], f"{C.SOURCE_FILE} string, k string")
    of_kind = later.join(F.broadcast(kinds), C.SOURCE_FILE).withColumn(C.KIND, F.col("k"))
    rows = outcomes.where(F.col(OUTCOME) == REJECTED).select(*T.REJECTED_LINES.parsed)
    return rows.unionByName(of_kind.select(*T.REJECTED_LINES.parsed))


def counts_of(outcomes: DataFrame, counts: DataFrame, later: DataFrame) -> DataFrame:
    """One row a file, outcome and reason, or several: how many lines. Some are counted, some are rejected later."""
    rejected_later = later.withColumn(OUTCOME, F.lit(REJECTED))
    had_landed = rejected_later.withColumns({OUTCOME: F.lit(LANDED), C.REASON: F.lit(None).cast("string")})
    none_of_them = counted(had_landed).withColumn(LINES, -F.col(LINES))
    columns = (C.SOURCE_FILE, OUTCOME, C.REASON, LINES)
    all_counts = [counted(outcomes), counts.select(*columns), counted(rejected_later), none_of_them]
    return reduce(DataFrame.unionByName, [each.select(*columns) for each in all_counts])


def source_file_rows(spark: SparkSession, files: Sequence[SourceFile], counts: DataFrame, timezone: str) -> DataFrame:
    """Rows of `source_files`: also of files without a line. `counts` is `counts_of` all lines that were read."""
    rows = [_file_row(file, timezone) for file in files]
    listed = spark.createDataFrame(rows, StructType([StructField(str(c), c.type) for c in FILE_COLUMNS]))
    before = [(file.name, IGNORED, OF_ANOTHER_FILE, file.lines_before) for file in files if file.lines_before]
    if before:  # nobody has read them again
        counts = counts.unionByName(spark.createDataFrame(before, counts.schema))
    # Of a console there are requests and other lines, each counted apart.
    whole = counts.groupBy(C.SOURCE_FILE, OUTCOME, C.REASON).agg(F.sum(LINES).alias(LINES))
    by_reason = F.collect_list(F.when(F.col(OUTCOME) == IGNORED, F.struct(C.REASON, LINES)))
    by_file = whole.groupBy(C.SOURCE_FILE).agg(
        F.sum(LINES).alias(C.LINES_READ),
        _lines(LANDED).alias(C.LINES_LANDED),
        _lines(REJECTED).alias(C.LINES_REJECTED),
        _lines(IGNORED).alias(C.LINES_IGNORED),
        F.map_from_entries(by_reason).alias(C.IGNORED_BY_REASON),
    )
    no_reasons = F.create_map().cast(C.IGNORED_BY_REASON.type)
    return (
        listed.join(by_file, C.SOURCE_FILE, "left")
        .fillna(0, [C.LINES_READ, C.LINES_LANDED, C.LINES_REJECTED, C.LINES_IGNORED])
        .withColumn(C.IGNORED_BY_REASON, F.coalesce(C.IGNORED_BY_REASON, no_reasons))
    )


def _file_row(file: SourceFile, timezone: str) -> tuple[object, ...]:
    covered = coverage(file.minutes, file.kind, timezone, file.request_minutes)
    told = (sorted(file.brokers), covered.first, covered.last, list(covered.gaps))
    return (file.name, file.kind.value, file.broker_id, *told, file.digest)


def _lines(outcome: str) -> Column:
    return F.sum(F.when(F.col(OUTCOME) == outcome, F.col(LINES)).otherwise(0))
