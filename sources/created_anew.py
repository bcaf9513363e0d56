"""Topics that were deleted and created anew where they have no ids (before KIP-516): their logs alone tell.

A broker that deleted its log of a partition, and begins one at 0 in an epoch that is not above what it had been told
before, has a partition of another topic of that name. A reassignment that takes a replica from a broker and gives it
back raises the leader epoch. A controller beside ZooKeeper has a topic deleted on all its brokers before there can be
another one (`TopicDeletionManager`): one moment parts the two.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import StatementKind

SINCE, UNTIL = "since", "until"
SIGN = "#"
"""Stands in no topic's name and in no id: `orders#2` is the second topic named orders."""
_ROLES = (StatementKind.BECAME_LEADER_LEO.value, StatementKind.BECAME_FOLLOWER_LEO.value)
_LOG: list[str] = [C.TOPIC, C.PARTITION, C.BROKER_ID]
_FIRST, _NOW = Window.unboundedPreceding, Window.currentRow


def has_no_id() -> Column:
    """Return whether no line tells of the topic's id; an earlier delivery may have numbered it."""
    return (F.col(C.TOPIC_ID) == "") | F.col(C.TOPIC_ID).contains(SIGN)


def created_anew(ids: DataFrame, changes: DataFrame, stated: DataFrame) -> DataFrame:
    """One row a topic of a name that another one had before: its number as the id, from when to when the name meant it.

    `ids` are those that lines tell (`topic_ids.topic_ids`): names that have some are left out. `changes` and
    `stated` are all leader changes and broker statements.
    """
    in_order = Window.partitionBy(C.TOPIC).orderBy("begun_at", C.PARTITION, C.BROKER_ID)
    begun_before = F.max("begun_at").over(in_order.rowsBetween(_FIRST, -1))
    is_next = F.coalesce(F.col("deleted_at") > begun_before, F.lit(True)).cast("int")
    of_no_id = _begun_again(changes, stated).join(F.broadcast(ids.select(C.TOPIC).distinct()), C.TOPIC, "left_anti")
    found = of_no_id.withColumn("is_next", is_next)
    numbered = found.withColumn("number", 1 + F.sum("is_next").over(in_order.rowsBetween(_FIRST, _NOW)))
    after_the_last = F.max("deleted_at") + F.expr("INTERVAL 1 MILLISECOND")  # what lines' times are cut to
    since = F.least(F.min("begun_at"), after_the_last).alias(SINCE)
    until = F.lead(SINCE).over(Window.partitionBy(C.TOPIC).orderBy("number"))
    return numbered.groupBy(C.TOPIC, "number").agg(since).select(
        C.TOPIC, F.concat(C.TOPIC, F.lit(SIGN), F.col("number").cast("string")).alias(C.TOPIC_ID),
        SINCE, until.alias(UNTIL),
    )  # fmt: skip


def _begun_again(changes: DataFrame, stated: DataFrame) -> DataFrame:
    """One row a log that its broker deleted and began again in no later epoch: `deleted_at`, `begun_at`."""
    lives = Window.partitionBy(*_LOG).orderBy("life")
    known_before = F.last("highest", ignorenulls=True).over(lives.rowsBetween(_FIRST, -1))
    begun = F.col("begun")
    return (
        _lives(changes, stated)
        .withColumn("known_before", known_before)
        .where((begun[C.OFFSET] == 0) & (begun[C.LEADER_EPOCH] <= F.col("known_before")))
        .select(*_LOG, "deleted_at", begun["at"].alias("begun_at"))
    )


def _lives(changes: DataFrame, stated: DataFrame) -> DataFrame:
    """One row a log from one deletion of it to the next: the highest epoch its broker was told of, its first role."""
    of_log: list[Column | str] = [*_LOG, F.col(C.EVENT_TIME).alias("at"), C.LEADER_EPOCH]
    told = changes.where(has_no_id()).select(
        *of_log, F.lit(None).cast("bigint").alias(C.OFFSET), F.lit(False).alias("ends")
    )
    is_deleted = F.col(C.KIND) == StatementKind.LOG_DELETED.value
    said = stated.where(has_no_id() & (is_deleted | F.col(C.KIND).isin(*_ROLES))).select(
        *of_log, F.when(~is_deleted, F.col(C.OFFSET)).alias(C.OFFSET), is_deleted.alias("ends")
    )
    so_far = Window.partitionBy(*_LOG).orderBy("at", C.LEADER_EPOCH, C.OFFSET).rowsBetween(_FIRST, _NOW)
    role = F.struct("at", C.OFFSET, C.LEADER_EPOCH)
    return (
        told.unionByName(said)
        .withColumn("life", F.sum(F.col("ends").cast("int")).over(so_far))
        .groupBy(*_LOG, "life")
        .agg(
            F.max(F.when(~F.col("ends"), F.col(C.LEADER_EPOCH))).alias("highest"),
            F.min(F.when(F.col(C.OFFSET).isNotNull(), role)).alias("begun"),
            F.min(F.when(F.col("ends"), F.col("at"))).alias("deleted_at"),
        )
    )
