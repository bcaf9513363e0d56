"""Consumers' positions against what their leader had: a client id is all that a request log knows of a consumer."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.readable import readable
from replay.windows import FIRST, NOW, carried
from schemas import columns as C
from schemas import view_columns as V
from schemas.answers import Position
from schemas.columns import READ_COMMITTED, UNKNOWN_OFFSET

_STATE = (C.LOG_END_OFFSET, C.HIGH_WATERMARK, C.LAST_STABLE_OFFSET, C.LOG_START_OFFSET)
_HIGH, _LEO_HIGH = C.HIGH_WATERMARK_HIGH, C.LOG_END_OFFSET_HIGH
OFFSET_OUT_OF_RANGE = 1
"""The error of a response: the position is not in the log that was asked."""
_HIGHEST, _ANSWERED = "highest_high_watermark", "answered"
_LED_EPOCH = "led_epoch"
"""int: the epoch of what the leader had; an earlier one than the fetch's where its own leader comes later."""


def consumer_positions(fetch_events: DataFrame, leader_timeline: DataFrame) -> DataFrame:
    """One row per consumer's fetch of a partition: its offset, what the leader had then, and `position_is`.

    `may_read_to` is the HW, or the LSO under read_committed; of a fetch from a follower (KIP-392) its own, as it told,
    -1 where it did not. `lag` is how far the position is from it, negative where it is beyond. Both sides are put in
    order by the clock of the broker that served, per leader epoch, which is good to a millisecond, so the response
    bears witness: what it served was in the log, what it refused was not, and a position is beyond what was rebuilt
    only if it is beyond the response's HW or LSO too. Else the order of the two is not known, nor is the lag.
    """
    consumed = fetch_events.where(F.col(C.REPLICA_ID) < 0).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.EVENT_TIME, C.BROKER_ID, C.CLIENT_ID, C.FETCH_OFFSET, C.ISOLATION_LEVEL,
        C.ERROR_CODE, C.RESPONSE_HIGH_WATERMARK, C.SOURCE_FILE, C.SOURCE_LINE, _answered().alias(_ANSWERED),
        F.coalesce(C.RESPONSE_LAST_STABLE_OFFSET, F.lit(UNKNOWN_OFFSET)).alias(C.RESPONSE_LAST_STABLE_OFFSET),
        F.lit(1).alias("is_fetch"), F.lit(0).cast("bigint").alias(C.EVENT_SEQ),
    )  # fmt: skip
    led = leader_timeline.select(
        *C.PARTITION_KEY,
        C.LEADER_EPOCH,
        C.EVENT_TIME,
        C.EVENT_SEQ,
        F.lit(0).alias("is_fetch"),
        F.struct(*_STATE, _HIGH, _LEO_HIGH, C.LEADER_ID, F.col(C.LEADER_EPOCH).alias(_LED_EPOCH)).alias("had"),
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
    placed = known.where("is_fetch = 1").select("*", "then.*").withColumn(V.MAY_READ_TO, _may_read_to())
    is_told = (F.col(V.MAY_READ_TO) >= 0) & (_is_at_follower() | ~_is_unproven())
    lag = F.when(is_told, F.col(V.MAY_READ_TO) - F.col(C.FETCH_OFFSET))
    served = F.when(_is_at_follower(), _position_at_follower()).otherwise(_position())
    return placed.select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.EVENT_TIME, C.CLIENT_ID, C.BROKER_ID, C.FETCH_OFFSET, C.ERROR_CODE, *_STATE,
        C.RESPONSE_HIGH_WATERMARK, V.MAY_READ_TO, lag.alias(V.LAG),
        F.when(_is_refused(), _refused_position()).otherwise(served).alias(V.POSITION_IS),
        C.SOURCE_FILE, C.SOURCE_LINE,
    )  # fmt: skip


def _answered() -> Column:
    """Return the HW of the response, or of its fetch session, which leaves out what is the same; -1 unknown.

    Of a fetch that was parked it is the one at its completion (DelayedFetch.scala:166).
    """
    return F.coalesce(F.greatest(C.RESPONSE_HIGH_WATERMARK, C.SESSION_HIGH_WATERMARK), F.lit(UNKNOWN_OFFSET))


def _may_read_to() -> Column:
    """Return how far the broker that served lets the consumer read: a follower by what it told."""
    of_leader = F.expr(readable(C.HIGH_WATERMARK, C.LAST_STABLE_OFFSET))
    return F.when(_is_at_follower(), F.expr(readable(_ANSWERED, C.RESPONSE_LAST_STABLE_OFFSET))).otherwise(of_leader)


def _is_at_follower() -> Column:
    """Return whether another broker than the leader served the fetch, by its own HW and LSO."""
    return F.coalesce(F.col(C.BROKER_ID) != F.col(C.LEADER_ID), F.lit(False))


def _is_refused() -> Column:
    """Return whether the response says that the position is not in the log that was asked."""
    return F.coalesce(F.col(C.ERROR_CODE) == OFFSET_OUT_OF_RANGE, F.lit(False))


def _is_of_epoch() -> Column:
    """Return whether what is known is of the leader of the fetch's own epoch, not of one before."""
    return F.coalesce(F.col(_LED_EPOCH) == F.col(C.LEADER_EPOCH), F.lit(False))


def _is_below_log() -> Column:
    """Return whether the position is below the log of the leader of its epoch."""
    return _is_of_epoch() & (F.col(C.FETCH_OFFSET) < F.col(C.LOG_START_OFFSET))


def _is_above_log() -> Column:
    """Return whether the position is above the log of the leader of its epoch, however long that may be."""
    leo = F.col(C.LOG_END_OFFSET)
    return _is_of_epoch() & (leo >= 0) & (F.col(C.FETCH_OFFSET) > F.greatest(leo, _LEO_HIGH))


def _is_beyond_answered() -> Column:
    """Return whether the position is above the HW that the response tells."""
    return (F.col(_ANSWERED) >= 0) & (F.col(C.FETCH_OFFSET) > F.col(_ANSWERED))


def _is_unproven() -> Column:
    """Return whether a position at the leader may not have been where what was rebuilt has it when it was read.

    A step of the HW or LSO in the same millisecond may come before the fetch: only a lower one in the response rules
    that out. The LSO is not above the HW, which tells where the session leaves the LSO out. What is refused within the
    log was read before or after it began or ended there.
    """
    offset, lso = F.col(C.FETCH_OFFSET), F.col(C.RESPONSE_LAST_STABLE_OFFSET)
    is_beyond_lso = (F.col(C.ISOLATION_LEVEL) == READ_COMMITTED) & (lso >= 0) & (offset > lso)
    is_unproven = (offset > F.col(V.MAY_READ_TO)) & ~(_is_beyond_answered() | is_beyond_lso)
    return F.when(_is_refused(), ~(_is_below_log() | _is_above_log())).otherwise(is_unproven)


def _first_of(*places: tuple[Column, Position]) -> Column:
    """Return the word of the first place that it is; BEHIND where it is none."""
    place = F.lit(Position.BEHIND.value)
    for is_it, where in reversed(places):
        place = F.when(is_it, where.value).otherwise(place)
    return place


def _refused_position() -> Column:
    """Return where a position lies that is out of range: outside the leader's log, or a follower's alone.

    Of a follower in which the leader's records are not: it may lag, and it deletes by itself what is old.
    """
    leo, start = F.col(C.LOG_END_OFFSET), F.col(C.LOG_START_OFFSET)
    is_in_log = _is_of_epoch() & (start >= 0) & F.col(C.FETCH_OFFSET).between(start, leo)
    return _first_of(
        (_is_below_log(), Position.BELOW_LOG_START),
        (_is_above_log(), Position.BEYOND_LOG_END),
        (_is_at_follower() & is_in_log, Position.OUTSIDE_FOLLOWERS_LOG),
        (F.lit(True), Position.UNKNOWN),
    )


def _position() -> Column:
    """Return where a position lies that the leader did not refuse: a negative lag has three causes."""
    offset, hw, may_read_to = F.col(C.FETCH_OFFSET), F.col(C.HIGH_WATERMARK), F.col(V.MAY_READ_TO)
    # At the low bound it is at the end, or behind it; between the bounds behind it, at it, or beyond.
    is_between = (offset >= hw) & (offset <= F.col(_HIGH)) & (hw < F.col(_HIGH))
    is_beyond_hw = (offset > hw) & _is_beyond_answered()
    # Another error than OFFSET_OUT_OF_RANGE does not show that the position was in the log.
    is_unread = (F.col(C.ERROR_CODE) != 0) & (offset < F.col(C.LOG_START_OFFSET))
    return _first_of(
        (hw.isNull() | (hw < 0) | (may_read_to < 0) | is_between | is_unread | _is_unproven(), Position.UNKNOWN),
        (is_beyond_hw & (F.col(_HIGHEST) >= offset), Position.BEYOND_REGRESSED_HIGH_WATERMARK),
        (is_beyond_hw, Position.BEYOND_HIGH_WATERMARK),
        (offset > may_read_to, Position.BEYOND_LAST_STABLE_OFFSET),
        (offset == may_read_to, Position.AT_END),
    )


def _position_at_follower() -> Column:
    """Return where a position lies in the log of a follower that did not refuse it, by what it answered."""
    offset, may_read_to = F.col(C.FETCH_OFFSET), F.col(V.MAY_READ_TO)
    return _first_of(
        (_is_beyond_answered(), Position.BEYOND_HIGH_WATERMARK),
        (may_read_to < 0, Position.UNKNOWN),
        (offset > may_read_to, Position.BEYOND_LAST_STABLE_OFFSET),
        (offset == may_read_to, Position.AT_END),
    )
