"""What happened around a violation: the events at the partition's leader before and after it, a line each."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from expectations.subject import Subject, Tables
from replay.findings.finding import members, text
from schemas import columns as C
from schemas import tables as T

ANCHOR = "anchor"
MOST_EVENTS = 5
"""Events shown on each side."""


def anchor(rows: DataFrame, subject: Subject) -> Column:
    """Where a row lies in its partition's history: (epoch, seq) or, where it has none, a time; NULL for neither."""
    if not subject.is_of_partition:
        return F.lit(None)
    has = {
        name: F.col(name) if name in rows.columns else F.lit(None)
        for name in (*C.TIMELINE_ORDER, C.EVENT_TIME, C.STARTED_AT)
    }
    time = F.coalesce(has[C.EVENT_TIME], has[C.STARTED_AT]).cast(C.TEXT)
    return F.struct(
        *C.PARTITION_KEY,
        has[C.LEADER_EPOCH].cast(C.INT).alias(C.LEADER_EPOCH),
        has[C.EVENT_SEQ].cast(C.LONG).alias(C.EVENT_SEQ),
        time.alias(C.EVENT_TIME),
    )


def events_around(tables: Tables, place: Row) -> tuple[str, ...]:
    """The events around a place in a history, `>` before the one at it; none where the partition has no timeline."""
    if T.LEADER_TIMELINE.name not in tables:
        return ()
    is_here = F.lit(True)
    for column in C.PARTITION_KEY:
        is_here &= F.col(column) == place[column]
    events = tables[T.LEADER_TIMELINE.name].where(is_here)
    is_before, is_at = _sides(place)
    mark = F.when(is_at, "> ").otherwise("  ").alias("mark")
    backwards = [F.desc(column) for column in C.TIMELINE_ORDER]
    before = (
        events.where(is_before)
        .orderBy(*backwards)
        .limit(MOST_EVENTS)
        .select(mark, _line().alias("line"), *C.TIMELINE_ORDER)
    )
    after = (
        events.where(~is_before)
        .orderBy(*C.TIMELINE_ORDER)
        .limit(MOST_EVENTS + 1)
        .select(mark, _line().alias("line"), *C.TIMELINE_ORDER)
    )
    rows = before.unionByName(after).collect()
    return tuple(
        row["mark"] + row["line"] for row in sorted(rows, key=lambda row: tuple(row[c] for c in C.TIMELINE_ORDER))
    )


def _sides(place: Row) -> tuple[Column, Column]:
    """Whether an event lies before the place, and whether it is the one there."""
    if place[C.EVENT_TIME] is not None and place[C.EVENT_SEQ] is None:
        time = F.lit(place[C.EVENT_TIME]).cast(C.TIME)
        return F.coalesce(F.col(C.EVENT_TIME) < time, F.lit(False)), F.lit(False)
    epoch, seq = place[C.LEADER_EPOCH], place[C.EVENT_SEQ]
    if epoch is None:
        return F.lit(False), F.lit(False)
    is_at = (F.col(C.LEADER_EPOCH) == epoch) & (F.col(C.EVENT_SEQ) == F.lit(seq))
    is_before = (F.col(C.LEADER_EPOCH) < epoch) | (
        (F.col(C.LEADER_EPOCH) == epoch) & F.coalesce(F.col(C.EVENT_SEQ) < F.lit(seq), F.lit(False))
    )
    return is_before, F.coalesce(is_at, F.lit(False))


def _line() -> Column:
    """An event in words: place, time, what happened, what the leader knew after it, and its line."""
    of = F.when(F.col(C.REPLICA_ID) >= 0, text(" of {}", C.REPLICA_ID)).otherwise("")
    return text(
        "{}/{} {} {}{} at leader {}: LEO {}, HW {} ({}), ISR {}, remote {} ({}:{})",
        C.LEADER_EPOCH, C.EVENT_SEQ, C.EVENT_TIME, C.EVENT_TYPE, of, C.LEADER_ID, C.LOG_END_OFFSET, C.HIGH_WATERMARK,
        C.EXACTNESS, members(C.ISR), C.REMOTE_LEO_MAP, C.SOURCE_FILE, C.SOURCE_LINE,
    )  # fmt: skip
