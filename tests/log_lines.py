"""Lines of logs as frames, and what became of them as plain values."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, Row, SparkSession

from schemas.kinds import FileKind
from sources.lines import LINES_SCHEMA

TIME = "2026-11-21 10:36:42,604"


def lines_of(spark: SparkSession, texts: Sequence[str], kind: FileKind = FileKind.SERVER_LOG, broker: int = 2) -> DataFrame:
    """The texts as the lines of one file."""
    rows = [("a.log", number, broker, kind.value, text) for number, text in enumerate(texts, 1)]
    return spark.createDataFrame(rows, LINES_SCHEMA)


def stamped(message: str, logger: str, level: str = "INFO", time: str = TIME) -> str:
    """A line as log4j writes it."""
    return f"[{time}] {level} {message} ({logger})"


def by_line(frame: DataFrame, *columns: str) -> list[tuple[object, ...]]:
    """The rows' columns in the order of the lines; of one line in any order, so sorted."""
    rows: list[Row] = frame.select("source_line", *columns).collect()
    return [tuple(row)[1:] for row in sorted(rows, key=lambda row: (row[0], str(row)))]


def verdicts(parsed: DataFrame) -> list[tuple[object, ...]]:
    """Outcome and reason of each line."""
    return by_line(parsed, "outcome", "reason")
