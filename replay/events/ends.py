"""Leaders whose process ended while they led: the last requests they answered are in no log.

A request is logged after its response was sent; one in flight, or parked, when the process was killed leaves no line.
A follower that then turns out to hold records past what the leader had heard from it may have asked for the next ones,
and the HW may have risen. Nobody can know: the end of such a leadership is an event of its own, with a bounded HW.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.events.leaderships import START_US
from schemas import columns as C
from schemas.kinds import ChangeKind, StatementKind


def ends(roles: DataFrame) -> DataFrame:
    """One row per leader whose next sign of life is a restart: partition, delivery, epoch, broker, time of the load.

    `roles` is `leaderships.roles_with_loads`.
    """
    by_broker = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(START_US, "rank", C.LEADER_EPOCH)
    led = roles.withColumn("led", F.lag(C.LEADER_EPOCH).over(by_broker)).where(
        (F.col(C.CHANGE_KIND) == StatementKind.LOADED_HW.value) & (F.col("before") == ChangeKind.BECOME_LEADER.value)
    )
    return led.select(*C.PARTITION_KEY, C.CAPTURE_ID, F.col("led").alias(C.LEADER_EPOCH), C.BROKER_ID, START_US)
