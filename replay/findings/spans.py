"""Spans: a leadership in one row, made of the leader's timeline; what post-mortem questions are asked of.

A partition has few of them, so that everything derived from them is small.
"""

from __future__ import annotations

from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.windows import FIRST, NOW, epoch_in_order
from schemas import columns as C
from schemas.kinds import EventType, Role

NUMBER = "number"
"""int: leaderships of one leader epoch from 1: the leader's process may restart and keep its epoch."""
START_LEO = "start_log_end_offset"
"""bigint: the leader's LEO when it began; NULL where no line tells."""
START_HW = "start_high_watermark"
"""bigint: its HW then."""
END_LEO = "end_log_end_offset"
"""bigint: the highest LEO it came to."""
END_HW = "end_high_watermark"
"""bigint: its HW at the end."""
START_ISR = "start_isr"
END_ISR = "end_isr"
"""array<int>: the committed ISR when it began; the widest the leader knew of at its end, joining replicas included."""
REQUESTS = "requests"
"""bigint: appends and fetches of the leadership that the capture shows."""
HELD_UP_TO = "held_up_to"
"""bigint: the highest LEO that requests to, or of, a replica prove; NULL where none do."""
ASKED_FROM = "asked_from"
"""bigint: the lowest of them: what the replica first asked for, if it never asked for less."""
OWN_HW = "own_high_watermark"
"""bigint: the last HW that the replica itself is known to have had there, at least; -1 unknown."""
LEADS = "leads"
"""boolean: a replica led in the leader epoch, and did not only fetch."""
FIRST_AT = "first_at"
"""timestamp: when it first did, by the clock of that epoch's leader."""
SPAN = (*C.EPOCH_KEY, NUMBER)
_LAST_SEQ = "last_seq"


def spans(leader_timeline: DataFrame) -> DataFrame:
    """One row per leadership: `SPAN`, capture_id, leader_id, started_at and what its columns above say."""
    numbered = _numbered(leader_timeline)
    led = _reached(numbered)
    at_begin = numbered.where(_begins()).groupBy(*SPAN).agg(F.max(C.ISR).alias(START_ISR))
    last = F.broadcast(led.select(*C.EPOCH_KEY, F.col(_LAST_SEQ).alias(C.EVENT_SEQ), NUMBER))
    at_end = leader_timeline.select(
        *C.EPOCH_KEY, C.EVENT_SEQ, F.coalesce(C.MAXIMAL_ISR, C.ISR).alias(END_ISR)
    ).join(last, C.on_partition(C.LEADER_EPOCH, C.EVENT_SEQ)).drop(C.EVENT_SEQ)  # fmt: skip
    of_span = C.on_partition(C.LEADER_EPOCH, NUMBER)
    return led.drop(_LAST_SEQ).join(F.broadcast(at_begin), of_span, "left").join(F.broadcast(at_end), of_span, "left")


def _reached(numbered: DataFrame) -> DataFrame:
    """One row per leadership: what a number says of it.

    Grouped by capture first: for the least of texts, as for an array, Spark would sort all events.
    """
    begins = _begins()
    is_request = F.col(C.EVENT_TYPE).isin(EventType.APPEND.value, EventType.FETCH.value)
    known_leo = begins & (F.col(C.LOG_END_OFFSET) >= 0)
    greatest = {
        # Of a bounded LEO the high bound: what lies between the bounds may be in the log.
        START_LEO: F.when(known_leo, F.greatest(C.LOG_END_OFFSET, C.LOG_END_OFFSET_HIGH)),
        START_HW: F.when(begins, F.col(C.HIGH_WATERMARK)),
        END_LEO: F.col(C.LOG_END_OFFSET),
        C.HIGH_WATERMARK: F.col(C.HIGH_WATERMARK),
        C.HIGH_WATERMARK_HIGH: F.greatest(C.HIGH_WATERMARK, C.HIGH_WATERMARK_HIGH),
        C.LOG_START_OFFSET: F.col(C.LOG_START_OFFSET),
        _LAST_SEQ: F.col(C.EVENT_SEQ),
    }
    of_capture = numbered.groupBy(*SPAN, C.CAPTURE_ID).agg(
        F.max_by(C.LEADER_ID, C.EVENT_SEQ).alias(C.LEADER_ID),
        F.min(F.when(begins, F.col(C.EVENT_TIME))).alias("began_at"),
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
    begun = leader_timeline.where(_begins()).groupBy(*C.EPOCH_KEY).agg(F.collect_list(C.EVENT_SEQ).alias("begun"))
    # Of few epochs, those whose leader's process started anew: all others need no order.
    several = F.broadcast(begun.where(F.size("begun") > 1))
    so_far = F.size(F.filter("begun", lambda seq: seq <= F.col(C.EVENT_SEQ)))
    known = leader_timeline.join(several, C.on_partition(C.LEADER_EPOCH), "left")
    number = F.when(F.col("begun").isNull(), 1).otherwise(F.greatest(F.lit(1), so_far))
    return known.withColumn(NUMBER, number).drop("begun")


def _begins() -> Column:
    return F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value


def contacts(replica_timeline: DataFrame, leader_timeline: DataFrame) -> DataFrame:
    """One row per replica and leader epoch it led or fetched successfully in, with the LEO it came to.

    And `leads`, `held_up_to`, `asked_from`, `own_high_watermark` and `first_at`.
    Where no request is logged, the ISR tells who fetched: who joined it, and who was in it to the epoch's end.
    """
    leads = F.col(C.ROLE) == Role.LEADER.value
    took_part = leads | (F.col(C.REMOTE_LEO) >= 0)
    leo = F.greatest(C.LOG_END_OFFSET, C.LOG_END_OFFSET_HIGH).alias(C.LOG_END_OFFSET)
    of_replica = (*C.PARTITION_KEY, C.REPLICA_ID, C.LEADER_EPOCH)
    asked = (
        C.REMOTE_LEO, C.EVENT_SEQ, F.col(C.HIGH_WATERMARK).alias(OWN_HW), leads.alias(LEADS),
        F.col(C.VALID_FROM).alias(FIRST_AT),
    )  # fmt: skip
    heard = replica_timeline.where(took_part).select(*of_replica, leo, *asked)
    in_order = epoch_in_order()
    joined = F.array_except(C.ISR, F.lag(C.ISR).over(in_order))
    is_last = F.lead(C.EVENT_SEQ).over(in_order).isNull()
    members = leader_timeline.where(F.col(C.ISR).isNotNull()).withColumn(
        "members", F.when(is_last, F.col(C.ISR)).otherwise(joined)
    )
    unheard = F.col(C.LOG_END_OFFSET_LOW) < F.col(C.LOG_END_OFFSET_HIGH)
    told = members.where(unheard).withColumn(C.REPLICA_ID, F.explode("members"))
    unled = told.select(*of_replica, leo, F.lit(False).alias(LEADS), F.col(C.EVENT_TIME).alias(FIRST_AT))
    return (
        heard.unionByName(unled, allowMissingColumns=True)
        .groupBy(*of_replica)
        .agg(
            F.max(C.LOG_END_OFFSET).alias(C.LOG_END_OFFSET),
            F.max(C.REMOTE_LEO).alias(HELD_UP_TO),
            F.min(C.REMOTE_LEO).alias(ASKED_FROM),
            F.max_by(OWN_HW, C.EVENT_SEQ).alias(OWN_HW),
            F.bool_or(LEADS).alias(LEADS),
            F.min(FIRST_AT).alias(FIRST_AT),
        )
    )
