"""Leader epochs that a broker or the controller tells of, those too of which no event is: nobody may have led them.

Nor does anybody lead a partition that is deleted, of which no epoch tells.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.statements import is_of
from replay.windows import following, timeline
from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.kinds import StatementKind

LAST_OF_EPOCH = 1 << 62
"""Comes after every event of its epoch."""


def told_epochs(leader_changes: DataFrame, metadata_changes: DataFrame) -> DataFrame:
    """One row per partition and leader epoch that any broker or the controller tells of: leader_id and started_at.

    Nobody may have led it, or a broker that never came to know: then it has no row in the leader's timeline.
    """
    told = [
        rows.select(*C.PARTITION_KEY, C.CAPTURE_ID, C.LEADER_EPOCH, C.LEADER_ID, C.EVENT_TIME).where(
            F.col(C.LEADER_ID).isNotNull() & (F.col(C.LEADER_EPOCH) >= 0)
        )
        for rows in (metadata_changes, leader_changes)
    ]
    return (
        told[0]
        .unionByName(told[1])
        .groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH)
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.max(C.LEADER_ID).alias(C.LEADER_ID),
            F.min(C.EVENT_TIME).alias(C.STARTED_AT),
        )
    )


def with_deletions(told: DataFrame, statements: DataFrame) -> DataFrame:
    """Return `told_epochs`, and of each partition whose last leader deleted its log the epoch after, which nobody led.

    `statements` are `broker_statements`. What a follower or an earlier leader deletes ends nothing: it is no replica
    any more (`ReplicaManager.stopReplicas`, `LogManager.asyncDelete`).
    """
    last = told.groupBy(*C.PARTITION_KEY).agg(
        F.max_by(F.struct(C.LEADER_EPOCH, C.LEADER_ID, C.STARTED_AT), C.LEADER_EPOCH).alias("last")
    )
    deleted = statements.where(is_of(StatementKind.LOG_DELETED)).join(last, C.on_partition())
    is_its = (F.col(C.BROKER_ID) == F.col("last")[C.LEADER_ID]) & (F.col(C.EVENT_TIME) >= F.col("last")[C.STARTED_AT])
    after = deleted.where(is_its).select(
        *C.PARTITION_KEY,
        C.CAPTURE_ID,
        (F.col("last")[C.LEADER_EPOCH] + 1).alias(C.LEADER_EPOCH),
        F.lit(NO_REPLICA).alias(C.LEADER_ID),
        F.col(C.EVENT_TIME).alias(C.STARTED_AT),
    )
    return told.unionByName(after)


def with_untold_epochs(leader_timeline: DataFrame, told: DataFrame) -> DataFrame:
    """Return the events, and after them a row at the begin of each epoch that others tell of and no event is of.

    A broker that was away may tell of it late: it began before the next event at any rate.
    """
    begins = told.select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, F.col(C.STARTED_AT).alias(C.EVENT_TIME),
        F.lit(LAST_OF_EPOCH).alias(C.EVENT_SEQ),
    )  # fmt: skip
    both = leader_timeline.withColumn("led_at", F.col(C.EVENT_TIME)).unionByName(begins, allowMissingColumns=True)
    led_next = following("led_at", [*map(str, C.PARTITION_KEY)], [*map(str, C.TIMELINE_ORDER)])
    has_events = F.lag(C.LEADER_EPOCH).over(timeline()).eqNullSafe(F.col(C.LEADER_EPOCH))
    placed = both.withColumns({"has_events": has_events, "led_next": led_next})
    is_event = F.col(C.EVENT_SEQ) < LAST_OF_EPOCH
    at = F.when(is_event, F.col(C.EVENT_TIME)).otherwise(F.least(C.EVENT_TIME, "led_next"))
    return placed.where(is_event | ~F.col("has_events")).withColumn(C.EVENT_TIME, at)
