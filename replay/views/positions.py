"""Consumers' positions against what their leader had: a client id is all that a request log knows of a consumer."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.readable import readable
from replay.windows import FIRST, NOW, carried
from schemas import columns as C
from schemas import view_columns as V
from schemas.answers import Position
from schemas.columns import UNKNOWN_OFFSET

_STATE = (C.LOG_END_OFFSET, C.HIGH_WATERMARK, C.LAST_STABLE_OFFSET, C.LOG_START_OFFSET)
_HIGH, _LEO_HIGH = C.HIGH_WATERMARK_HIGH, C.LOG_END_OFFSET_HIGH
OFFSET_OUT_OF_RANGE = 1
"""The error of a response: the position is not in the log that was asked."""
_HIGHEST, _ANSWERED = "highest_high_watermark", "answered"


def consumer_positions(fetch_events: DataFrame, leader_timeline: DataFrame) -> DataFrame:
    """One row per consumer's fetch of a partition: its offset, what the leader had then, and `position_is`.

    `may_read_to` is the HW, or the LSO under read_committed; of a fetch from a follower (KIP-392) its own, as it told,
    -1 where it did not. `lag` is how far the position is from it, negative where it is beyond. Both sides are put in
    order by the clock of the broker that served, per leader epoch, which is good to a millisecond: the response's own
    HW stands beside the rebuilt one, and a position is beyond what was rebuilt only if it is beyond that too. Else the
    order of the two is not known, nor is the lag.
    """
    consumed = fetch_events.where(F.col(C.REPLICA_ID) < 0).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.EVENT_TIME, C.BROKER_ID, C.CLIENT_ID, C.FETCH_OFFSET, C.ISOLATION_LEVEL,
        C.ERROR_CODE, C.RESPONSE_HIGH_WATERMARK, C.RESPONSE_LAST_STABLE_OFFSET, C.SOURCE_FILE, C.SOURCE_LINE,
        _answered().alias(_ANSWERED),
        F.lit(1).alias("is_fetch"), F.lit(0).cast("bigint").alias(C.EVENT_SEQ),
    )  # fmt: skip
    led = leader_timeline.select(
        *C.PARTITION_KEY,
        C.LEADER_EPOCH,
        C.EVENT_TIME,
        C.EVENT_SEQ,
        F.lit(0).alias("is_fetch"),
        F.struct(*_STATE, _HIGH, _LEO_HIGH, F.col(C.LEADER_ID)).alias("had"),
    )
    in_order = (
        Window.partitionBy(*C.PARTITION_KEY)
        .orderBy(C.LEADER_EPOCH, C.EVENT_TIME, "is_fetch", C.EVENT_SEQ, C.SOURCE_FILE, C.SOURCE_LINE)
        .rowsBetween(FIRST, NOW)
    )
    both = led.unionByName(consumed, allowMissingColumns=True)
    known = both.withColumns(
        {"then": carried(F.col("had"), in_order), _HIGHEST: F.max(f"had.{C.HIGH_WATERMARK}").over(in_order)}
    )
    of_leader = F.expr(readable(C.HIGH_WATERMARK, C.LAST_STABLE_OFFSET))
    may_read_to = F.when(_is_at_follower(), F.expr(readable(_ANSWERED, C.RESPONSE_LAST_STABLE_OFFSET))).otherwise(
        of_leader
    )
    is_told = (may_read_to >= 0) & (_is_at_follower() | ~_is_unproven())
    lag = F.when(is_told, may_read_to - F.col(C.FETCH_OFFSET))
    return known.where("is_fetch = 1").select("*", "then.*").select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.EVENT_TIME, C.CLIENT_ID, C.BROKER_ID, C.FETCH_OFFSET, C.ERROR_CODE, *_STATE,
        C.RESPONSE_HIGH_WATERMARK, may_read_to.alias(V.MAY_READ_TO), lag.alias(V.LAG),
        F.when(_is_at_follower(), _position_at_follower()).otherwise(_position()).alias(V.POSITION_IS),
        C.SOURCE_FILE, C.SOURCE_LINE,
    )  # fmt: skip


def _answered() -> Column:
    """Return the HW of the response, or of its fetch session, which leaves out what is the same; -1 unknown.

    Of a fetch that was parked it is the one at its completion (DelayedFetch.scala:166).
    """
    return F.coalesce(F.greatest(C.RESPONSE_HIGH_WATERMARK, C.SESSION_HIGH_WATERMARK), F.lit(UNKNOWN_OFFSET))


def _is_at_follower() -> Column:
    """Return whether another broker than the leader served the fetch, by its own HW and LSO."""
    return F.coalesce(F.col(C.BROKER_ID) != F.col(C.LEADER_ID), F.lit(False))


def _is_unproven() -> Column:
    """Return whether an offset beyond the rebuilt HW may not have been so when the fetch was read.

    A step of the HW in the same millisecond may come before it: only a lower HW in the response rules that out, or an
    offset beyond the LEO, which is answered with no HW.
    """
    offset, leo, answered = F.col(C.FETCH_OFFSET), F.col(C.LOG_END_OFFSET), F.col(_ANSWERED)
    is_untold = (answered < 0) & ((leo < 0) | (offset <= leo))
    return (offset > F.col(C.HIGH_WATERMARK)) & (is_untold | (answered >= offset))


def _position() -> Column:
    """Return where a position lies: OFFSET_OUT_OF_RANGE has two causes, and a negative lag two others."""
    offset, hw, leo = F.col(C.FETCH_OFFSET), F.col(C.HIGH_WATERMARK), F.col(C.LOG_END_OFFSET)
    longest = F.greatest(leo, _LEO_HIGH)
    # At the low bound it is at the end, or behind it; between the bounds behind it, at it, or beyond.
    is_between = (offset >= hw) & (offset <= F.col(_HIGH)) & (hw < F.col(_HIGH))
    is_past_low_end = (leo >= 0) & (offset > leo)
    places = (
        (hw.isNull() | (hw < 0) | is_between, Position.UNKNOWN),
        (offset < F.col(C.LOG_START_OFFSET), Position.BELOW_LOG_START),
        (_is_unproven() | (is_past_low_end & (offset <= longest)), Position.UNKNOWN),
        (is_past_low_end, Position.BEYOND_LOG_END),
        ((offset > hw) & (F.col(_HIGHEST) >= offset), Position.BEYOND_REGRESSED_HIGH_WATERMARK),
        (offset > hw, Position.BEYOND_HIGH_WATERMARK),
        (offset == hw, Position.AT_END),
    )
    place = F.lit(Position.BEHIND.value)
    for is_it, where in reversed(places):
        place = F.when(is_it, where.value).otherwise(place)
    return place


def _position_at_follower() -> Column:
    """Return where a position lies in the log of a follower, by what it answered: OFFSET_OUT_OF_RANGE tells no HW."""
    offset, answered = F.col(C.FETCH_OFFSET), F.col(_ANSWERED)
    is_out_of_range = F.col(C.ERROR_CODE) == OFFSET_OUT_OF_RANGE
    return (
        F.when(is_out_of_range & (offset < F.col(C.LOG_START_OFFSET)), Position.BELOW_LOG_START.value)
        .when(is_out_of_range, Position.BEYOND_LOG_END.value)
        .when(answered < 0, Position.UNKNOWN.value)
        .when(offset > answered, Position.BEYOND_HIGH_WATERMARK.value)
        .when(offset == answered, Position.AT_END.value)
        .otherwise(Position.BEHIND.value)
    )
