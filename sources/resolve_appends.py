"""Where an append ended: a PRODUCE line has its base offset and no count.

The dump of any replica tells, by base offset *and* leader epoch (an offset that was truncated is used again, and a
truncated batch is in no dump). Failing that, the append ended before the next place in its epoch where a batch is known
to begin or end: the next append, an offset a follower fetched from, the LEO of a log that a restart loaded, or with
which its leader took its next role.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import StatementKind
from sources.resolve_epochs import BROKER_PARTITION

TERM: list[str] = [C.TOPIC, C.TOPIC_ID, C.PARTITION, C.LEADER_EPOCH]
"""A leader epoch of a partition: within it a base offset is appended at once."""

BATCH = (C.LAST_OFFSET, C.IS_TRANSACTIONAL, C.IS_CONTROL, C.PRODUCER_ID, C.TRANSACTION_RESULT)
"""What a batch in a dump tells of its append."""

AT = "at"
GAP, MARKERS, MAY_BE_MORE, NEXT_BASE = "gap", "markers", "may_be_more", "next_base"
"""What lies between an append and the next, of which no response tells (`between_appends.gaps`)."""
_ROLES = (StatementKind.BECAME_LEADER_LEO.value, StatementKind.BECAME_FOLLOWER_LEO.value)


def batch_ends(fetches: DataFrame, statements: DataFrame) -> DataFrame:
    """Offsets at which a batch of the epoch's log ended: a follower fetches from there, or a log loaded that far."""
    is_of_log = (F.col(C.ERROR_CODE) == 0) & (F.col(C.DIVERGING_EPOCH) < 0) & (F.col(C.REPLICA_ID) >= 0)
    # Where a log starts may be within a batch, and a replica that has nothing asks from there.
    is_of_log &= F.coalesce(F.col(C.FETCH_OFFSET) != F.col(C.RESPONSE_LOG_START_OFFSET), F.lit(True))
    fetched = fetches.where(is_of_log).select(*TERM, F.col(C.FETCH_OFFSET).alias(AT))
    is_end = F.col(C.KIND) == StatementKind.LOADED_LEO.value
    loaded = statements.where(is_end).select(*TERM, F.col(C.OFFSET).alias(AT))
    return fetched.unionByName(loaded).where(F.col(C.LEADER_EPOCH) >= 0).distinct()


def ends_of_leaders(statements: DataFrame, terms: DataFrame) -> DataFrame:
    """Offsets at which the epoch's log ended, as `batch_ends` has them: with which its leader took its next role.

    The line is written before a follower cuts its log, and a leader cuts none. `terms` is `resolve_epochs.terms`.
    """
    told = statements.where(F.col(C.KIND).isin(*_ROLES) & (F.col(C.OFFSET) >= 0))
    earlier = F.filter("terms", lambda term: term[C.LEADER_EPOCH] < F.col(C.LEADER_EPOCH))
    last = told.join(terms, BROKER_PARTITION).withColumn("last", F.try_element_at(earlier, F.lit(-1)))
    led = last.where(F.col("last")["is_leader"]).withColumn(C.LEADER_EPOCH, F.col("last")[C.LEADER_EPOCH])
    return led.select(*TERM, F.col(C.OFFSET).alias(AT)).distinct()


def with_last_offset(
    appends: DataFrame, batches: DataFrame, ends: DataFrame, gaps: DataFrame | None = None
) -> DataFrame:
    """The appends with `last_offset`, and what the batch tells besides, where a dump or a later line does.

    `gaps` is `between_appends.gaps`, None where all responses tell offsets.
    """
    located = (
        appends.withColumns({AT: F.col(C.BASE_OFFSET), "is_append": F.lit(True)})
        .unionByName(_known_batches(batches), allowMissingColumns=True)
        .unionByName(ends.withColumn("is_append", F.lit(False)), allowMissingColumns=True)
    )
    if gaps is not None:
        located = located.unionByName(gaps.withColumn("is_append", F.lit(False)), allowMissingColumns=True)
    # Backwards, so that the frame of all later offsets only ever grows.
    backwards = Window.partitionBy(*TERM).orderBy(F.col(AT).desc())
    here, later = (backwards.rangeBetween(*frame) for frame in ((0, 0), (Window.unboundedPreceding, -1)))
    known = {"batch": F.max("batch").over(here), "next_at": F.min(AT).over(later)}
    if gaps is not None:
        known |= {GAP: F.max(GAP).over(here), "last_at": F.max(AT).over(later)}
    end = F.col("next_at") if gaps is None else _end_before_markers()
    return located.withColumns(known).where("is_append").withColumns(_from_batch(end)).select(*appends.columns)


def _known_batches(batches: DataFrame) -> DataFrame:
    """Each batch once, however many replicas have it."""
    return (
        batches.where(F.col(C.LEADER_EPOCH) >= 0)
        .groupBy(*TERM, F.col(C.BASE_OFFSET).alias(AT))
        .agg(F.max(F.struct(*BATCH)).alias("batch"))
        .withColumn("is_append", F.lit(False))
    )


def _end_before_markers() -> Column:
    """Where an append ended that markers may follow: that many before the next one, or before the end of the log.

    It has one record at least: where the next place is right behind that, nothing lies between.
    """
    gap, next_at, is_one = F.col(GAP), F.col("next_at"), F.col("next_at") == F.col(C.BASE_OFFSET) + 1
    markers = F.coalesce(gap[MARKERS], F.lit(0))
    before_next = gap[NEXT_BASE] - markers
    at_the_end = F.when(gap[NEXT_BASE].isNull() & (F.col("last_at") - next_at == markers), next_at)
    end = F.when(before_next > F.col(C.BASE_OFFSET), before_next).otherwise(at_the_end)
    is_untold = F.coalesce(gap[MAY_BE_MORE], F.lit(False))
    return F.when(is_one, next_at).when(~is_untold, F.when(markers == 0, next_at).otherwise(end))


def _from_batch(end: Column) -> dict[str, Column]:
    is_located = (F.col(C.BASE_OFFSET) >= 0) & (F.col(C.LEADER_EPOCH) >= 0)
    last_offset = F.coalesce(F.col(f"batch.{C.LAST_OFFSET}"), end - 1, F.lit(C.UNKNOWN_OFFSET))
    told = {c: F.when(is_located, F.col(f"batch.{c}")) for c in BATCH if c != C.LAST_OFFSET}
    return {
        C.LAST_OFFSET: F.when(F.col(C.LAST_OFFSET) >= 0, F.col(C.LAST_OFFSET))
        .when(is_located, last_offset)
        .otherwise(C.UNKNOWN_OFFSET),
        **{c: F.coalesce(value, F.col(c)) for c, value in told.items()},
    }
