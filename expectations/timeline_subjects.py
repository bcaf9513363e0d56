"""What rules of the timelines speak of: an event at a leader, a replica's state, each with what was before it."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from expectations.subject import OF_PARTITION, Subject, Tables, nowhere
from replay.windows import following, timeline
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from schemas.kinds import EventType, Role

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
HIGHEST_REMOTE_LEO = Field("highest_remote_log_end_offset", C.LONG, "Highest of the remote LEOs; -1 without any.")
SMALLEST_MEMBER_LEO = Field(
    "smallest_member_log_end_offset",
    C.LONG,
    "Smallest remote LEO of the ISR's other members; without any the LEO.",
)
LEADER_IS_MEMBER = Field("leader_is_member", C.BOOL, "The leader is in the ISR; NULL where that is empty or not told.")
HW_OF_LEADERS = Field(
    "highest_high_watermark_of_leaders", C.LONG, "Highest HW a leader can have reached by the end of the epoch."
)
PREVIOUS_REMOTE_LEO = Field("previous_remote_log_end_offset", C.LONG, "Remote LEO of the state before, in the epoch.")
PREVIOUS_FROM = Field("previous_valid_from", C.TIME, "When the replica's state before began; NULL for its first.")
PREVIOUS_TO = Field("previous_valid_to", C.TIME, "When it ended.")
NEXT_EPOCH_FROM = Field(
    "next_epoch_valid_from", C.TIME, "When the replica's first state of a later epoch than the one before begins."
)

_HUGE = "9223372036854775807L"
"""In the place of a remote LEO that is NULL: it then exceeds every LEO, and a rule fails closed."""


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
        .withColumn("began", F.when(~is_same_epoch, F.col(C.VALID_FROM)))
        .withColumn("next", following("began", C.REPLICA_KEY, C.TIMELINE_ORDER))
        .withColumns(
            {
                PREVIOUS_REMOTE_LEO: F.when(is_same_epoch, F.col("before")[C.REMOTE_LEO]),
                PREVIOUS_FROM: F.col("before")[C.VALID_FROM],
                PREVIOUS_TO: F.col("before")[C.VALID_TO],
                NEXT_EPOCH_FROM: F.when(is_same_epoch, F.col("next")).otherwise(F.col(C.VALID_FROM)),
                **nowhere(),
            }
        )
        .drop("before", "began", "next")
    )


LEADER_EVENTS = Subject("leader_events", T.LEADER_TIMELINE, (*OF_PARTITION, *C.TIMELINE_ORDER), leader_events)
REPLICA_STATES = Subject(
    "replica_states",
    T.REPLICA_TIMELINE,
    (*OF_PARTITION, C.REPLICA_ID, *C.TIMELINE_ORDER),
    replica_states,
)
