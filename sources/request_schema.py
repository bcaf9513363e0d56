"""What the request log's JSON looks like: one schema for every version, of Kafka 2.8 to 4.4 and of the text before.

The log prints a field of the protocol by its name in the release that wrote it, and leaves out what the API version
does not have, so a field that was renamed is here under each of its names:

| meaning              | names                                                                               |
|----------------------|-------------------------------------------------------------------------------------|
| replica              | `replicaId` (FETCH up to v14), `replicaState.replicaId` (v15+); absent: consumer    |
| topic                | `topic` (FETCH up to v12; text), `name` (PRODUCE up to v12), `topicName`; `topicId` |
| partition            | `partition`, `partitionIndex` (answers since 3.0), `index` (PRODUCE of JSON)        |
| partitions of answer | `partitionResponses` (FETCH of 2.8; PRODUCE), `partitions` (FETCH since 3.0)        |
| bytes of records     | `recordSetSizeInBytes` (2.8), `recordsSizeInBytes` (since 3.0; of the text);        |
|                      | up to 2.3 where they begin and end in their file                                    |
| roles (up to 2.3)    | `topicStates` of `topic`, or `partitionStates`; `partition`                         |
| markers              | `transactionMarkers` of `topic`, `partitions` (up to 2.5); `markers` of `name`,     |
|                      | `partitionIndexes`, and `partitionIndex` in the answer (WRITE_TXN_MARKERS)          |
| partition epoch      | `zkVersion` (LEADER_AND_ISR of 2.8 to 3.2 at least), later `partitionEpoch`         |
"""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

FETCH, PRODUCE, LEADER_AND_ISR, WRITE_TXN_MARKERS = "FETCH", "PRODUCE", "LEADER_AND_ISR", "WRITE_TXN_MARKERS"
READ = (FETCH, PRODUCE, LEADER_AND_ISR, WRITE_TXN_MARKERS)
"""The APIs that are read."""

CORRUPT = "_corrupt_record"
"""Holds the text when it is no complete JSON object, else NULL."""

INT, LONG, TEXT, MILLISECONDS, BOOL = IntegerType(), LongType(), StringType(), DoubleType(), BooleanType()


def _struct(**fields: DataType) -> StructType:
    """A struct of nullable fields: every version leaves some of them out."""
    return StructType([StructField(name, data_type) for name, data_type in fields.items()])


def _many(**fields: DataType) -> ArrayType:
    """An array of such structs."""
    return ArrayType(_struct(**fields))


HEADER = _struct(requestApiVersion=INT, clientId=TEXT, requestApiKeyName=TEXT)

FETCHED_PARTITIONS = _many(
    partition=INT, currentLeaderEpoch=INT, fetchOffset=LONG, lastFetchedEpoch=INT, logStartOffset=LONG
)
FETCHED_TOPICS = _many(topic=TEXT, topicId=TEXT, partitions=FETCHED_PARTITIONS)
PARTITION_STATE = {
    "partitionIndex": INT, "partition": INT, "leader": INT, "leaderEpoch": INT, "isr": ArrayType(INT), "zkVersion": INT,
    "partitionEpoch": INT, "replicas": ArrayType(INT), "addingReplicas": ArrayType(INT),
    "removingReplicas": ArrayType(INT), "leaderRecoveryState": INT,
}  # fmt: skip
MARKERS = _many(producerId=LONG, transactionResult=BOOL)

REQUEST = _struct(
    # FETCH
    replicaId=INT, replicaState=_struct(replicaId=INT, replicaEpoch=LONG), isolationLevel=INT, sessionId=INT,
    sessionEpoch=INT, topics=FETCHED_TOPICS,
    forgottenTopicsData=_many(topic=TEXT, topicId=TEXT, partitions=ArrayType(INT)),
    # PRODUCE
    transactionalId=TEXT, acks=INT, topicData=_many(name=TEXT, topicId=TEXT, partitionData=_many(index=INT)),
    # LEADER_AND_ISR
    ungroupedPartitionStates=_many(topicName=TEXT, **PARTITION_STATE),
    partitionStates=_many(topic=TEXT, **PARTITION_STATE),
    topicStates=_many(topicName=TEXT, topic=TEXT, topicId=TEXT, partitionStates=_many(**PARTITION_STATE)),
    # WRITE_TXN_MARKERS: its topics are in the answer as well
    markers=MARKERS, transactionMarkers=MARKERS,
)  # fmt: skip

ANSWERED_PARTITIONS = _many(
    partition=INT, partitionIndex=INT, index=INT, errorCode=INT, baseOffset=LONG, highWatermark=LONG,
    lastStableOffset=LONG, logStartOffset=LONG, divergingEpoch=_struct(epoch=INT, endOffset=LONG),
    recordsSizeInBytes=LONG, recordSetSizeInBytes=LONG, recordsStart=LONG, recordsEnd=LONG,
)  # fmt: skip

ANSWERED_TOPICS = _many(
    topic=TEXT, name=TEXT, topicId=TEXT, partitions=ANSWERED_PARTITIONS, partitionResponses=ANSWERED_PARTITIONS
)
ANSWERED_MARKERS = _many(
    producerId=LONG,
    topics=_many(name=TEXT, topic=TEXT, partitions=_many(partitionIndex=INT, partition=INT, errorCode=INT)),
)
RESPONSE = _struct(
    throttleTimeMs=INT, errorCode=INT, sessionId=INT, responses=ANSWERED_TOPICS,
    markers=ANSWERED_MARKERS, transactionMarkers=ANSWERED_MARKERS,
)  # fmt: skip

REQUEST_LINE = _struct(
    requestHeader=HEADER, request=REQUEST, response=RESPONSE, totalTimeMs=MILLISECONDS,
    requestQueueTimeMs=MILLISECONDS, localTimeMs=MILLISECONDS, remoteTimeMs=MILLISECONDS,
    responseQueueTimeMs=MILLISECONDS, sendTimeMs=MILLISECONDS, **{CORRUPT: TEXT},
)  # fmt: skip
