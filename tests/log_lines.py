"""Lines of logs and dumps as frames, and what became of them as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

from schemas import columns as C
from schemas.files import FileKind
from sources.lines import LINES_SCHEMA

WORDINGS = Path(__file__).parent / "wordings"
TIME = "2026-11-21 10:36:42,604"


def lines_of(
    spark: SparkSession,
    texts: Sequence[str],
    kind: FileKind = FileKind.SERVER_LOG,
    broker: int = 2,
    name: str = "a.log",
) -> DataFrame:
    """The texts as the lines of one file."""
    rows = [(name, number, broker, kind.value, text) for number, text in enumerate(texts, 1)]
    return spark.createDataFrame(rows, LINES_SCHEMA)


def stamped(message: str, logger: str, level: str = "INFO", time: str = TIME) -> str:
    """A line as log4j writes it."""
    return f"[{time}] {level} {message} ({logger})"


def examples(name: str) -> list[tuple[str, str]]:
    """The lines of a file of `wordings/`, each with what is expected of it."""
    text = (WORDINGS / name).read_text(encoding="utf-8").split("\n", 1)[1]
    pairs = (entry.rsplit("\n=> ", 1) for entry in text.removeprefix("\n").removesuffix("\n").split("\n\n"))
    return [(line, expected) for line, expected in pairs]


def by_line(frame: DataFrame, *columns: str) -> list[tuple[object, ...]]:
    """The rows' columns in the order of the lines; of one line in any order, so sorted."""
    rows: list[Row] = frame.select(C.SOURCE_LINE, *columns).collect()
    return [tuple(row)[1:] for row in sorted(rows, key=lambda row: (row[0], str(row)))]


def verdicts(parsed: DataFrame) -> list[str]:
    """Outcome and reason of each line, as in `outcomes.txt`."""
    return [": ".join(str(word) for word in row if word is not None) for row in by_line(parsed, "outcome", C.REASON)]
