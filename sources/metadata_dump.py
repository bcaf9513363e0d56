"""`kafka-dump-log --cluster-metadata-decoder` of a KRaft cluster's metadata log: its records and what they add up to.

    | offset: 88 CreateTime: 1795257417692 … payload: {"type":"PARTITION_CHANGE_RECORD","version":2,"data":{…}}

A change has only the fields that changed, and no epoch: `PartitionRegistration.merge` adds one to the partition epoch
for every change, and one to the leader epoch for a change that names a leader, be it the same. (Below metadata version
3.6-IV0 the controller names the leader in a change that shrinks the ISR.)
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType
from pyspark.sql.window import WindowSpec

from schemas import columns as C
from schemas import tables as T
from sources import outcomes
from sources.line_parts import BROKER_SETTINGS, TOPIC_SETTINGS
from sources.metadata_snapshots import BASE_END, SNAPSHOT_END, is_held, is_repeated, with_snapshots

CHANGE_COLUMNS = tuple(c for c in T.METADATA_CHANGES.columns if c not in T.LANDED)
REGISTRATION_COLUMNS = tuple(c for c in T.BROKER_REGISTRATIONS.columns if c not in T.LANDED)
SETTING_COLUMNS = tuple(c for c in T.SETTINGS.columns if c not in T.LANDED)

RECORD = r"^\s*\| offset: (\d+) \w+: (\d+) "
PAYLOAD = r" payload: (\{.*)$"
CONTROL = r" (?:controlType|LeaderChange|SnapshotHeader|SnapshotFooter|KRaftVersion|KRaftVoters)[: ]"
CORRUPT = "_corrupt"

PARTITION, PARTITION_CHANGE, TOPIC, FEATURE, CONFIG = (
    "PARTITION_RECORD", "PARTITION_CHANGE_RECORD", "TOPIC_RECORD", "FEATURE_LEVEL_RECORD", "CONFIG_RECORD",
)  # fmt: skip
REGISTER, REGISTRATION_CHANGE, UNREGISTER = (
    "REGISTER_BROKER_RECORD", "BROKER_REGISTRATION_CHANGE_RECORD", "UNREGISTER_BROKER_RECORD",
)  # fmt: skip
FENCE, UNFENCE = "FENCE_BROKER_RECORD", "UNFENCE_BROKER_RECORD"

TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
"""`ConfigResource.Type`; the broker without a name is the default of the cluster."""

SETTING_NAMES = tuple({*TOPIC_SETTINGS, *BROKER_SETTINGS})
FEATURE_NAMES = ("metadata.version", "eligible.leader.replicas.version", "kraft.version")

INTEGER_FIELDS = (
    "partitionId", "leader", "leaderRecoveryState", "leaderEpoch", "partitionEpoch", "brokerId", "id", "resourceType",
    "featureLevel",
)  # fmt: skip
TEXT_FIELDS = ("topicId", "name", "resourceName", "value", "fenced", "inControlledShutdown")
DATA = StructType([
    *[StructField(name, IntegerType()) for name in INTEGER_FIELDS],
    *[StructField(name, C.ISR.type) for name in ("isr", "replicas", "addingReplicas", "removingReplicas")],
    *[StructField(name, StringType()) for name in TEXT_FIELDS],
    *[StructField(name, LongType()) for name in ("brokerEpoch", "epoch")],
])  # fmt: skip
PAYLOAD_SCHEMA = StructType(
    [StructField("type", StringType()), StructField("data", DATA), StructField(CORRUPT, StringType())]
)

REQUIRED = {
    PARTITION: ("partitionId", "topicId", "isr", "replicas", "leader", "leaderEpoch", "partitionEpoch"),
    PARTITION_CHANGE: ("partitionId", "topicId"),
    TOPIC: ("name", "topicId"),
    FEATURE: ("name", "featureLevel"),
    CONFIG: ("resourceType", "name"),
    REGISTER: ("brokerId", "brokerEpoch"),
    REGISTRATION_CHANGE: ("brokerId",),
    UNREGISTER: ("brokerId",),
    FENCE: ("id",),
    UNFENCE: ("id",),
}


def parse(lines: DataFrame) -> DataFrame:
    """Each line with its outcome and reason; of a record its offset, time, type and data."""
    records = lines.withColumns({
        C.METADATA_OFFSET: F.regexp_extract(C.LINE_TEXT, RECORD, 1).try_cast("bigint"),
        C.EVENT_TIME: F.timestamp_millis(F.regexp_extract(C.LINE_TEXT, RECORD, 2).try_cast("bigint")),
        "payload": F.from_json(
            F.nullif(F.regexp_extract(C.LINE_TEXT, PAYLOAD, 1), F.lit("")),
            PAYLOAD_SCHEMA,
            {"columnNameOfCorruptRecord": CORRUPT},
        ),
    })  # fmt: skip
    flat = records.withColumns({"type": F.col("payload.type"), "data": F.col("payload.data")})
    numbered = with_snapshots(flat).withColumn("copy", F.row_number().over(_copies()))
    return outcomes.with_outcome(numbered, _verdict()).drop("payload", "copy", SNAPSHOT_END, BASE_END)


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
        .select(*CHANGE_COLUMNS)
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
        .select(*REGISTRATION_COLUMNS)
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
        .select(*SETTING_COLUMNS)
    )


def _landed(parsed: DataFrame, *types: str) -> DataFrame:
    return outcomes.having(parsed, outcomes.LANDED).where(F.col("type").isin(*types))


def _copies() -> WindowSpec:
    """The lines that are one record: several controllers' dumps have the same log, of which the first copy counts."""
    return Window.partitionBy(C.METADATA_OFFSET, C.LINE_TEXT).orderBy(*T.LINE)


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


def _verdict() -> Column:
    text, record, payload = F.col(C.LINE_TEXT), F.col("type"), F.col("payload")
    is_record = text.rlike(r"^\s*\| ")
    is_change_of_else = ~F.coalesce(F.col("data.fenced").isin("1", "-1"), F.lit(False)) & F.coalesce(
        F.col("data.inControlledShutdown") != "1", F.lit(True)
    )
    is_other_setting = ~F.col("data.name").isin(*SETTING_NAMES, *FEATURE_NAMES)
    return (
        F.when(~is_record & text.rlike(r"[\x00-\x08\x{FFFD}]"), outcomes.rejected("not text"))
        .when(text.startswith("baseOffset: "), outcomes.ignored("batch"))
        .when(~is_record, outcomes.ignored("other line"))
        .when(F.col(C.METADATA_OFFSET).isNull(), outcomes.rejected("cut line"))
        .when(payload.isNull() & text.rlike(CONTROL),
              outcomes.ignored("control record"))
        .when(payload.isNull() | payload[CORRUPT].isNotNull() | record.isNull(), outcomes.rejected("cut line"))
        .when(~record.isin(*REQUIRED), outcomes.ignored(F.concat(F.lit("other record: "), record)))
        .when(_missing_field().isNotNull(), outcomes.rejected(F.concat(F.lit("missing field: "), _missing_field())))
        .when(is_repeated(), outcomes.ignored("snapshot of what others tell"))
        .when(record.isin(PARTITION, PARTITION_CHANGE) & is_held(), outcomes.ignored("change that the snapshot holds"))
        .when(F.col("copy") > 1, outcomes.ignored("copy of a record"))
        .when(record == TOPIC, outcomes.ignored("name of a topic id"))
        .when((record == REGISTRATION_CHANGE) & is_change_of_else, outcomes.ignored("registration changed otherwise"))
        .when(record.isin(CONFIG, FEATURE) & is_other_setting, outcomes.ignored("no setting that bears on replication"))
        .otherwise(outcomes.landed())
    )  # fmt: skip


def _missing_field() -> Column:
    """The first field that the record needs and lacks; NULL when all are there."""
    return F.coalesce(*[
        F.when((F.col("type") == record) & F.col(f"data.{field}").isNull(), F.lit(field))
        for record, fields in REQUIRED.items() for field in fields
    ])  # fmt: skip
