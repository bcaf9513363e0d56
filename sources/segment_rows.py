"""What the landed lines of a segment's dump tell: batches, and where each log starts."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind
from sources import outcomes
from sources.segment_dump import BATCH, MARKED, MARKER
from sources.segment_signposts import LINE_TYPE, SEGMENT, START


def batch_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `segment_batches`; a transaction's marker, on the next line, tells its result."""
    batches = _landed(parsed, BATCH)
    results = _landed(parsed, MARKED).select(
        C.SOURCE_FILE,
        (F.col(C.SOURCE_LINE) - 1).alias(C.SOURCE_LINE),
        F.regexp_extract(C.LINE_TEXT, MARKER, 1).alias(C.TRANSACTION_RESULT),
    )
    return (
        batches.join(results, outcomes.LINE_KEY, "left")
        .withColumn(C.TOPIC_ID, F.lit(""))
        .select(*T.SEGMENT_BATCHES.parsed)
    )


def statement_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `broker_statements`: a log starts no earlier than its first segment (a checkpoint may say: later)."""
    return (
        _landed(parsed, START)
        .withColumns({
            C.KIND: F.lit(StatementKind.CHECKPOINT_LOG_START.value),
            C.TOPIC_ID: F.lit(""),
            C.LEADER_EPOCH: F.lit(C.UNKNOWN_EPOCH),
            C.EVENT_TIME: F.lit(None).cast("timestamp"),
            C.OFFSET: F.col(SEGMENT),
            C.REPLICA_ID: F.lit(C.NO_REPLICA),
        })
        .select(*T.BROKER_STATEMENTS.parsed)
    )  # fmt: skip


def _landed(parsed: DataFrame, line_type: str) -> DataFrame:
    """Lines of the type, parsed."""
    return outcomes.having(parsed, outcomes.LANDED).where(F.col(LINE_TYPE) == line_type)
