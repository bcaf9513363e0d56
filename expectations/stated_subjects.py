"""What rules of the brokers' own words speak of: a statement beside what was rebuilt around its time."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from expectations.subject import OF_PARTITION, Subject, Tables
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from schemas.kinds import EventType, Exactness, StatementKind

STATED_HW = Field("stated_high_watermark", C.LONG, "HW that the leader's own line states.")
SMALLEST_ISR_LEO = Field("smallest_isr_log_end_offset", C.LONG, "Smallest LEO in the ISR, as the leader knows it.")
LOWEST = Field("lowest", C.LONG, "What was rebuilt for shortly before the statement, the low bound of it.")
HIGHEST = Field("highest", C.LONG, "What was rebuilt for shortly after it, the high bound.")
_APART = "INTERVAL 100 MILLISECONDS"
"""A request's event_time is exact to the time the broker worked on it; a line of a log is written some time after."""

_HW, _LEO, _REMOTE = (
    StatementKind.SHRINKING_HW.value, StatementKind.SHRINKING_LEO.value, StatementKind.SHRINKING_REMOTE_LEO.value,
)  # fmt: skip


def stated_starts(tables: Tables) -> DataFrame:
    """One row per "starts at leader epoch … high watermark H" line: the HW it states beside the row rebuilt of it."""
    statements = tables[T.BROKER_STATEMENTS.name].where(F.col(C.KIND) == StatementKind.BECAME_LEADER_HW.value)
    stated = statements.select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID, F.col(C.OFFSET).alias(STATED_HW), *C.LINE
    )  # fmt: skip
    is_become_leader = F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value
    rebuilt = tables[T.LEADER_TIMELINE.name].where(is_become_leader).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, *C.LINE, C.EVENT_SEQ, C.LOG_END_OFFSET, C.HIGH_WATERMARK, C.EXACTNESS,
        F.expr(
            f"array_min(transform({C.ISR}, r -> if(r = {C.LEADER_ID}, {C.LOG_END_OFFSET}, "
            f"coalesce(try_element_at({C.REMOTE_LEO_MAP}, r), {C.UNKNOWN_OFFSET}))))"
        ).alias(SMALLEST_ISR_LEO),
    )  # fmt: skip
    return stated.join(rebuilt, C.on_partition(C.LEADER_EPOCH, *C.LINE), "left")


def stated_shrinks(tables: Tables) -> DataFrame:
    """One row per offset in a "Shrinking ISR …" line, no input of the engine, and what was rebuilt around it."""
    named = (*C.PARTITION_KEY, C.LEADER_EPOCH, C.KIND, C.REPLICA_ID, C.OFFSET, C.EVENT_TIME, *C.LINE)
    stated = tables[T.BROKER_STATEMENTS.name].where(F.col(C.KIND).isin(_HW, _LEO, _REMOTE)).select(*named)
    events = tables[T.LEADER_TIMELINE.name].select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.EVENT_SEQ, F.col(C.EVENT_TIME).alias("at"), C.REMOTE_LEO_MAP,
        C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH, C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH, C.EXACTNESS,
    )  # fmt: skip
    near = F.broadcast(stated).join(events, C.on_partition(C.LEADER_EPOCH), "left")
    remote = _heard(F.try_element_at(C.REMOTE_LEO_MAP, F.col(C.REPLICA_ID)))
    is_before = F.expr(f"at <= {C.EVENT_TIME} - {_APART}")
    is_after = F.expr(f"at >= {C.EVENT_TIME} + {_APART}")
    low = _of_kind(F.col(C.HIGH_WATERMARK_LOW), F.col(C.LOG_END_OFFSET_LOW), remote)
    high = _of_kind(F.col(C.HIGH_WATERMARK_HIGH), F.col(C.LOG_END_OFFSET_HIGH), remote)
    return near.groupBy(*named).agg(
        F.max_by(F.when(is_before, low), F.when(is_before, F.col(C.EVENT_SEQ))).alias(LOWEST),
        F.coalesce(
            F.min_by(F.when(is_after, high), F.when(is_after, F.col(C.EVENT_SEQ))), F.max_by(high, C.EVENT_SEQ)
        ).alias(HIGHEST),
    )


def _heard(remote: Column) -> Column:
    """A remote LEO; -1 is one that a leader had not heard from, but between bounds one that nothing tells: NULL."""
    is_known = (remote >= 0) | (F.col(C.EXACTNESS) == Exactness.EXACT.value)
    return F.when(is_known, remote)


def _of_kind(high_watermark: Column, log_end_offset: Column, remote: Column) -> Column:
    """The value a statement speaks of."""
    is_hw, is_leo = (F.col(C.KIND) == kind for kind in (_HW, _LEO))
    return F.when(is_hw, high_watermark).when(is_leo, log_end_offset).otherwise(remote)


STATED_STARTS = Subject(
    "stated_starts",
    T.BROKER_STATEMENTS,
    (*OF_PARTITION, C.LEADER_EPOCH, C.BROKER_ID),
    stated_starts,
    beside=(T.LEADER_TIMELINE,),
    may_be_empty=True,
)
STATED_SHRINKS = Subject(
    "stated_shrinks", T.BROKER_STATEMENTS, (*OF_PARTITION, C.LEADER_EPOCH, C.KIND, C.REPLICA_ID, C.EVENT_TIME),
    stated_shrinks, beside=(T.LEADER_TIMELINE,), empty_holds=True,
)  # fmt: skip
