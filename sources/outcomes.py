"""What became of a line. Each line of a capture has exactly one outcome, and a reason unless it landed."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C

LANDED, REJECTED, IGNORED = "landed", "rejected", "ignored"

OUTCOME = "outcome"

LINE_COLUMNS = (C.SOURCE_FILE, C.SOURCE_LINE, C.BROKER_ID, C.KIND, C.LINE_TEXT)
OUTCOME_COLUMNS = (*LINE_COLUMNS, OUTCOME, C.REASON)

LINES = "n"
"""bigint: how many lines."""

LINE_KEY: list[str] = [C.SOURCE_FILE, C.SOURCE_LINE]
"""What names a line, as a join takes it."""

NOT_TEXT = r"[\x00-\x08\x{FFFD}]"
"""Characters that no logger writes."""

OUT_OF_RANGE = "number out of range"
"""Why a line is rejected that has a number which cannot be: a damaged one is to stop no delivery."""

NONE_FOLLOWS = 2**63 - 1
"""The greatest bigint: an offset that no other follows is of no record, and an end behind it would overflow."""

CONTINUATION = "continuation of a message"
"""Why a line without a time stamp is ignored: a stack trace, or the rest of a message of several lines."""

MAX_TEXT = 2_000
"""Characters of a rejected line that are kept."""


def landed() -> Column:
    """The line gave at least one row."""
    return _verdict(LANDED, F.lit(None).cast("string"))


def rejected(reason: str | Column) -> Column:
    """The line should have given a row and could not."""
    return _verdict(REJECTED, reason)


def ignored(reason: str | Column) -> Column:
    """The line says nothing of offsets."""
    return _verdict(IGNORED, reason)


def with_outcome(frame: DataFrame, verdict: Column) -> DataFrame:
    """The frame with the two columns of a verdict."""
    judged = frame.withColumn("verdict", verdict)
    return judged.withColumns({OUTCOME: F.col("verdict.outcome"), C.REASON: F.col("verdict.reason")}).drop("verdict")


def text_of_rejected() -> Column:
    """As much of a line's text as is kept, of a rejected line; of another one nobody asks for it again."""
    return F.when(F.col(OUTCOME) == REJECTED, F.substring(C.LINE_TEXT, 1, MAX_TEXT)).alias(C.LINE_TEXT)


def counted(lines: DataFrame, *by: Column) -> DataFrame:
    """One row a file, outcome and reason, and whatever else: LINES, how many lines."""
    return lines.groupBy(C.SOURCE_FILE, OUTCOME, C.REASON, *by).agg(F.count(F.lit(1)).alias(LINES))


def having(parsed: DataFrame, outcome: str) -> DataFrame:
    """The lines of one outcome."""
    return parsed.where(F.col(OUTCOME) == outcome)


def _verdict(outcome: str, reason: str | Column) -> Column:
    why = F.lit(reason) if isinstance(reason, str) else reason
    return F.struct(F.lit(outcome).alias(OUTCOME), why.alias(C.REASON))
