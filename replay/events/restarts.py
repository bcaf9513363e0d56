"""Restarts of followers, as events of the partition they find: the log as it was recovered, the HW of its checkpoint.

The unflushed tail may be gone (`LogLoader`), and the HW is up to `replica.high.watermark.checkpoint.interval.ms` stale
(P:488 createLog). A restart of the leader is a leadership of its own: `leaderships`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import event
from replay.events.leaderships import LOADED_HW, START_US
from replay.events.shape import shaped
from replay.statements import is_of
from schemas import columns as C
from schemas.kinds import ChangeKind, StatementKind

LOADED_LEO = "loaded_log_end_offset"
"""bigint: LEO of the recovered log; NULL where no line says."""


def restarts(roles: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per first role of a broker's process: replica, role, time, leader epoch, the HW and LEO it loaded.

    `roles` is `leaderships.roles_with_loads`, `statements` is `broker_statements`.
    """
    # A log that is made anew tells no LEO, and is empty: it was deleted before.
    is_deletion = is_of(StatementKind.LOG_DELETED)
    leo = F.when(is_deletion, 0).otherwise(F.col(C.OFFSET))
    said = F.struct(F.unix_micros(C.EVENT_TIME).alias("us"), is_deletion.alias("is_deletion"), leo.alias("leo"))
    recovered = (
        statements.where(is_of(StatementKind.LOADED_LEO, StatementKind.LOG_DELETED))
        .groupBy(*C.PARTITION_KEY, C.BROKER_ID)
        .agg(F.sort_array(F.collect_list(said)).alias("recovered"))
    )
    known = roles.where(F.col("loaded").isNotNull()).join(recovered, C.on_partition(C.BROKER_ID), "left")
    by_then = F.filter("recovered", lambda it: it["us"] <= F.col(START_US))
    return known.select(
        *C.PARTITION_KEY,
        C.CAPTURE_ID,
        C.LEADER_EPOCH,
        C.BROKER_ID,
        C.CHANGE_KIND,
        START_US,
        F.col("loaded").alias(LOADED_HW),
        F.get(by_then, F.size(by_then) - 1)["leo"].alias(LOADED_LEO),
    )


def follower_restarts(roles: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per restart as a follower, of the columns of `restarts` without its role."""
    found = restarts(roles, statements)
    return found.where(F.col(C.CHANGE_KIND) == ChangeKind.BECOME_FOLLOWER.value).drop(C.CHANGE_KIND)


def restart_events(begun: DataFrame, of_followers: DataFrame) -> DataFrame:
    """One event, of `shape.SHAPE`, per restart of a follower, in the leadership that it came back to.

    Its own clock is all there is. The leadership is of the epoch it was told, or of one before: the leader may hear of
    the new one much later, or nobody leads in it. If it was itself the last to lead, its log is as it was loaded when
    the next leadership begins. `of_followers` is `follower_restarts`.
    """
    of_partition = begun.groupBy(*C.PARTITION_KEY).agg(
        F.collect_set(F.struct(C.LEADER_EPOCH, START_US, C.LEADER_ID)).alias("leaders")
    )
    told, restarted = F.col(C.LEADER_EPOCH), F.col("restarted")
    by_then = F.filter(
        "leaders",
        lambda it: (it[C.LEADER_EPOCH] <= told) & (it[START_US] <= F.col(START_US) + N.CLOCKS_APART_US),
    )
    is_led = F.exists("leaders", lambda it: it[C.LEADER_EPOCH] == told)
    last = F.when(F.array_max(by_then)[C.LEADER_ID] != restarted, F.array_max(by_then)[C.LEADER_EPOCH])
    found = (
        of_followers.withColumnRenamed(C.BROKER_ID, "restarted")
        .join(of_partition, C.on_partition())
        .withColumn("found", F.coalesce(last, F.when(is_led, told).otherwise(told + 1)))
        .withColumn("its", F.explode(_of_epoch("leaders", F.col("found"))))
    )
    return shaped(
        found.withColumn(C.LEADER_EPOCH, F.col("found")),
        event(N.REPLICA_RESTART),
        **{
            C.BROKER_ID: F.col("its"),
            C.REPLICA_ID: F.col("restarted"),
            N.EVENT_US: F.col(START_US),
            C.FETCH_OFFSET: F.col(LOADED_LEO),
            C.RESPONSE_HIGH_WATERMARK: F.col(LOADED_HW),
        },
    )


def _of_epoch(leaders: str, epoch: Column) -> Column:
    """Return who led in the epoch (array<int>): one broker, if lines do not contradict each other."""
    of_epoch = F.filter(leaders, lambda it: it[C.LEADER_EPOCH] == epoch)
    return F.array_distinct(F.transform(of_epoch, lambda it: it[C.LEADER_ID]))
