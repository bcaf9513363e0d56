"""Where an append ended: a PRODUCE line has its base offset and no count.

The dump of any replica tells, by base offset *and* leader epoch (an offset that was truncated is used again, and a
truncated batch is in no dump). Failing that, the append ended before the next place in its epoch where a batch is known
to begin or end: the next append, an offset a follower fetched from, the LEO of a log that a restart loaded.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import StatementKind

TERM: list[str] = [C.TOPIC, C.TOPIC_ID, C.PARTITION, C.LEADER_EPOCH]
"""A leader epoch of a partition: within it a base offset is appended at once."""

BATCH = (C.LAST_OFFSET, C.IS_TRANSACTIONAL, C.IS_CONTROL, C.PRODUCER_ID, C.TRANSACTION_RESULT)
"""What a batch in a dump tells of its append."""

AT = "at"


def batch_ends(fetches: DataFrame, statements: DataFrame) -> DataFrame:
    """Offsets at which a batch of the epoch's log ended: a follower fetches from there, or a log loaded that far."""
    is_of_log = (F.col(C.ERROR_CODE) == 0) & (F.col(C.DIVERGING_EPOCH) < 0) & (F.col(C.REPLICA_ID) >= 0)
    fetched = fetches.where(is_of_log).select(*TERM, F.col(C.FETCH_OFFSET).alias(AT))
    is_end = F.col(C.KIND) == StatementKind.LOADED_LEO.value
    loaded = statements.where(is_end).select(*TERM, F.col(C.OFFSET).alias(AT))
    return fetched.unionByName(loaded).where(F.col(C.LEADER_EPOCH) >= 0).distinct()


def with_last_offset(appends: DataFrame, batches: DataFrame, ends: DataFrame) -> DataFrame:
    """The appends with `last_offset`, and what the batch tells besides, where a dump or a later line does."""
    located = (
        appends.withColumns({AT: F.col(C.BASE_OFFSET), "is_append": F.lit(True)})
        .unionByName(_known_batches(batches), allowMissingColumns=True)
        .unionByName(ends.withColumn("is_append", F.lit(False)), allowMissingColumns=True)
    )
    # Backwards, so that the frame of all later offsets only ever grows.
    backwards = Window.partitionBy(*TERM).orderBy(F.col(AT).desc())
    batch = F.max("batch").over(backwards.rangeBetween(Window.currentRow, Window.currentRow))
    next_at = F.min(AT).over(backwards.rangeBetween(Window.unboundedPreceding, -1))
    return (
        located.withColumns({"batch": batch, "next_at": next_at})
        .where("is_append")
        .withColumns(_from_batch())
        .select(*appends.columns)
    )


def _known_batches(batches: DataFrame) -> DataFrame:
    """Each batch once, however many replicas have it."""
    return (
        batches.where(F.col(C.LEADER_EPOCH) >= 0)
        .groupBy(*TERM, F.col(C.BASE_OFFSET).alias(AT))
        .agg(F.max(F.struct(*BATCH)).alias("batch"))
        .withColumn("is_append", F.lit(False))
    )


def _from_batch() -> dict[str, Column]:
    is_located = (F.col(C.BASE_OFFSET) >= 0) & (F.col(C.LEADER_EPOCH) >= 0)
    last_offset = F.coalesce(F.col(f"batch.{C.LAST_OFFSET}"), F.col("next_at") - 1, F.lit(C.UNKNOWN_OFFSET))
    told = {c: F.when(is_located, F.col(f"batch.{c}")) for c in BATCH if c != C.LAST_OFFSET}
    return {
        C.LAST_OFFSET: F.when(F.col(C.LAST_OFFSET) >= 0, F.col(C.LAST_OFFSET))
        .when(is_located, last_offset)
        .otherwise(C.UNKNOWN_OFFSET),
        **{c: F.coalesce(value, F.col(c)) for c, value in told.items()},
    }
