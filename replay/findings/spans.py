"""Spans: a leadership in one row, made of the leader's timeline; what post-mortem questions are asked of.

A partition has few of them, so that everything derived from them is small.
"""

from __future__ import annotations

from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.states.begins import begins
from replay.windows import is_end_told_late
from schemas import columns as C
from schemas.kinds import EventType

NUMBER = "number"
"""int: leaderships of one leader epoch from 1: the leader's process may restart and keep its epoch."""
START_LEO = "start_log_end_offset"
"""bigint: the leader's LEO when it began; NULL where no line tells."""
START_HW = "start_high_watermark"
"""bigint: its HW then."""
START_HW_HIGH = "start_high_watermark_high"
"""bigint: the highest that this may have been."""
END_LEO = "end_log_end_offset"
"""bigint: the highest LEO it came to."""
END_HW = "end_high_watermark"
"""bigint: its HW at the end."""
START_ISR = "start_isr"
END_ISR = "end_isr"
"""array<int>: the committed ISR when it began; the widest the leader knew of at its end, joining replicas included."""
REQUESTS = "requests"
"""bigint: appends and fetches of the leadership that the capture shows."""
SPAN = (*C.EPOCH_KEY, NUMBER)
_LAST_SEQ, _LAST_ACTIVE = "last_seq", "last_active"
"""bigint: event_seq of its last event, and of the last that is not the end of its process."""


def spans(leader_timeline: DataFrame) -> DataFrame:
    """One row per leadership: `SPAN`, capture_id, leader_id, started_at and what its columns above say."""
    numbered = _numbered(leader_timeline)
    at_begin = numbered.where(begins()).groupBy(*SPAN).agg(F.max(C.ISR).alias(START_ISR))
    # A process that was killed ends as it is started again: by then an ISR that is inferred (up to 2.7) is nobody's.
    reached = _reached(numbered).withColumn(_LAST_SEQ, F.coalesce(_LAST_ACTIVE, _LAST_SEQ)).drop(_LAST_ACTIVE)
    # Its last event is one row of each leadership: what that shows of the ISR is looked up.
    ended = leader_timeline.select(
        *C.EPOCH_KEY, F.col(C.EVENT_SEQ).alias(_LAST_SEQ), F.coalesce(C.MAXIMAL_ISR, C.ISR).alias(END_ISR)
    ).join(F.broadcast(reached), [*map(str, C.EPOCH_KEY), _LAST_SEQ])  # fmt: skip
    return ended.drop(_LAST_SEQ).join(F.broadcast(at_begin), [*map(str, SPAN)], "left")


def _reached(numbered: DataFrame) -> DataFrame:
    """One row per leadership: what a number says of it.

    Grouped by capture first: for the least of texts, as for an array, Spark would sort all events.
    """
    begin = begins()
    is_request = F.col(C.EVENT_TYPE).isin(EventType.APPEND.value, EventType.FETCH.value)
    greatest = {
        START_LEO: F.when(begin & (F.col(C.LOG_END_OFFSET) >= 0), _begun_with()),
        START_HW: F.when(begin, F.col(C.HIGH_WATERMARK)),
        START_HW_HIGH: F.when(begin, F.greatest(C.HIGH_WATERMARK, C.HIGH_WATERMARK_HIGH)),
        END_LEO: F.col(C.LOG_END_OFFSET),
        C.HIGH_WATERMARK: F.col(C.HIGH_WATERMARK),
        C.HIGH_WATERMARK_HIGH: F.greatest(C.HIGH_WATERMARK, C.HIGH_WATERMARK_HIGH),
        C.LOG_START_OFFSET: F.col(C.LOG_START_OFFSET),
        _LAST_SEQ: F.col(C.EVENT_SEQ),
        _LAST_ACTIVE: F.when(~is_end_told_late(), F.col(C.EVENT_SEQ)),
    }
    of_capture = numbered.groupBy(*SPAN, C.CAPTURE_ID).agg(
        F.max_by(C.LEADER_ID, C.EVENT_SEQ).alias(C.LEADER_ID),
        F.min(F.when(begin, F.col(C.EVENT_TIME))).alias("began_at"),
        F.min(C.EVENT_TIME).alias(C.STARTED_AT),
        F.count_if(is_request).alias(REQUESTS),
        *[F.max(value).alias(name) for name, value in greatest.items()],
    )
    return of_capture.groupBy(*SPAN).agg(
        F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
        F.max_by(C.LEADER_ID, _LAST_SEQ).alias(C.LEADER_ID),
        F.coalesce(F.min("began_at"), F.min(C.STARTED_AT)).alias(C.STARTED_AT),
        F.sum(REQUESTS).alias(REQUESTS),
        *[F.max(name).alias(name) for name in greatest],
    )


def _begun_with() -> Column:
    """Return the LEO that a leadership begins with, of the row of its begin.

    Its line states it: what may have been appended before the next line, so the high bound, it had not begun with. In
    silence, where no row has a LSO, that bound is all there is: what lies between may be in the log.
    """
    is_silent = (F.col(C.HIGH_WATERMARK) >= 0) & (F.col(C.LAST_STABLE_OFFSET) < 0)
    longest = F.greatest(C.LOG_END_OFFSET, C.LOG_END_OFFSET_HIGH)
    return F.when(is_silent, longest).otherwise(F.col(C.LOG_END_OFFSET))


def at_both_ends(leader_timeline: DataFrame) -> DataFrame:
    """One row per leadership, as its first and its last event show it: `SPAN`, leader_id, started_at, LEOs and HWs.

    And the exactness of the last event. What is known between bounds stands as the timeline has it.
    """
    first, last = partial(F.min_by, ord=C.EVENT_SEQ), partial(F.max_by, ord=C.EVENT_SEQ)
    return (
        _numbered(leader_timeline)
        .groupBy(*SPAN)
        .agg(
            first(C.LEADER_ID).alias(C.LEADER_ID),
            first(C.EVENT_TIME).alias(C.STARTED_AT),
            first(C.LOG_END_OFFSET).alias(START_LEO),
            first(C.HIGH_WATERMARK).alias(START_HW),
            last(C.LOG_END_OFFSET).alias(END_LEO),
            last(C.HIGH_WATERMARK).alias(END_HW),
            last(C.EXACTNESS).alias(C.EXACTNESS),
        )
    )


def _numbered(leader_timeline: DataFrame) -> DataFrame:
    """Return the events with `number`: what comes before the first that begins a leadership is of the first."""
    begun = leader_timeline.where(begins()).groupBy(*C.EPOCH_KEY).agg(F.collect_list(C.EVENT_SEQ).alias("begun"))
    # Of few epochs, those whose leader's process started anew: all others need no order.
    several = F.broadcast(begun.where(F.size("begun") > 1))
    so_far = F.size(F.filter("begun", lambda seq: seq <= F.col(C.EVENT_SEQ)))
    known = leader_timeline.join(several, C.on_partition(C.LEADER_EPOCH), "left")
    number = F.when(F.col("begun").isNull(), 1).otherwise(F.greatest(F.lit(1), so_far))
    return known.withColumn(NUMBER, number).drop("begun")
