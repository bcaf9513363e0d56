"""The ISR's story: who left and came back, who joined, and who was dropped from the replicas."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.findings.finding import finding, members, seconds, text
from replay.windows import is_end_told_late, timeline
from schemas import columns as C
from schemas.kinds import EventType, IncidentKind, Severity

_BEFORE = "isr_before"
_FOLLOWERS = "followers"
"""array<int>: the assigned replicas but the leader."""
IS_DROPPED = "is_dropped"
"""bool: it left the ISR for being no replica any more, as a reassignment has it."""


def of_the_living(leader_timeline: DataFrame) -> DataFrame:
    """Return the events without the ends of killed processes.

    An ISR that is inferred (up to 2.7) is for the time of that row, at which another has long been the leader's.
    """
    return leader_timeline.where(~is_end_told_late())


def isr_steps(leader_timeline: DataFrame) -> DataFrame:
    """One row per change of the committed ISR as leaders knew it, with `isr_before`, elections' changes included."""
    # Between lines that tell of it an ISR stays; one that is inferred is another after any event.
    told = F.col(C.EVENT_TYPE).isin(EventType.BECOME_LEADER.value, EventType.ISR_CHANGE.value)
    known = of_the_living(leader_timeline).where(F.col(C.ISR).isNotNull() & (told | F.col(C.IS_ISR_INFERRED))).select(
        *C.PARTITION_KEY, C.CAPTURE_ID, C.LEADER_EPOCH, C.EVENT_SEQ, C.EVENT_TIME, C.LEADER_ID, C.LOG_END_OFFSET,
        C.HIGH_WATERMARK, F.array_sort(C.ISR).alias(C.ISR), F.map_keys(C.REMOTE_LEO_MAP).alias(_FOLLOWERS),
    )  # fmt: skip
    return known.withColumn(_BEFORE, F.lag(C.ISR).over(timeline())).where(F.col(_BEFORE) != F.col(C.ISR))


def isr_moves(steps: DataFrame) -> DataFrame:
    """One row per replica (`who`) that left the ISR or joined it (`is_in`), with its last and its next move.

    One that is dropped is not out from then on, and who is assigned anew was not.
    """
    moved = F.explode(
        F.concat(
            F.transform(
                F.array_except(_BEFORE, C.ISR), lambda it: F.struct(it.alias("who"), F.lit(False).alias("is_in"))
            ),
            F.transform(
                F.array_except(C.ISR, _BEFORE), lambda it: F.struct(it.alias("who"), F.lit(True).alias("is_in"))
            ),
        )
    )
    of_replica = timeline("who")
    is_assigned = F.array_contains(_FOLLOWERS, F.col("who")) | (F.col("who") == F.col(C.LEADER_ID))
    each = steps.withColumn("move", moved).select("*", "move.*").withColumn(IS_DROPPED, ~F.col("is_in") & ~is_assigned)
    stays = F.when(~F.col(IS_DROPPED), F.col(C.EVENT_TIME))
    return each.withColumns(
        {
            C.STARTED_AT: F.col(C.EVENT_TIME),
            "next_at": F.when(~F.col(IS_DROPPED), F.lead(C.EVENT_TIME).over(of_replica)),
            "last_at": F.lag(stays).over(of_replica),
        }
    )


def isr_changes(steps: DataFrame) -> DataFrame:
    """One row per replica that left the ISR (until it was back, or for good) and per replica that joined it."""
    moves = isr_moves(steps)
    return _shrunk(moves.where("NOT is_in")).unionByName(_expanded(moves.where("is_in")))


def _change(verb: str) -> Column:
    return text(
        f"replica {{}} {verb} the ISR of leader {{}} in epoch {{}}: {{}} to {{}}, at LEO {{}}, HW {{}}",
        "who", C.LEADER_ID, C.LEADER_EPOCH, members(_BEFORE), members(C.ISR), C.LOG_END_OFFSET, C.HIGH_WATERMARK,
    )  # fmt: skip


def _shrunk(moves: DataFrame) -> DataFrame:
    """One finding per replica that left."""
    rows = moves.withColumn(C.ENDED_AT, F.col("next_at"))
    back = (
        F.when(F.col(IS_DROPPED), "; it is no replica any more")
        .when(F.col("next_at").isNull(), "; it is not back")
        .otherwise(F.concat(F.lit("; back after "), seconds(F.col(C.STARTED_AT), F.col("next_at"))))
    )
    evidence = F.concat(_change("left"), back)
    return finding(rows, IncidentKind.ISR_SHRUNK, Severity.INFO, evidence, replica_id=F.col("who"))


def _expanded(moves: DataFrame) -> DataFrame:
    """One finding per replica that joined."""
    rows = moves.withColumn(C.ENDED_AT, F.lit(None))
    out = F.when(F.col("last_at").isNull(), "").otherwise(
        F.concat(F.lit("; it was out for "), seconds(F.col("last_at"), F.col(C.STARTED_AT)))
    )
    evidence = F.concat(_change("joined"), out)
    return finding(rows, IncidentKind.ISR_EXPANDED, Severity.INFO, evidence, replica_id=F.col("who"))
