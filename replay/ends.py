"""Leaders whose process ended while they led: the last requests they answered are in no log.

A request is logged after its response was sent; one in flight, or parked, when the process was killed leaves no line.
A follower that then turns out to hold records past what the leader had heard from it may have asked for the next ones,
and the HW may have risen. Nobody can know: the end of such a leadership is an event of its own, with a bounded HW.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.leaderships import START_US
from replay.statements import is_of
from schemas import columns as C
from schemas.kinds import ChangeKind, StatementKind

REACHED = "reached"
"""map<int,bigint>: by replica, the LEO with which it took its next role."""

_ROLE_LEOS = (StatementKind.BECAME_LEADER_LEO, StatementKind.BECAME_FOLLOWER_LEO)


def ends(roles: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per leader whose next sign of life is a restart: partition, epoch, broker, time of the load, `reached`.

    `roles` is `leaderships.roles_with_loads`, `statements` is `broker_statements`.
    """
    by_broker = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(START_US, "rank", C.LEADER_EPOCH)
    led = roles.withColumn("led", F.lag(C.LEADER_EPOCH).over(by_broker)).where(
        (F.col(C.CHANGE_KIND) == StatementKind.LOADED_HW.value) & (F.col("before") == ChangeKind.BECOME_LEADER.value)
    )
    ended = led.select(*C.PARTITION_KEY, C.CAPTURE_ID, F.col("led").alias(C.LEADER_EPOCH), C.BROKER_ID, START_US)
    later = statements.where(is_of(*_ROLE_LEOS)).select(
        *C.PARTITION_KEY,
        F.col(C.BROKER_ID).alias(C.REPLICA_ID),
        F.col(C.LEADER_EPOCH).alias("epoch"),
        F.unix_micros(C.EVENT_TIME).alias("us"),
        C.OFFSET,
    )
    next_role = (
        ended.join(later, C.on_partition())
        .where((F.col("epoch") > F.col(C.LEADER_EPOCH)) & (F.col(C.REPLICA_ID) != F.col(C.BROKER_ID)))
        .groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID, START_US, C.REPLICA_ID)
        .agg(F.min_by(C.OFFSET, F.struct("epoch", "us")).alias(C.OFFSET))
        .groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID, START_US)
        .agg(F.map_from_entries(F.collect_list(F.struct(C.REPLICA_ID, C.OFFSET))).alias(REACHED))
    )
    return ended.join(next_role, [*C.on_partition(C.LEADER_EPOCH, C.BROKER_ID), START_US], "left")
