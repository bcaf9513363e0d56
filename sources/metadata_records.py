"""The records of a metadata log that tell of replication: their types, and the fields of each that are read."""

from __future__ import annotations

from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from schemas import columns as C
from sources.line_parts import BROKER_SETTINGS, TOPIC_SETTINGS

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
