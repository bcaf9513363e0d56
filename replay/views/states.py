"""States: what a partition's leader knew, from one event to the next, so that any moment can be asked for."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings.told_epochs import LAST_OF_EPOCH, told_epochs, with_deletions, with_untold_epochs
from replay.windows import FIRST, NOW, begun_at, timeline
from schemas import columns as C


def leader_states(
    leader_timeline: DataFrame, leader_changes: DataFrame, metadata_changes: DataFrame, broker_statements: DataFrame
) -> DataFrame:
    """One row per event at a leader, in force from `valid_from` to `valid_to` (exclusive; NULL = still).

    At any moment one row of a partition is in force, and none in an epoch of which no leader tells: nobody led it, or
    one whose log is not in the capture; nor once the last leader has deleted its log. Where clocks of two leaders
    overlap, the later leader's begins no earlier than what came before it in the order of events, and what it
    overtakes is in force for no time.
    """
    epochs = with_deletions(told_epochs(leader_changes, metadata_changes), broker_statements)
    begun = with_untold_epochs(leader_timeline, epochs).withColumn("begun", begun_at())
    dated = begun.withColumn(C.VALID_FROM, F.max("begun").over(timeline().rowsBetween(FIRST, NOW)))
    ended = dated.withColumn(C.VALID_TO, F.lead(C.VALID_FROM).over(timeline()))
    return ended.where(F.col(C.EVENT_SEQ) < LAST_OF_EPOCH).select(
        *C.PARTITION_KEY, C.VALID_FROM, C.VALID_TO, C.LEADER_EPOCH, C.EVENT_SEQ, C.EVENT_TYPE, C.LEADER_ID,
        C.LOG_END_OFFSET, C.REMOTE_LEO_MAP, C.ISR, C.MIN_ISR, C.IS_UNDER_MIN_ISR, C.HIGH_WATERMARK,
        C.HIGH_WATERMARK_LIMITED_BY, C.LOG_START_OFFSET, C.LAST_STABLE_OFFSET, C.EXACTNESS, C.HIGH_WATERMARK_LOW,
        C.HIGH_WATERMARK_HIGH, C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH,
    )  # fmt: skip
