"""The lines of a capture's logs and dumps as one frame, each with its number in its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import groupby

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from schemas import columns as C
from schemas.columns import Field
from schemas.files import FileKind
from sources.outcomes import LINE_COLUMNS
from sources.source_file import SourceFile, byte_lines

LINE_KINDS = (
    FileKind.REQUEST_LOG, FileKind.STATE_CHANGE_LOG, FileKind.SERVER_LOG, FileKind.CONSOLE_LOG, FileKind.SEGMENT_DUMP,
    FileKind.METADATA_DUMP,
)  # fmt: skip
"""Kinds that are read line by line; the others are small and read whole (`sources.small_files`)."""

DECODED_LATER = (FileKind.REQUEST_LOG,)
"""Kinds of whose lines nothing is kept but what their parser decodes: to look at each byte of them here is a tenth."""

OF_FILE = (C.SOURCE_FILE, C.BROKER_ID)
"""What the file of a line says of it."""

LINES_SCHEMA = StructType([StructField(str(c), c.type) for c in LINE_COLUMNS])

URI, PATH, BLOCK_START = "uri", "path", "block"
LINES_BEFORE, LINES_SEEN = "lines_before", "lines_seen"
ROW_ID, FIRST_ROW_ID, ROWS, ROWS_BEFORE = "row_id", "first_row_id", "rows", "before"


def read_lines(spark: SparkSession, files: Iterable[SourceFile]) -> DataFrame:
    """One row per line: file, line from 1, broker, kind and text, without its line end or byte order mark.

    Lines that landed with another file are left out; those after them keep their numbers. So are those that a live log
    got since it was looked at: its digest is of what was there then. Each kind has a scan of its own, in which `kind`
    is a literal: who asks for one kind reads no file of another.
    """
    readable = [file for file in files if file.kind in LINE_KINDS and file.is_readable and file.has_new_lines]
    odd = [file for file in readable if _is_hidden_from_spark(file)]
    scanned = [file for file in readable if file not in odd]
    # What was read of a damaged file is kept; of any other file an error must stay an error.
    by_kind = groupby(sorted(scanned, key=_scan_of), key=_scan_of)
    scans = [_scan(spark, list(group), FileKind(kind), is_damaged) for (kind, is_damaged), group in by_kind]
    if odd or not scans:
        scans.append(spark.createDataFrame(list(_rows(odd)), LINES_SCHEMA))
    return reduce(DataFrame.unionByName, scans)


def _scan_of(file: SourceFile) -> tuple[str, bool]:
    """What the files of a scan have in common: the kind, and whether they are damaged."""
    return file.kind.value, file.problem is not None


def _is_hidden_from_spark(file: SourceFile) -> bool:
    """Spark leaves out `_x` and `.x` without a word (`__consumer_offsets-0.txt`!), Hadoop cannot open `a:b`."""
    return file.path.name.startswith(("_", ".")) or ":" in str(file.path)


def _rows(files: Iterable[SourceFile]) -> Iterator[tuple[str, int, int, str, str]]:
    for file in files:
        for number, line in enumerate(byte_lines(file), 1):
            if number <= file.lines_before:
                continue
            if number > file.lines and file.problem is None:
                break
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            yield file.name, number, file.broker_id, file.kind.value, text.decode("utf-8", "replace")


def _scan(spark: SparkSession, files: list[SourceFile], kind: FileKind, is_damaged: bool) -> DataFrame:
    """The lines of some files of a kind.

    A number in the file needs no shuffle of the text: the rows of a block of a file have consecutive
    `monotonically_increasing_id`s, so the least id and the count of each block, a small table, make them numbers. Its
    price is a second pass over the files that counts.
    """
    reader = spark.read.option("lineSep", "\n").option("ignoreCorruptFiles", is_damaged)
    rows = reader.text([_escaped(file) for file in files]).select(
        F.col("_metadata.file_path").alias(URI),
        F.col("_metadata.file_block_start").alias(BLOCK_START),
        F.monotonically_increasing_id().alias(ROW_ID),
        F.col("value"),
    )
    text = _without_cr(F.col("value"))
    numbered = rows.join(F.broadcast(_blocks(rows, _names(spark, files))), [URI, BLOCK_START]).withColumn(
        C.SOURCE_LINE, F.col(ROW_ID) - F.col(FIRST_ROW_ID) + F.col(ROWS_BEFORE) + 1
    )
    if any(file.lines_before for file in files):
        numbered = numbered.where(F.col(C.SOURCE_LINE) > F.col(LINES_BEFORE))
    if not is_damaged:  # of a damaged file Spark may get more or less than was counted: all of it is kept
        numbered = numbered.where(F.col(C.SOURCE_LINE) <= F.col(LINES_SEEN))
    return (
        numbered.withColumn(C.KIND, F.lit(kind.value))
        .withColumn(C.LINE_TEXT, text if kind in DECODED_LATER else F.make_valid_utf8(text))
        .select(*LINE_COLUMNS)
    )


def _without_cr(text: Column) -> Column:
    """The text without carriage returns at its end; `rtrim` looks at every character of a line, so seldom."""
    return F.when(text.endswith("\r"), F.rtrim(text, F.lit("\r"))).otherwise(text)


def _names(spark: SparkSession, files: list[SourceFile]) -> DataFrame:
    """One row per file: its path, and what every line of it has of it."""
    rows = [(str(file.path), file.lines_before, file.lines, file.name, file.broker_id) for file in files]
    own = [StructField(PATH, StringType()), *[StructField(name, LongType()) for name in (LINES_BEFORE, LINES_SEEN)]]
    return spark.createDataFrame(rows, StructType([*own, *_fields(OF_FILE)]))


def _blocks(rows: DataFrame, names: DataFrame) -> DataFrame:
    """One row per block of a file: its least row id, how many rows of the file come before it, and whose they are.

    A file's URI is made a path here, once a block: once a line would be a tenth of the whole ingest.
    """
    blocks = rows.groupBy(URI, BLOCK_START).agg(F.min(ROW_ID).alias(FIRST_ROW_ID), F.count(F.lit(1)).alias(ROWS))
    listed = blocks.groupBy(URI).agg(F.array_sort(F.collect_list(F.struct(BLOCK_START, FIRST_ROW_ID, ROWS))).alias("b"))
    each = listed.select(URI, "b", F.inline("b"))
    earlier = F.filter("b", lambda block: block[BLOCK_START] < F.col(BLOCK_START))
    before = F.aggregate(earlier, F.lit(0).cast("bigint"), lambda total, block: total + block[ROWS])
    return (
        each.withColumns({PATH: _decoded(F.col(URI)), ROWS_BEFORE: before})
        .join(F.broadcast(names), PATH)
        .select(URI, BLOCK_START, FIRST_ROW_ID, ROWS_BEFORE, LINES_BEFORE, LINES_SEEN, *OF_FILE)
    )


def _fields(columns: Iterable[Field]) -> list[StructField]:
    return [StructField(str(column), column.type) for column in columns]


def _escaped(file: SourceFile) -> str:
    """The path for Spark, whose own wildcards are taken literally."""
    return "file://" + re.sub(r"([\\*?\[\]{}^])", r"\\\1", str(file.path))


def _decoded(uri: Column) -> Column:
    """The path in a `file:` URI; `url_decode` is for forms, where `+` is a space."""
    path = F.regexp_replace(uri, "^file:/+", "/")
    return F.url_decode(F.replace(path, F.lit("+"), F.lit("%2B")))
