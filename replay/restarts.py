"""Restarts of followers, as events of the partition they find: the log as it was recovered, the HW of its checkpoint.

The unflushed tail may be gone (`LogLoader`), and the HW is up to `replica.high.watermark.checkpoint.interval.ms` stale
(P:488 createLog). A restart of the leader is a leadership of its own: `leaderships`.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.leaderships import LOADED_HW, START_US
from schemas import columns as C
from schemas.kinds import ChangeKind, StatementKind

LOADED_LEO = "loaded_log_end_offset"
"""bigint: LEO of the recovered log; NULL where no line says."""


def restarts(roles: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per first role of a broker's process: replica, role, time, leader epoch, the HW and LEO it loaded.

    `roles` is `leaderships.roles_with_loads`, `statements` is `broker_statements`.
    """
    said = F.struct(F.unix_micros(C.EVENT_TIME).alias("us"), F.col(C.OFFSET).alias("leo"))
    recovered = (
        statements.where(F.col(C.KIND) == StatementKind.LOADED_LEO.value)
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
