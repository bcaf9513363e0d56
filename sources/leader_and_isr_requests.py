"""A LEADER_AND_ISR line (clusters with ZooKeeper) to what the controller told a broker, one row a partition."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind
from sources import request_log
from sources.request_schema import LEADER_AND_ISR


def leader_and_isr_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `leader_changes`, kind `assigned`: the assignment, leader and ISR a broker was told to apply."""
    request = F.col("request")
    grouped = F.flatten(
        F.transform(
            request["topicStates"],
            lambda t: F.transform(
                t["partitionStates"], lambda p: _told(F.coalesce(t["topicName"], t["topic"]), t["topicId"], p)
            ),
        )
    )
    no_id = F.lit(None).cast("string")
    ungrouped = F.coalesce(
        F.transform(request["ungroupedPartitionStates"], lambda p: _told(p["topicName"], no_id, p)),
        F.transform(request["partitionStates"], lambda p: _told(p["topic"], no_id, p)),
    )
    return (
        request_log.landed(parsed, LEADER_AND_ISR)
        .withColumn(C.EVENT_TIME, request_log.event_time())
        .select(C.SOURCE_FILE, C.SOURCE_LINE, C.BROKER_ID, C.EVENT_TIME, F.inline(F.coalesce(grouped, ungrouped)))
        .withColumn(C.CHANGE_KIND, F.lit(ChangeKind.ASSIGNED.value))
        .select(*T.LEADER_CHANGES.parsed)
    )


def _told(topic: Column, topic_id: Column, state: Column) -> Column:
    """One partition's state; a leader of -2 is that of a topic being deleted: none."""
    return F.struct(
        F.coalesce(topic, F.lit("")).alias(C.TOPIC),
        request_log.topic_id(topic_id).alias(C.TOPIC_ID),
        F.coalesce(state["partitionIndex"], state["partition"]).alias(C.PARTITION),
        state["leaderEpoch"].alias(C.LEADER_EPOCH),
        F.coalesce(state["partitionEpoch"], state["zkVersion"], F.lit(C.UNKNOWN_EPOCH)).alias(C.PARTITION_EPOCH),
        F.greatest(state["leader"], F.lit(C.NO_REPLICA)).alias(C.LEADER_ID),
        F.array_sort(state["isr"]).alias(C.ISR),
        state["replicas"].alias(C.REPLICAS),
        state["addingReplicas"].alias(C.ADDING_REPLICAS),
        state["removingReplicas"].alias(C.REMOVING_REPLICAS),
        (state["leaderRecoveryState"] == 1).alias(C.IS_UNCLEAN),
    )
