"""Requests that were held up: their broker stood still while it was at work on them, and a line tells not yet done.

A request takes effect early in the time the broker works on it (`requests`). A broker that is frozen, or collects
garbage, may have stopped before that; the request then takes effect when it goes on, at the end of that time. Having
stood still for long it finds followers behind and shrinks the ISR first: that line states the leader's LEO and each
remote LEO that is out of sync (`Partition.maybeShrinkIsr`), without what such a request brings.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.statements import is_of
from schemas import columns as C
from schemas.kinds import AppendSource, StatementKind

HELD_UP_US = 20_000
"""Line and request are of one clock, good to some milliseconds; a line that is later than this came after the begin."""
_REQUEST = C.on_partition(*C.LINE)
_REACHED, _STATED, _STATED_US, _IS_LATE = "reached", "stated", "stated_us", "is_late"


def by_request() -> Column:
    """Return whether an append is a request's.

    What only a dump tells has the batch's own time; its `local_time_us` is how far that may be off, not work.
    """
    return F.col(C.APPEND_SOURCE) == AppendSource.REQUEST.value


def appends_held_up(appends: DataFrame, statements: DataFrame) -> DataFrame:
    """Return the appends of `schemas.tables.PRODUCE_EVENTS`, begun when their work ended where they were held up."""
    reached = F.when(by_request(), F.col(C.LAST_OFFSET) + 1)
    return _at_their_end(appends, statements, StatementKind.SHRINKING_LEO, reached)


def fetches_held_up(fetches: DataFrame, statements: DataFrame) -> DataFrame:
    """Return the followers' fetches of `schemas.tables.FETCH_EVENTS`, the same."""
    return _at_their_end(fetches, statements, StatementKind.SHRINKING_REMOTE_LEO, F.col(C.FETCH_OFFSET), C.REPLICA_ID)


def _at_their_end(
    requests: DataFrame, statements: DataFrame, kind: StatementKind, reached: Column, *of: str
) -> DataFrame:
    """Return the requests, begun when their work ended where a line of `kind` is short of the LEO that is `reached`.

    Few are at work for as long, and where nothing of the kind is stated no request is looked at.
    """
    begin_us, work_us = F.unix_micros(C.EVENT_TIME), F.coalesce(C.LOCAL_TIME_US, F.lit(0))
    log = C.on_partition(C.BROKER_ID, *of)
    stated = statements.where(is_of(kind)).select(
        *log, F.unix_micros(C.EVENT_TIME).alias(_STATED_US), F.col(C.OFFSET).alias(_STATED)
    )
    meanwhile = F.col(_STATED_US).between(begin_us + HELD_UP_US, begin_us + work_us)
    long = requests.where(work_us > HELD_UP_US).withColumn(_REACHED, reached)
    undone = long.join(F.broadcast(stated), log).where(meanwhile & (F.col(_STATED) < F.col(_REACHED)))
    late = undone.select(*_REQUEST).distinct().withColumn(_IS_LATE, F.lit(True))
    at_end = {C.EVENT_TIME: F.timestamp_micros(begin_us + work_us), C.LOCAL_TIME_US: F.lit(0).cast("bigint")}
    moved: dict[str, Column] = {c: F.when(F.col(_IS_LATE), value).otherwise(F.col(c)) for c, value in at_end.items()}
    return requests.join(F.broadcast(late), _REQUEST, "left").withColumns(moved).select(*requests.columns)
