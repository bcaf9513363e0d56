"""Suspects: the partitions of which a finder has to look at every event in order, told from one look at all events.

To put events in order is dear, and what lasts long is seen without: a slice of time that it goes on through holds no
event that ends it. Of a busy and healthy partition every slice does. Who is no suspect has no finding; who is one need
not have any.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.held_back import is_behind
from schemas import columns as C
from schemas.kinds import EventType

MAY_STALL = "may_have_stalled"
"""boolean: the HW may have stood still below the LEO for as long as a stall lasts."""
MAY_BE_STALE = "may_be_stale"
"""boolean: some replica may have been behind the LEO for as long as a member of the ISR may."""
WAS_UNDER_MIN_ISR = "was_under_min_isr"
"""boolean: at some event the ISR was smaller than min.insync.replicas."""
IS_BOUNDED = "is_bounded_in_part"
"""boolean: at some event the LEO is known between bounds only: requests are missing."""

_SLICE, _SEQ, _AT = "slice", str(C.EVENT_SEQ), "began_at"
_MOVES, _LEVEL, _WITNESSED = "moves", "is_level", "is_witnessed"
"""boolean: in the slice the HW rose, or was no lower than the LEO; every replica was at the LEO; a witness came."""
_FLAGS = (WAS_UNDER_MIN_ISR, IS_BOUNDED, _WITNESSED)
_STALL, _STAY = f"stall_{_SLICE}", f"stay_{_SLICE}"
"""bigint: the number of the slice of either width, from 1970 on."""


def suspects(leader_timeline: DataFrame, stall_ms: int, stay_ms: Column) -> DataFrame:
    """One row per partition: its key and the four columns above.

    What lasts `stall_ms` goes on through a whole slice of two fifths of that; what lasts `stay_ms`, through one of a
    third of it. At an event of every replica at the LEO nobody is behind, nor had been since it fetched last; unless it
    was no fetch, but a witness that told of it.
    """
    narrow = stall_ms * 2 // 5
    wide = F.floor(F.col(_STALL) * narrow / (stay_ms / 3)).cast("bigint")
    slices = _slices(leader_timeline, narrow).withColumn(_STAY, wide)
    epochs = _epochs(slices)
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH)
    # What goes on at the end of an epoch ends with the next one's first event.
    next_slice = F.lead(F.unix_millis(_AT)).over(in_order)
    ended = epochs.withColumn("until", F.greatest(f"{_STALL}_last", F.floor(next_slice / narrow)))
    may_be_stale = _is_left_out(_STAY, F.col(f"{_STAY}_last")) | F.col(_WITNESSED)
    return ended.groupBy(*C.PARTITION_KEY).agg(
        F.bool_or(_is_left_out(_STALL, F.col("until"))).alias(MAY_STALL),
        F.bool_or(may_be_stale).alias(MAY_BE_STALE),
        F.bool_or(WAS_UNDER_MIN_ISR).alias(WAS_UNDER_MIN_ISR),
        F.bool_or(IS_BOUNDED).alias(IS_BOUNDED),
    )


def only(rows: DataFrame, suspected: DataFrame, of: str) -> DataFrame:
    """Return the rows of the partitions that are suspects `of` it; `suspected` is `suspects`."""
    return rows.join(F.broadcast(suspected.where(of).select(*C.PARTITION_KEY)), C.on_partition(), "left_semi")


def _slices(leader_timeline: DataFrame, width_ms: int) -> DataFrame:
    """One row per leader epoch and narrow slice that has events of it: what they show."""
    lowest = F.array_min(F.map_values(C.REMOTE_LEO_MAP))
    is_level = (F.col(C.LOG_END_OFFSET) >= 0) & (F.coalesce(lowest, C.LOG_END_OFFSET) >= F.col(C.LOG_END_OFFSET))
    number = F.floor(F.unix_millis(C.EVENT_TIME) / width_ms).cast("bigint")
    return leader_timeline.groupBy(*C.EPOCH_KEY, number.alias(_STALL)).agg(
        ((F.max(C.HIGH_WATERMARK) > F.min(C.HIGH_WATERMARK)) | F.bool_or(~is_behind())).alias(_MOVES),
        F.bool_or(is_level).alias(_LEVEL),
        F.min(_SEQ).alias(_SEQ),
        F.min_by(C.EVENT_TIME, _SEQ).alias(_AT),
        F.bool_or(F.coalesce(C.IS_UNDER_MIN_ISR, F.lit(False))).alias(WAS_UNDER_MIN_ISR),
        F.bool_or(F.col(C.LOG_END_OFFSET_LOW) < F.col(C.LOG_END_OFFSET_HIGH)).alias(IS_BOUNDED),
        F.bool_or(F.col(C.EVENT_TYPE) == EventType.WITNESS.value).alias(_WITNESSED),
    )


def _epochs(slices: DataFrame) -> DataFrame:
    """One row per leader epoch: of either width the first and the last slice, and which show what ends things.

    Of narrow slices each is a row; of a wide one several are.
    """
    return slices.groupBy(*C.EPOCH_KEY).agg(
        *_ends(_STALL, F.col(_MOVES)),
        F.count_if(_MOVES).alias(f"{_STALL}_shown"),
        *_ends(_STAY, F.col(_LEVEL)),
        F.count_distinct(F.when(F.col(_LEVEL), F.col(_STAY))).alias(f"{_STAY}_shown"),
        F.min_by(_AT, _SEQ).alias(_AT),
        *[F.bool_or(flag).alias(flag) for flag in _FLAGS],
    )


def _ends(name: str, shows: Column) -> list[Column]:
    """Return the first and the last slice of all, and of those that show what ends things."""
    every, shown = F.col(name), F.when(shows, F.col(name))
    return [
        F.min(every).alias(f"{name}_first"),
        F.max(every).alias(f"{name}_last"),
        F.min(shown).alias(f"{name}_first_shown"),
        F.max(shown).alias(f"{name}_last_shown"),
    ]


def _is_left_out(name: str, end: Column) -> Column:
    """Return whether some slice between the first and the `end` shows nothing that ends things, or has no event."""
    first, last, first_shown, last_shown = (
        F.col(f"{name}_{which}") for which in ("first", "last", "first_shown", "last_shown")
    )
    at_ends = first_shown.eqNullSafe(first).cast("int") + (last_shown.eqNullSafe(last) & (last == end)).cast("int")
    return end - first - 1 > F.col(f"{name}_shown") - at_ends
