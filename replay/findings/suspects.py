"""Suspects: the partitions of which a finder has to look at every event in order, told from one look at all events.

To put events in order is dear, and what lasts long is seen without (`slices`). Of a busy and healthy partition every
slice shows what ends it. Who is no suspect has no finding; who is one need not have any.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings.held_back import is_behind
from replay.findings.request_logs import HEARD_UNTIL
from replay.findings.slices import IS_SHOWN, SLICE, ends_of_slices, is_left_out, slice_of
from schemas import columns as C

MAY_STALL = "may_have_stalled"
"""boolean: the HW may have stood still below the LEO for as long as a stall lasts."""
WAS_UNDER_MIN_ISR = "was_under_min_isr"
"""boolean: at some event the ISR was smaller than min.insync.replicas."""
IS_BOUNDED = "is_bounded_in_part"
"""boolean: at some event the LEO is known between bounds only: requests are missing."""

_FLAGS = (WAS_UNDER_MIN_ISR, IS_BOUNDED)


def suspects(leader_timeline: DataFrame, heard: DataFrame, stall_ms: int) -> DataFrame:
    """One row per partition: its key and the three columns above; `heard` is `request_logs.heard_until`.

    What lasts `stall_ms` goes on through a whole slice of two fifths of that, in which the HW neither rises nor is at
    the LEO.
    """
    width_ms = stall_ms * 2 // 5
    slices = _slices(leader_timeline, width_ms)
    whole = slices.groupBy(*C.PARTITION_KEY).agg(
        *ends_of_slices(), F.max_by(C.LEADER_ID, SLICE).alias(C.LEADER_ID),
        *[F.bool_or(flag).alias(flag) for flag in _FLAGS],
    )  # fmt: skip
    # What goes on at the end goes on for as long as the last leader's requests are logged.
    known = whole.join(F.broadcast(heard), [str(C.CLUSTER_ID), str(C.LEADER_ID)], "left")
    until = slice_of(HEARD_UNTIL, width_ms)
    return known.select(*C.PARTITION_KEY, is_left_out(until).alias(MAY_STALL), *_FLAGS)


def only(rows: DataFrame, suspected: DataFrame, of: str) -> DataFrame:
    """Return the rows of the partitions that are suspects `of` it; `suspected` is `suspects`."""
    return rows.join(F.broadcast(suspected.where(of).select(*C.PARTITION_KEY)), C.on_partition(), "left_semi")


def _slices(leader_timeline: DataFrame, width_ms: int) -> DataFrame:
    """One row per partition and slice that has events of it: what they show."""
    hw_rises = F.max(C.HIGH_WATERMARK) > F.min(C.HIGH_WATERMARK)
    last_leader = F.max_by(C.LEADER_ID, C.LEADER_EPOCH)
    return leader_timeline.groupBy(*C.PARTITION_KEY, slice_of(C.EVENT_TIME, width_ms).alias(SLICE)).agg(
        (hw_rises | F.bool_or(~is_behind())).alias(IS_SHOWN),
        last_leader.alias(C.LEADER_ID),
        F.bool_or(F.coalesce(C.IS_UNDER_MIN_ISR, F.lit(False))).alias(WAS_UNDER_MIN_ISR),
        F.bool_or(F.col(C.LOG_END_OFFSET_LOW) < F.col(C.LOG_END_OFFSET_HIGH)).alias(IS_BOUNDED),
    )
