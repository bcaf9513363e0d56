"""What would have happened under another rule of truncation: the same elections, restarts and fetches, other cuts.

The fold follows each replica's log through the steps of `what_if.steps`, and cuts as the rule says. What the rule
cannot change is taken as it was: who was elected, how many records each leader appended, how far behind its leader each
follower came, and which HW it knew. So an offset of a later record may be another than it was; a record is named by
where it would have been.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.profile import Truncation
from replay.what_if.logs import LOG, shared
from replay.what_if.truncation import FOUND, STATE, next_state
from schemas import columns as C
from schemas import tables as T
from schemas.answers import Outcome


def what_if(steps: DataFrame, rule: Truncation) -> DataFrame:
    """One row per range that would have been lost, cut or another under `rule`, of `tables.WHAT_IF_OUTCOMES`.

    And one per log at the end. `steps` is `steps.steps`.
    """
    end = _folded(steps, rule)
    found = end.select(*C.PARTITION_KEY, "slots", F.explode(F.concat("state.found", _kept(F.col("state")))).alias("it"))
    return T.WHAT_IF_OUTCOMES.conform(
        found.select(
            *C.PARTITION_KEY,
            F.lit("").alias(C.CAPTURE_ID),
            F.lit(rule).alias(C.METHOD),
            F.col("it.outcome").alias(C.OUTCOME),
            F.col("it.epoch").alias(C.LEADER_EPOCH),
            F.get("slots", F.col("it.slot")).alias(C.REPLICA_ID),
            F.timestamp_micros("it.us").alias(C.EVENT_TIME),
            F.col("it.start").alias(C.FROM_OFFSET),
            F.col("it.end").alias(C.TO_OFFSET),
        )
    )


def logs_after(steps: DataFrame, rule: Truncation) -> DataFrame:
    """One row per partition and replica: its `log` (`LOG`) at the end under `rule`, NULL where nothing tells of it."""
    logs = F.posexplode("state.logs").alias("slot", "log")
    return (
        _folded(steps, rule)
        .select(*C.PARTITION_KEY, "slots", logs)
        .select(*C.PARTITION_KEY, F.get("slots", F.col("slot")).alias(C.REPLICA_ID), "log")
    )


def _folded(steps: DataFrame, rule: Truncation) -> DataFrame:
    """Return the partitions with `state`, what the logs are after all steps and what was found on the way."""
    nobody = F.array_repeat(F.lit(None).cast(LOG), F.size("slots"))
    nothing = F.array().cast(f"array<{FOUND}>")
    begin = F.struct(nobody, F.lit(None).cast(LOG), F.lit(-1), F.lit(0), nothing).cast(STATE)
    return steps.withColumn("state", F.aggregate("steps", begin, lambda state, step: next_state(state, step, rule)))


def _kept(state: Column) -> Column:
    """Return what each replica's log would hold at the end, and from where it would differ from the last leader's."""
    last = state["last"]

    def one(own: Column, slot: Column) -> Column:
        no_epoch_or_offset = (F.lit(None).cast("int"), F.lit(None).cast("bigint"))
        kept = F.struct(F.lit(str(Outcome.KEPT.value)), *no_epoch_or_offset, slot, F.lit(0), shared(own, last))
        return F.when(own.isNotNull() & last.isNotNull(), kept.cast(FOUND))

    return F.array_compact(F.transform(state["logs"], one)).cast(f"array<{FOUND}>")
