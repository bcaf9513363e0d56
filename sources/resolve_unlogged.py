"""Appends that no PRODUCE line tells of: a batch in a dump is witness enough.

Transaction markers, the coordinators' own writes, acks=0 (logged without an offset), what came before the request log
begins, and requests in flight when their broker was killed.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import AppendSource, ChangeKind
from sources.resolve_appends import TERM

BATCH = (
    C.SOURCE_FILE, C.SOURCE_LINE, C.LAST_OFFSET, C.CREATE_TIME, C.IS_TRANSACTIONAL, C.IS_CONTROL, C.PRODUCER_ID,
    C.TRANSACTION_RESULT,
)  # fmt: skip

MARKER_US = 2_000
"""A transaction marker has the time at which its leader made it, just before the append (`WriteTxnMarkers`)."""


def unlogged_appends(appends: DataFrame, batches: DataFrame, leader_changes: DataFrame) -> DataFrame:
    """Rows of `produce_events` for the batches of known leaders that no row of `appends` explains.

    A batch was appended after the batch before it in its leader epoch, or after the epoch began, and before the batch
    after it: `event_time` is the batch's own time, moved to within these, and `local_time_us` what is left to the next
    (of a marker, whose time is its leader's, at most `MARKER_US`).
    """
    offsets = _logged(appends).unionByName(_dumped(batches), allowMissingColumns=True)
    by_offset = offsets.groupBy(*TERM, C.BASE_OFFSET).agg(
        F.min("logged_at").alias("logged_at"), F.max("logged_by").alias("logged_by"), F.min("batch").alias("batch")
    )
    return (
        by_offset.transform(_between_neighbours)
        .where(F.col("logged_at").isNull() & F.col("batch").isNotNull())
        .join(_leaderships(leader_changes), TERM, "left")
        .withColumn(C.BROKER_ID, F.coalesce("term_leader", C.LEADER_ID))
        .where(F.col(C.BROKER_ID).isNotNull())
        .select("*", "batch.*")
        .withColumns(_times())
        .withColumns(_untold())
        .select(*T.PRODUCE_EVENTS.parsed)
    )


def _logged(appends: DataFrame) -> DataFrame:
    """One row per append of a known offset and epoch: when it was logged, and by whom."""
    return appends.where((F.col(C.BASE_OFFSET) >= 0) & (F.col(C.LEADER_EPOCH) >= 0)).select(
        *TERM, C.BASE_OFFSET, F.col(C.EVENT_TIME).alias("logged_at"), F.col(C.BROKER_ID).alias("logged_by")
    )


def _dumped(batches: DataFrame) -> DataFrame:
    """One row per batch of a known epoch."""
    return batches.where(F.col(C.LEADER_EPOCH) >= 0).select(*TERM, C.BASE_OFFSET, F.struct(*BATCH).alias("batch"))


def _between_neighbours(offsets: DataFrame) -> DataFrame:
    """Each offset with the time of the logged append before it and after it, and who led."""
    forwards = Window.partitionBy(*TERM).orderBy(C.BASE_OFFSET)
    backwards = Window.partitionBy(*TERM).orderBy(F.col(C.BASE_OFFSET).desc())
    whole_term = Window.partitionBy(*TERM).rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    return offsets.withColumns(
        {
            "after": F.max("logged_at").over(forwards.rowsBetween(Window.unboundedPreceding, -1)),
            "before": F.min("logged_at").over(backwards.rowsBetween(Window.unboundedPreceding, -1)),
            "term_leader": F.max("logged_by").over(whole_term),
        }
    )


def _leaderships(leader_changes: DataFrame) -> DataFrame:
    """One row a leader epoch: its leader by any broker's word, and when that leader began it by its own."""
    began = (F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value) & (F.col(C.LEADER_ID) == F.col(C.BROKER_ID))
    return (
        leader_changes.where((F.col(C.LEADER_ID) >= 0) & (F.col(C.LEADER_EPOCH) >= 0))
        .groupBy(*TERM)
        .agg(F.max(C.LEADER_ID).alias(C.LEADER_ID), F.min(F.when(began, F.col(C.EVENT_TIME))).alias("began"))
    )


def _times() -> dict[str, Column]:
    not_before = F.greatest(C.CREATE_TIME, "after", "began")
    event_time = F.least(not_before, "before")
    until_next = F.unix_micros("before") - F.unix_micros(event_time)
    left = F.when(F.col(C.IS_CONTROL), F.least(until_next, F.lit(MARKER_US))).otherwise(until_next)
    return {C.EVENT_TIME: event_time, C.LOCAL_TIME_US: F.coalesce(left, F.lit(0)).cast("bigint")}


def _untold() -> dict[str, Column]:
    return {
        C.RESPONSE_TIME: F.lit(None).cast("timestamp"),
        C.ACKS: F.lit(None).cast("int"),
        C.ERROR_CODE: F.lit(0),
        C.CLIENT_ID: F.lit(""),
        C.APPEND_SOURCE: F.lit(AppendSource.SEGMENT.value),
    }
