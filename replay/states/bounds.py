"""Bounds: what a leader's HW and LEO may have been while its request log was silent.

Within a leadership neither falls. So each is at least the greatest value known so far, and at most the next value that
is known: stated by a line (`replay.events.told`), rebuilt again from requests, or the end of the leader's dump.
Where none follows there is no upper bound.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import event, is_event, is_event_of
from replay.events.leaderships import STATED_HW
from replay.high_watermark import holds
from replay.states.log_ends import DUMPED_END
from replay.windows import FIRST, LAST, from_here, place, so_far
from schemas import columns as C
from schemas.columns import NO_BOUND
from schemas.kinds import EventType, Exactness

_REQUESTS = (EventType.APPEND, EventType.FETCH)


def with_bounds(known: DataFrame, told: DataFrame, ends: DataFrame, slots: int) -> DataFrame:
    """Return the events of `leader_rows.with_high_watermark`, bounded where the log was silent.

    `told` is `told.told_by_leaders`, `ends` is `log_ends.log_ends`. From here on `STATEMENT` and `SILENCE` events are
    of type WITNESS, as the tables show them.
    """
    is_told = is_event(N.STATEMENT)
    line = C.on_partition(C.LEADER_EPOCH, *C.LINE)
    remotes = told.select(*line, N.TOLD_REMOTE)
    marked = known.withColumns(
        {N.IS_UNSURE: _is_unsure(slots), N.IS_UNHEARD: _is_unheard(), C.HIGH_WATERMARK: _surely_reached()}
    )
    begins = is_event(EventType.BECOME_LEADER)
    own_leo = F.when(begins & (F.col(C.LOG_END_OFFSET) >= 0), F.col(C.LOG_END_OFFSET))
    pointed = marked.withColumns(
        {
            "hw_at_least": F.when(is_told, F.col(C.RESPONSE_HIGH_WATERMARK)).otherwise(_sure(C.HIGH_WATERMARK_LOW)),
            "hw_at_most": F.when(is_told, F.col(C.RESPONSE_HIGH_WATERMARK)).otherwise(_sure(C.HIGH_WATERMARK_HIGH)),
            "leo_is": F.when(is_told, F.col(C.LAST_OFFSET) + 1).otherwise(F.coalesce(own_leo, _whole_log())),
        }
    )
    limited = pointed.withColumns(_limits()).join(F.broadcast(ends), C.on_partition(C.LEADER_EPOCH), "left")
    bounded = _bounded(limited)
    return (
        bounded.join(F.broadcast(remotes), line, "left")
        .withColumn(N.TOLD_REMOTE, F.when(is_told, F.col(N.TOLD_REMOTE)))
        .withColumn(
            N.EVENT, F.when(is_event(N.STATEMENT, N.SILENCE), event(EventType.WITNESS)).otherwise(F.col(N.EVENT))
        )
    )


def _sure(column: str) -> Column:
    return F.when(~F.col(N.IS_UNSURE) & (F.col(column) >= 0), F.col(column))


def _whole_log() -> Column:
    """Return the LEO where it is known and no append is missing."""
    return F.when(F.col(C.LOG_END_OFFSET_HIGH) == F.col(C.LOG_END_OFFSET), _sure(C.LOG_END_OFFSET))


def _is_unsure(slots: int) -> Column:
    """Return whether a silence has not ended: since it no append, or no fetch of some replica the HW waits for."""
    seq = F.col(C.EVENT_SEQ)

    def last(condition: Column) -> Column:
        return F.max(F.when(condition, seq)).over(so_far())

    silence = last(is_event(N.SILENCE))
    heard = last(is_event(EventType.APPEND)) > silence
    for i in range(slots):
        fetched = last(is_event_of(i, EventType.FETCH)) > silence
        heard = heard & (~holds(i, F.col(N.JOINING_MASK)) | fetched)
    unheard = silence.isNotNull() & ~F.coalesce(heard, F.lit(False))
    # Before 2.4 the line of an election states no HW; of one that does, the HW may rise a moment later.
    is_other = ~F.col(STATED_HW).eqNullSafe(F.col(C.HIGH_WATERMARK)) & ~F.col(N.EPOCH_START).eqNullSafe(F.lit(0))
    untold = _begins_silent() & is_other
    return is_event(N.STATEMENT) | unheard | untold


def _begins_silent() -> Column:
    """Return whether the event begins a leadership of which nothing more is told."""
    begins = is_event(EventType.BECOME_LEADER)
    return F.coalesce(begins & is_event(N.SILENCE, of=F.lead(N.EVENT).over(place())), F.lit(False))


def _surely_reached() -> Column:
    """Return the HW; at a silent begin what its line states: the leader evaluates the HW some milliseconds later."""
    after = is_event(N.SILENCE) & is_event(EventType.BECOME_LEADER, of=F.lag(N.EVENT).over(place()))
    return F.when(_begins_silent() | after, F.least(C.HIGH_WATERMARK, STATED_HW)).otherwise(F.col(C.HIGH_WATERMARK))


def _is_unheard() -> Column:
    """Return whether the request log is silent and no request of the leader epoch is logged."""
    epoch = Window.partitionBy(*C.PARTITION_KEY, C.LEADER_EPOCH).rowsBetween(FIRST, LAST)
    requests, silences = F.count_if(is_event(*_REQUESTS)), F.count_if(is_event(N.SILENCE))
    return (requests.over(epoch) == 0) & (silences.over(epoch) > 0)


def _limits() -> dict[str, Column]:
    """Return the greatest value known so far and the least known from here on."""
    return {
        "hw_low": F.max("hw_at_least").over(so_far()),
        "hw_high": F.min("hw_at_most").over(from_here()),
        "leo_low": F.max("leo_is").over(so_far()),
        "leo_high": F.min("leo_is").over(from_here()),
    }


def _bounded(limited: DataFrame) -> DataFrame:
    """Return the events with both bounds of LEO and HW, and the low one as the value, where the log is silent."""
    unsure = F.col(N.IS_UNSURE)
    hw_low = F.greatest(C.HIGH_WATERMARK, "hw_low")
    leo_low = F.greatest(C.LOG_END_OFFSET, "leo_low", hw_low)
    leo_high = F.greatest(F.coalesce(F.least("leo_high", DUMPED_END), F.lit(NO_BOUND)), leo_low)
    hw_high = F.greatest(F.least("hw_high", leo_high), hw_low)
    exactness = F.when(hw_low == hw_high, Exactness.STATED.value).otherwise(Exactness.BOUNDED.value)
    values = {
        C.HIGH_WATERMARK: hw_low, C.HIGH_WATERMARK_LOW: hw_low, C.HIGH_WATERMARK_HIGH: hw_high, C.EXACTNESS: exactness,
        C.LOG_END_OFFSET: leo_low, C.LOG_END_OFFSET_LOW: leo_low, C.LOG_END_OFFSET_HIGH: leo_high,
    }  # fmt: skip
    # Of a row that is doubted for another reason (`doubts`) it is known as well what the HW had come to before.
    risen = F.least(F.greatest(C.HIGH_WATERMARK_LOW, "hw_low"), C.HIGH_WATERMARK_HIGH)
    is_one = (F.col(C.EXACTNESS) == Exactness.BOUNDED.value) & (risen == F.col(C.HIGH_WATERMARK_HIGH))
    otherwise = {
        C.HIGH_WATERMARK: risen, C.HIGH_WATERMARK_LOW: risen,
        C.EXACTNESS: F.when(is_one, Exactness.STATED.value).otherwise(F.col(C.EXACTNESS)),
    }  # fmt: skip
    made: dict[str, Column] = {
        name: F.when(unsure, value).otherwise(otherwise.get(name, F.col(name))) for name, value in values.items()
    }
    return limited.withColumns(made).drop(
        "hw_low", "hw_high", "leo_low", "leo_high", "hw_at_least", "hw_at_most", "leo_is", DUMPED_END
    )
