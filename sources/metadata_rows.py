"""What the records of a KRaft cluster's metadata log add up to.

A change has only the fields that changed, and no epoch: `PartitionRegistration.merge` adds one to the partition epoch
for every change, and one to the leader epoch for a change that names a leader, be it the same. (Below metadata version
3.6-IV0 the controller names the leader in a change that shrinks the ISR.)
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

from schemas import columns as C
from schemas import tables as T
from sources import outcomes
from sources.metadata_records import (
    BROKER_RESOURCE,
    CONFIG,
    FEATURE,
    FENCE,
    PARTITION,
    PARTITION_CHANGE,
    REGISTER,
    REGISTRATION_CHANGE,
    TOPIC,
    TOPIC_RESOURCE,
    UNFENCE,
    UNREGISTER,
)


def change_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `metadata_changes`: each partition record, with what those before it left unchanged."""
    topics = outcomes.having(parsed, outcomes.IGNORED).where(F.col("type") == TOPIC)
    names = topics.select(F.col("data.topicId").alias(C.TOPIC_ID), F.col("data.name").alias(C.TOPIC))
    return (
        _landed(parsed, PARTITION, PARTITION_CHANGE)
        .withColumns({C.TOPIC_ID: F.col("data.topicId"), C.PARTITION: F.col("data.partitionId")})
        .withColumns(_bumps())
        .withColumns(_merged())
        .join(F.broadcast(names.dropDuplicates([C.TOPIC_ID])), C.TOPIC_ID, "left")
        .withColumn(C.TOPIC, F.coalesce(C.TOPIC, F.lit("")))
        .select(*T.METADATA_CHANGES.parsed)
    )


def registration_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `broker_registrations`."""
    return (
        _landed(parsed, REGISTER, REGISTRATION_CHANGE, UNREGISTER, FENCE, UNFENCE)
        .withColumns({
            C.BROKER_ID: F.coalesce("data.brokerId", "data.id"),
            C.BROKER_EPOCH: F.coalesce("data.brokerEpoch", "data.epoch", F.lit(C.UNKNOWN_EPOCH)),
            C.IS_FENCED: _is_fenced(),
        })
        .select(*T.BROKER_REGISTRATIONS.parsed)
    )  # fmt: skip


def setting_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `settings`: of topics, of brokers (-1: the cluster's default), and the levels of features."""
    resource, name = F.col("data.resourceType"), F.coalesce("data.resourceName", F.lit(""))
    broker = F.when(resource == BROKER_RESOURCE, name.try_cast("int"))
    return (
        _landed(parsed, CONFIG, FEATURE)
        .select(
            F.coalesce(broker, F.lit(C.NO_REPLICA)).alias(C.BROKER_ID),
            F.when(resource == TOPIC_RESOURCE, name).otherwise("").alias(C.TOPIC),
            F.col("data.name").alias(C.NAME),
            F.coalesce("data.value", F.col("data.featureLevel").cast("string")).alias(C.VALUE),
            C.EVENT_TIME,
            *T.LINE,
        )
        .select(*T.SETTINGS.parsed)
    )


def _landed(parsed: DataFrame, *types: str) -> DataFrame:
    """Records of these types, parsed."""
    return outcomes.having(parsed, outcomes.LANDED).where(F.col("type").isin(*types))


def _so_far() -> WindowSpec:
    """The records of a partition up to this one."""
    history = Window.partitionBy(C.TOPIC_ID, C.PARTITION).orderBy(C.METADATA_OFFSET, *T.LINE)
    return history.rowsBetween(Window.unboundedPreceding, Window.currentRow)


def _is_whole() -> Column:
    return F.col("type") == PARTITION


def _leader() -> Column:
    """The leader that the record names; NULL where it says (-2), or says nothing, that the leader stays."""
    return F.when(F.col("data.leader") >= C.NO_REPLICA, F.col("data.leader"))


def _bumps() -> dict[str, Column]:
    """How many changes of the partition so far raise an epoch."""
    return {
        "leader_bumps": F.count_if(~_is_whole() & _leader().isNotNull()).over(_so_far()),
        "partition_bumps": F.count_if(~_is_whole()).over(_so_far()),
    }


def _merged() -> dict[str, Column]:
    """The partition's state after each record of it; an epoch is -1 as long as no whole record was seen."""

    def carried(value: Column) -> Column:
        return F.last(value, ignorenulls=True).over(_so_far())

    def epoch(stated: str, bumps: str) -> Column:
        return F.coalesce(
            carried(F.when(_is_whole(), F.col(stated) - F.col(bumps))) + F.col(bumps), F.lit(C.UNKNOWN_EPOCH)
        )

    recovery = carried(F.coalesce("data.leaderRecoveryState", F.when(_is_whole(), F.lit(0))))
    return {
        C.LEADER_EPOCH: epoch("data.leaderEpoch", "leader_bumps"),
        C.PARTITION_EPOCH: epoch("data.partitionEpoch", "partition_bumps"),
        C.LEADER_ID: carried(_leader()),
        C.ISR: F.array_sort(carried(F.col("data.isr"))),
        C.REPLICAS: carried(F.col("data.replicas")),
        C.ADDING_REPLICAS: carried(F.col("data.addingReplicas")),
        C.REMOVING_REPLICAS: carried(F.col("data.removingReplicas")),
        C.IS_UNCLEAN: recovery == 1,
    }


def _is_fenced() -> Column:
    """Fenced, or in controlled shutdown; a broker registers fenced unless the record says otherwise."""
    record, fenced = F.col("type"), F.col("data.fenced")
    is_stopping = F.coalesce(F.col("data.inControlledShutdown").isin("1", "true"), F.lit(False))
    return (
        F.when(record.isin(FENCE, UNREGISTER), True)
        .when(record == UNFENCE, False)
        .when(record == REGISTER, F.coalesce(fenced != "false", F.lit(True)) | is_stopping)
        .otherwise(is_stopping | (F.coalesce(fenced, F.lit("")) == "1"))
    )
