"""What rules speak of: a table, or a window view of it, whose rows hold all that one rule needs to see at once.

A rule is a predicate over one row. What lies before a row (the previous HW, the highest HW of earlier leaders) is made
a column of it here, so that the rules stay one line of SQL each and one pass judges all rules of a subject.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from schemas.kinds import ChangeKind, EventType, StatementKind

Tables = Mapping[str, DataFrame]

BEGINS_LEADERSHIP = Field(
    "begins_leadership", C.BOOL, "The row is the first of an epoch, or of a restarted leader in it."
)
PREVIOUS_EVENT_SEQ = Field("previous_event_seq", C.LONG, "event_seq of the row before, in the epoch.")
PREVIOUS_HW = Field("previous_high_watermark", C.LONG, "HW of the row before, in the epoch.")
PREVIOUS_EXACTNESS = Field("previous_exactness", C.TEXT, "Its exactness.")
HIGHEST_HW_BEFORE = Field("highest_high_watermark_before", C.LONG, "Highest HW any leader had reached before this row.")
POSSIBLE_HW_BEFORE = Field(
    "possible_high_watermark_before",
    C.LONG,
    "How far a HW may have come before, where only bounds tell.",
)
STATED_HW = Field("stated_high_watermark", C.LONG, "HW that the leader's own line states.")
SMALLEST_ISR_LEO = Field("smallest_isr_log_end_offset", C.LONG, "Smallest LEO in the ISR, as the leader knows it.")
LEADERS = Field("leaders", C.INTS, "Brokers that became leader of the epoch.")

TP = (C.TOPIC, C.PARTITION)
LINE = (C.CAPTURE_ID, C.SOURCE_FILE, C.SOURCE_LINE)


@dataclass(frozen=True)
class Subject:
    """Rows to judge: how they are made, the table they stand for, and the columns that name one of them."""

    name: str
    table: T.Table
    keys: tuple[Field, ...]
    rows: Callable[[Tables], DataFrame]
    beside: tuple[T.Table, ...] = ()
    """Other tables it is made from."""
    may_be_empty: bool = False
    """Nothing to judge is then a gap in the capture; otherwise a table without rows cannot have been written well."""
    empty_holds: bool = False
    """Nothing to judge is then what one hopes for: findings."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of all tables it is made from."""
        return tuple(table.name for table in (self.table, *self.beside))


def leader_events(tables: Tables) -> DataFrame:
    """One row per event at a leader, with what was true before it."""
    in_epoch = Window.partitionBy(*C.PARTITION_KEY, C.LEADER_EPOCH).orderBy(C.EVENT_SEQ)
    in_history = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, C.EVENT_SEQ)
    before = in_history.rowsBetween(Window.unboundedPreceding, -1)
    previous = F.lag(C.EVENT_SEQ).over(in_epoch)
    is_become_leader = F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value
    is_unheard = F.col(C.LOG_END_OFFSET_LOW) < F.col(C.LOG_END_OFFSET_HIGH)  # no request log: see `replay.bounds`
    return tables[T.LEADER_TIMELINE.name].withColumns(
        {
            PREVIOUS_EVENT_SEQ: previous,
            BEGINS_LEADERSHIP: previous.isNull() | is_become_leader,
            PREVIOUS_HW: F.lag(C.HIGH_WATERMARK).over(in_epoch),
            PREVIOUS_EXACTNESS: F.lag(C.EXACTNESS).over(in_epoch),
            HIGHEST_HW_BEFORE: F.max(C.HIGH_WATERMARK_LOW).over(before),
            POSSIBLE_HW_BEFORE: F.max(F.when(is_unheard, F.col(C.HIGH_WATERMARK_HIGH))).over(before),
        }
    )


def replica_states(tables: Tables) -> DataFrame:
    """One row per state of a replica; it is derived from many lines, so none is named."""
    return tables[T.REPLICA_TIMELINE.name].withColumns(nowhere())


def nowhere() -> dict[str, Column]:
    """The columns of a row's line, of rows that no single line tells."""
    return {str(C.SOURCE_FILE): F.lit(None).cast(C.TEXT), str(C.SOURCE_LINE): F.lit(None).cast(C.LONG)}


def elected_leaders(tables: Tables) -> DataFrame:
    """One row per partition and leader epoch that a broker said it leads: `leaders`, and the last such line."""
    said = F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value
    became = tables[T.LEADER_CHANGES.name].where(said & (F.col(C.LEADER_EPOCH) >= 0))
    last = F.max_by(F.struct(*LINE), F.struct(C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE))
    leaders = F.sort_array(F.collect_set(C.BROKER_ID))
    grouped = became.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH).agg(leaders.alias(LEADERS), last.alias("last"))
    return grouped.select(*C.PARTITION_KEY, C.LEADER_EPOCH, LEADERS, "last.*")


def stated_starts(tables: Tables) -> DataFrame:
    """One row per "starts at leader epoch … high watermark H" line: the HW it states beside the row rebuilt of it."""
    statements = tables[T.BROKER_STATEMENTS.name].where(F.col(C.KIND) == StatementKind.BECAME_LEADER_HW.value)
    stated = statements.select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID, F.col(C.OFFSET).alias(STATED_HW), *LINE
    )  # fmt: skip
    is_become_leader = F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value
    rebuilt = tables[T.LEADER_TIMELINE.name].where(is_become_leader).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, *LINE, C.EVENT_SEQ, C.LOG_END_OFFSET, C.HIGH_WATERMARK, C.EXACTNESS,
        F.expr(
            f"array_min(transform({C.ISR}, r -> if(r = {C.LEADER_ID}, {C.LOG_END_OFFSET}, "
            f"coalesce(try_element_at({C.REMOTE_LEO_MAP}, r), {C.UNKNOWN_OFFSET}))))"
        ).alias(SMALLEST_ISR_LEO),
    )  # fmt: skip
    return stated.join(rebuilt, C.on_partition(C.LEADER_EPOCH, *LINE), "left")


def read_files(tables: Tables) -> DataFrame:
    """One row per file that was read; the file itself is the source."""
    return tables[T.SOURCE_FILES.name].withColumn(C.SOURCE_LINE, F.lit(None).cast(C.LONG))


LEADER_EVENTS = Subject(
    "leader_events", T.LEADER_TIMELINE, (*TP, C.TOPIC_ID, C.LEADER_EPOCH, C.EVENT_SEQ), leader_events
)
REPLICA_STATES = Subject(
    "replica_states",
    T.REPLICA_TIMELINE,
    (*TP, C.TOPIC_ID, C.REPLICA_ID, C.LEADER_EPOCH, C.EVENT_SEQ),
    replica_states,
)
ELECTED_LEADERS = Subject(
    "elected_leaders", T.LEADER_CHANGES, (*TP, C.TOPIC_ID, C.LEADER_EPOCH), elected_leaders, may_be_empty=True
)
STATED_STARTS = Subject(
    "stated_starts",
    T.BROKER_STATEMENTS,
    (*TP, C.TOPIC_ID, C.LEADER_EPOCH, C.BROKER_ID),
    stated_starts,
    beside=(T.LEADER_TIMELINE,),
    may_be_empty=True,
)
READ_FILES = Subject("read_files", T.SOURCE_FILES, (C.SOURCE_FILE, C.KIND), read_files)
