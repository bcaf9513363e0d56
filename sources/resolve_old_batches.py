"""Where appends ended in logs of magic 0 and 1, whose batches know no leader epoch and may be one message each."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from sources.resolve_appends import AT, TERM

LOG: list[str] = [C.TOPIC, C.TOPIC_ID, C.PARTITION]
CLAIMED = "claimed"
CLOCKS_APART_S = 5
"""How far a producer's clock may be ahead of its broker's."""


def old_batch_ends(appends: DataFrame, batches: DataFrame) -> DataFrame:
    """Ends of appends, as `batch_ends` has them, from batches without an epoch.

    An append claims the messages from its base offset up to the next that any append claims, if they were created by
    then: a dump may have what came after the logs. Of several appends at one offset (all but one were truncated) the
    dump has the one that was made when its message was created.
    """
    old = batches.where(F.col(C.LEADER_EPOCH) < 0).select(*LOG, C.BASE_OFFSET, C.LAST_OFFSET, C.CREATE_TIME).distinct()
    claims = appends.where((F.col(C.BASE_OFFSET) >= 0) & (F.col(C.LEADER_EPOCH) >= 0)).join(
        F.broadcast(old.select(*LOG).distinct()), LOG, "left_semi"
    )
    runs = _claimed(old, claims)
    distance = F.abs(F.unix_micros(C.EVENT_TIME) - F.unix_micros("created"))
    return (
        claims.withColumnRenamed(C.BASE_OFFSET, CLAIMED)
        .join(runs, [*LOG, CLAIMED])
        .groupBy(*LOG, CLAIMED, AT)
        .agg(F.min_by(C.LEADER_EPOCH, distance).alias(C.LEADER_EPOCH))
        .select(*TERM, AT)
    )


def _claimed(old: DataFrame, claims: DataFrame) -> DataFrame:
    """One row a claimed base offset in the dumps: where its messages end, and when the first was created."""
    made = claims.groupBy(*LOG, C.BASE_OFFSET).agg(F.max(C.EVENT_TIME).alias("made"))
    bases = made.select(*LOG, C.BASE_OFFSET, F.struct(C.BASE_OFFSET, "made").alias("claim"))
    in_order = Window.partitionBy(*LOG).orderBy(C.BASE_OFFSET, F.col("claim").isNull())
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        old.unionByName(bases, allowMissingColumns=True)
        .withColumn("claim", F.last("claim", ignorenulls=True).over(so_far))
        .where(F.col(C.LAST_OFFSET).isNotNull() & F.col("claim").isNotNull() & _is_created_by_then())
        .withColumn(CLAIMED, F.col("claim")[C.BASE_OFFSET])
        .groupBy(*LOG, CLAIMED)
        .agg(
            (F.max(C.LAST_OFFSET) + 1).alias(AT),
            F.min_by(C.CREATE_TIME, F.struct(C.BASE_OFFSET, C.CREATE_TIME)).alias("created"),
        )
    )


def _is_created_by_then() -> Column:
    """Whether the message was created before the append that claims it was made; one of magic 0 does not say when."""
    apart = F.expr(f"INTERVAL {CLOCKS_APART_S} SECONDS")
    return F.coalesce(F.col(C.CREATE_TIME) <= F.col("claim")["made"] + apart, F.lit(True))
