"""What rules speak of: a table, or a window view of it, whose rows hold all that one rule needs to see at once.

A rule is a predicate over one row. What lies before a row (the previous HW, the highest HW of earlier leaders) is made
a column of it here, so that the rules stay one line of SQL each and one pass judges all rules of a subject.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.windows import timeline
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from schemas.kinds import ChangeKind, EventType, Role, StatementKind

Tables = Mapping[str, DataFrame]

BEGINS_LEADERSHIP = Field(
    "begins_leadership", C.BOOL, "The row is the first of an epoch, or of a restarted leader in it."
)
PREVIOUS_EVENT_SEQ = Field("previous_event_seq", C.LONG, "event_seq of the row before, in the epoch.")
PREVIOUS_HW = Field("previous_high_watermark", C.LONG, "HW of the row before, in the epoch.")
PREVIOUS_EXACTNESS = Field("previous_exactness", C.TEXT, "Its exactness.")
PREVIOUS_LEO = Field(
    "previous_log_end_offset", C.LONG, "LEO of the row before, in the epoch; NULL where it is bounded."
)
HIGHEST_HW_BEFORE = Field("highest_high_watermark_before", C.LONG, "Highest HW any leader had reached before this row.")
POSSIBLE_HW_BEFORE = Field(
    "possible_high_watermark_before",
    C.LONG,
    "How far a HW may have come before, where only bounds tell.",
)
STATED_HW = Field("stated_high_watermark", C.LONG, "HW that the leader's own line states.")
SMALLEST_ISR_LEO = Field("smallest_isr_log_end_offset", C.LONG, "Smallest LEO in the ISR, as the leader knows it.")
HIGHEST_REMOTE_LEO = Field("highest_remote_log_end_offset", C.LONG, "Highest of the remote LEOs; -1 without any.")
SMALLEST_MEMBER_LEO = Field(
    "smallest_member_log_end_offset",
    C.LONG,
    "Smallest remote LEO of the ISR's other members; without any the LEO.",
)
LEADER_IS_MEMBER = Field("leader_is_member", C.BOOL, "The leader is in the ISR; NULL where that is empty or not told.")
LEADERS = Field("leaders", C.INTS, "Brokers that became leader of the epoch.")
HW_OF_LEADERS = Field(
    "highest_high_watermark_of_leaders", C.LONG, "Highest HW a leader can have reached by the end of the epoch."
)
PREVIOUS_REMOTE_LEO = Field("previous_remote_log_end_offset", C.LONG, "Remote LEO of the state before, in the epoch.")
PREVIOUS_FROM = Field("previous_valid_from", C.TIME, "When the replica's state before began; NULL for its first.")
PREVIOUS_TO = Field("previous_valid_to", C.TIME, "When it ended.")
HAS_EVENTS = Field("has_events", C.BOOL, "The leader's timeline has events of the epoch.")

OF_PARTITION = (C.TOPIC, C.PARTITION, C.TOPIC_ID)
"""How the key of a violation begins: as people name a partition, and then which of that name."""
_HUGE = "9223372036854775807L"
"""In the place of a remote LEO that is NULL: it then exceeds every LEO, and a rule fails closed."""


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
    is_of_partition: bool = True
    """Each row is of one partition; otherwise it is of the whole capture."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of all tables it is made from."""
        return tuple(table.name for table in (self.table, *self.beside))

    @property
    def view(self) -> str:
        """Its name in SQL."""
        return f"judged_{self.name}"

    @property
    def comment(self) -> str:
        """What one row is: the first sentence of its function."""
        return (self.rows.__doc__ or "").strip().splitlines()[0]


def leader_events(tables: Tables) -> DataFrame:
    """One row per event at a leader, with what was true before it."""
    # One window, so that one sort serves all: what lies in another epoch is cut off by comparing the epochs.
    in_history = timeline()
    # What is asked of arrays and maps is made before the window, so that they need not be sorted with the rest.
    members = f"array_except({C.ISR}, array({C.LEADER_ID}))"
    known = {
        HIGHEST_REMOTE_LEO: F.expr(
            f"if({C.REMOTE_LEO_MAP} IS NULL, NULL, coalesce(array_max(transform(map_values({C.REMOTE_LEO_MAP}),"
            f" leo -> coalesce(leo, {_HUGE}))), {C.UNKNOWN_OFFSET}L))"
        ),
        SMALLEST_MEMBER_LEO: F.expr(
            f"if({C.ISR} IS NULL, NULL, coalesce(array_min(transform({members}, r ->"
            f" coalesce(try_element_at({C.REMOTE_LEO_MAP}, r), {C.UNKNOWN_OFFSET}L))), {C.LOG_END_OFFSET}))"
        ),
        LEADER_IS_MEMBER: F.expr(f"if(size({C.ISR}) > 0, array_contains({C.ISR}, {C.LEADER_ID}), NULL)"),
    }
    rows = tables[T.LEADER_TIMELINE.name].withColumns({str(name): column for name, column in known.items()})
    # Else there is no request log: see `replay.states.bounds`.
    is_exact = F.col(C.LOG_END_OFFSET_LOW) == F.col(C.LOG_END_OFFSET_HIGH)
    rows = rows.withColumn("exact_leo", F.when(is_exact, F.col(C.LOG_END_OFFSET)))
    before = in_history.rowsBetween(Window.unboundedPreceding, -1)
    is_same_epoch = F.lag(C.LEADER_EPOCH).over(in_history) == F.col(C.LEADER_EPOCH)
    previous = {
        PREVIOUS_EVENT_SEQ: C.EVENT_SEQ, PREVIOUS_HW: C.HIGH_WATERMARK, PREVIOUS_EXACTNESS: C.EXACTNESS,
        PREVIOUS_LEO: "exact_leo",
    }  # fmt: skip
    rows = rows.withColumns(
        {
            HIGHEST_HW_BEFORE: F.max(C.HIGH_WATERMARK_LOW).over(before),
            POSSIBLE_HW_BEFORE: F.max(F.when(~is_exact, F.col(C.HIGH_WATERMARK_HIGH))).over(before),
            **{str(name): F.when(is_same_epoch, F.lag(of).over(in_history)) for name, of in previous.items()},
        }
    )
    is_become_leader = F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value
    return rows.withColumn(BEGINS_LEADERSHIP, F.isnull(PREVIOUS_EVENT_SEQ) | is_become_leader).drop("exact_leo")


def replica_states(tables: Tables) -> DataFrame:
    """One row per state of a replica, with the one before it; it is derived from many lines, so none is named."""
    # Up to the end of the epoch: a response may stand before the fetch that raised its HW, both worked on at once.
    of_partition = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH)
    so_far = of_partition.rangeBetween(Window.unboundedPreceding, Window.currentRow)
    of_replica = timeline(C.REPLICA_ID)
    led = F.when(F.col(C.ROLE) == Role.LEADER.value, F.col(C.HIGH_WATERMARK_HIGH))
    # The partition's window first: its shuffle serves that of the replica as well.
    rows = tables[T.REPLICA_TIMELINE.name].withColumn(HW_OF_LEADERS, F.max(led).over(so_far))
    before = F.lag(F.struct(C.LEADER_EPOCH, C.REMOTE_LEO, C.VALID_FROM, C.VALID_TO)).over(of_replica)
    is_same_epoch = F.col("before")[C.LEADER_EPOCH] == F.col(C.LEADER_EPOCH)
    return (
        rows.withColumn("before", before)
        .withColumns(
            {
                PREVIOUS_REMOTE_LEO: F.when(is_same_epoch, F.col("before")[C.REMOTE_LEO]),
                PREVIOUS_FROM: F.col("before")[C.VALID_FROM],
                PREVIOUS_TO: F.col("before")[C.VALID_TO],
                **nowhere(),
            }
        )
        .drop("before")
    )


def nowhere() -> dict[str, Column]:
    """The columns of a row's line, of rows that no single line tells."""
    return {str(C.SOURCE_FILE): F.lit(None).cast(C.TEXT), str(C.SOURCE_LINE): F.lit(None).cast(C.LONG)}


def elected_leaders(tables: Tables) -> DataFrame:
    """One row per partition and leader epoch that a broker said it leads: `leaders`, and the last such line."""
    said = F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value
    became = tables[T.LEADER_CHANGES.name].where(said & (F.col(C.LEADER_EPOCH) >= 0))
    last = F.max_by(F.struct(*C.LINE), F.struct(C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE))
    leaders = F.sort_array(F.collect_set(C.BROKER_ID))
    of_epoch = C.on_partition(C.LEADER_EPOCH)
    grouped = became.groupBy(*of_epoch).agg(leaders.alias(LEADERS), last.alias("last"))
    seen = tables[T.LEADER_TIMELINE.name].groupBy(*of_epoch).agg(F.count(F.lit(1)).alias("events"))
    known = grouped.join(seen, of_epoch, "left")
    return known.select(*of_epoch, LEADERS, F.col("events").isNotNull().alias(HAS_EVENTS), "last.*")


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


def read_files(tables: Tables) -> DataFrame:
    """One row per file that was read; the file itself is the source."""
    return tables[T.SOURCE_FILES.name].withColumn(C.SOURCE_LINE, F.lit(None).cast(C.LONG))


LEADER_EVENTS = Subject("leader_events", T.LEADER_TIMELINE, (*OF_PARTITION, *C.TIMELINE_ORDER), leader_events)
REPLICA_STATES = Subject(
    "replica_states",
    T.REPLICA_TIMELINE,
    (*OF_PARTITION, C.REPLICA_ID, *C.TIMELINE_ORDER),
    replica_states,
)
ELECTED_LEADERS = Subject(
    "elected_leaders",
    T.LEADER_CHANGES,
    (*OF_PARTITION, C.LEADER_EPOCH),
    elected_leaders,
    beside=(T.LEADER_TIMELINE,),
    may_be_empty=True,
)
STATED_STARTS = Subject(
    "stated_starts",
    T.BROKER_STATEMENTS,
    (*OF_PARTITION, C.LEADER_EPOCH, C.BROKER_ID),
    stated_starts,
    beside=(T.LEADER_TIMELINE,),
    may_be_empty=True,
)
READ_FILES = Subject("read_files", T.SOURCE_FILES, (C.SOURCE_FILE, C.KIND), read_files, is_of_partition=False)
