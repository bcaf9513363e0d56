"""States: what a partition's leader knew, from one event to the next, so that any moment can be asked for."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings.leaderless import told_epochs
from replay.windows import FIRST, NOW, begun_at, following, timeline
from schemas import columns as C

_LAST_OF_EPOCH = 1 << 62
"""Comes after every event of its epoch."""


def leader_states(leader_timeline: DataFrame, leader_changes: DataFrame, metadata_changes: DataFrame) -> DataFrame:
    """One row per event at a leader, in force from `valid_from` to `valid_to` (exclusive; NULL = still).

    At any moment one row of a partition is in force, and none in an epoch of which no leader tells: nobody led it, or
    one whose log is not in the capture. Where clocks of two leaders overlap, the later leader's begins no earlier than
    what came before it in the order of events, and what it overtakes is in force for no time.
    """
    begun = _with_untold_epochs(leader_timeline, told_epochs(leader_changes, metadata_changes)).withColumn(
        "begun", begun_at()
    )
    dated = begun.withColumn(C.VALID_FROM, F.max("begun").over(timeline().rowsBetween(FIRST, NOW)))
    ended = dated.withColumn(C.VALID_TO, F.lead(C.VALID_FROM).over(timeline()))
    return ended.where(F.col(C.EVENT_SEQ) < _LAST_OF_EPOCH).select(
        *C.PARTITION_KEY, C.VALID_FROM, C.VALID_TO, C.LEADER_EPOCH, C.EVENT_SEQ, C.EVENT_TYPE, C.LEADER_ID,
        C.LOG_END_OFFSET, C.REMOTE_LEO_MAP, C.ISR, C.MIN_ISR, C.IS_UNDER_MIN_ISR, C.HIGH_WATERMARK,
        C.HIGH_WATERMARK_LIMITED_BY, C.LOG_START_OFFSET, C.LAST_STABLE_OFFSET, C.EXACTNESS, C.HIGH_WATERMARK_LOW,
        C.HIGH_WATERMARK_HIGH, C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH,
    )  # fmt: skip


def _with_untold_epochs(leader_timeline: DataFrame, told: DataFrame) -> DataFrame:
    """Return the events, and after them a row at the begin of each epoch that others tell of and no event is of.

    A broker that was away may tell of it late: it began before the next event at any rate.
    """
    begins = told.select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, F.col(C.STARTED_AT).alias(C.EVENT_TIME),
        F.lit(_LAST_OF_EPOCH).alias(C.EVENT_SEQ),
    )  # fmt: skip
    both = leader_timeline.withColumn("led_at", F.col(C.EVENT_TIME)).unionByName(begins, allowMissingColumns=True)
    led_next = following("led_at", [*map(str, C.PARTITION_KEY)], [*map(str, C.TIMELINE_ORDER)])
    has_events = F.lag(C.LEADER_EPOCH).over(timeline()).eqNullSafe(F.col(C.LEADER_EPOCH))
    placed = both.withColumns({"has_events": has_events, "led_next": led_next})
    is_event = F.col(C.EVENT_SEQ) < _LAST_OF_EPOCH
    at = F.when(is_event, F.col(C.EVENT_TIME)).otherwise(F.least(C.EVENT_TIME, "led_next"))
    return placed.where(is_event | ~F.col("has_events")).withColumn(C.EVENT_TIME, at)
