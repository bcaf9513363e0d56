"""A FETCH line to one fetch request: the request's own columns, and every partition that it or its response names."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from schemas import columns as C
from sources import request_log

SESSION = "session"
"""Fetch session (KIP-227) the request was handled in; a request outside any is a session of its own."""

FORGOTTEN, LISTED, ANSWERED = 0, 1, 2
"""What names a partition: the request's `forgottenTopicsData`, its `topics`, or the response."""

PARKED_US = 500
"""A fetch with so much remote time was parked (DelayedFetch): one with less may have been, too."""

TURN = (
    C.SOURCE_FILE, C.SOURCE_LINE, C.EVENT_TIME, C.RESPONSE_TIME, C.LOCAL_TIME_US, C.REPLICA_ID, C.REPLICA_EPOCH,
    C.CLIENT_ID, C.SESSION_ID, C.SESSION_EPOCH, C.ISOLATION_LEVEL, C.IS_PARKED,
)  # fmt: skip
"""What is of the request and not of a partition."""

PARAMS = (C.FETCH_OFFSET, C.CURRENT_LEADER_EPOCH, C.LAST_FETCHED_EPOCH, C.LOG_START_OFFSET)
"""What a session remembers of a partition from the last request that listed it."""

ANSWER = (
    C.ERROR_CODE, C.RECORDS_SIZE, C.RESPONSE_HIGH_WATERMARK, C.RESPONSE_LAST_STABLE_OFFSET,
    C.RESPONSE_LOG_START_OFFSET, C.DIVERGING_EPOCH, C.DIVERGING_END_OFFSET,
)  # fmt: skip
"""What a response says of a partition it lists."""


def fetch_requests(parsed: DataFrame) -> DataFrame:
    """One row a FETCH line: broker, session, `turn` (the request's own columns) and the partitions `named` in it."""
    request, response = F.col("request"), F.col("response")
    return (
        request_log.landed(parsed, request_log.FETCH)
        .withColumns(_turn(request))
        .withColumn(C.SESSION_ID, _session_id(request, response))
        .withColumn(SESSION, _session())
        .select(
            C.BROKER_ID,
            SESSION,
            C.SESSION_EPOCH,
            F.struct(*TURN).alias("turn"),
            _named(request, response).alias("named"),
            F.lit(True).alias("is_new"),
        )
    )


def unknown(column: Column, data_type: str) -> Column:
    """The column, -1 where it is absent."""
    return F.coalesce(column, F.lit(-1)).cast(data_type)


def naming(
    topic: tuple[Column, Column],
    partition: Column,
    named_by: int,
    *,
    params: Column | None = None,
    answer: Column | None = None,
) -> Column:
    """A partition as something names it: a struct of one shape, whoever does."""
    topic_id, name = topic
    nothing = F.lit(None)
    return F.struct(
        topic_id.alias(C.TOPIC_ID),
        name.alias(C.TOPIC),
        partition.alias(C.PARTITION),
        F.lit(named_by).alias("named_by"),
        (nothing if params is None else params).cast(_type_of(PARAMS)).alias("params"),
        (nothing if answer is None else answer).cast(_type_of(ANSWER)).alias("answer"),
    )


def _turn(request: Column) -> dict[str, Column]:
    return {
        C.EVENT_TIME: request_log.event_time(),
        C.RESPONSE_TIME: request_log.response_time(),
        C.REPLICA_ID: unknown(F.coalesce(request["replicaState"]["replicaId"], request["replicaId"]), "int"),
        C.REPLICA_EPOCH: unknown(request["replicaState"]["replicaEpoch"], "bigint"),
        C.SESSION_EPOCH: unknown(request["sessionEpoch"], "int"),
        C.ISOLATION_LEVEL: F.coalesce(request["isolationLevel"], F.lit(0)),
        C.IS_PARKED: F.col("remote_time_us") >= PARKED_US,
    }


def _session_id(request: Column, response: Column) -> Column:
    """A full fetch (epoch 0) is the first of the session its response names, whatever session it came from."""
    epoch = F.col(C.SESSION_EPOCH)
    session_id = F.when(epoch > 0, request["sessionId"]).when(epoch == 0, response["sessionId"])
    return F.coalesce(session_id, F.lit(0))


def _session() -> Column:
    alone = F.concat_ws(":", C.SOURCE_FILE, C.SOURCE_LINE)
    return F.when(F.col(C.SESSION_ID) == 0, alone).otherwise(F.col(C.SESSION_ID).cast("string"))


def _named(request: Column, response: Column) -> Column:
    forgotten = _by_partition(request["forgottenTopicsData"], _partitions, _forgotten)
    listed = _by_partition(request["topics"], _partitions, _listed)
    answered = _by_partition(response["responses"], _answered_partitions, _answered)
    return F.concat(*[F.coalesce(part, F.array()) for part in (forgotten, listed, answered)])


def _by_partition(
    topics: Column, partitions: Callable[[Column], Column], name: Callable[[Column, Column], Column]
) -> Column:
    """What `name` says of each partition of each topic, in one array."""
    return F.flatten(F.transform(topics, lambda t: F.transform(partitions(t), lambda p: name(t, p))))


def _partitions(topic: Column) -> Column:
    return topic["partitions"]


def _answered_partitions(topic: Column) -> Column:
    return F.coalesce(topic["partitions"], topic["partitionResponses"])


def _forgotten(topic: Column, partition: Column) -> Column:
    nothing = F.struct(*[F.lit(None).cast(c.type).alias(c) for c in PARAMS])
    return naming(_topic(topic), partition, FORGOTTEN, params=nothing)


def _listed(topic: Column, partition: Column) -> Column:
    params = F.struct(
        partition["fetchOffset"].alias(C.FETCH_OFFSET),
        unknown(partition["currentLeaderEpoch"], "int").alias(C.CURRENT_LEADER_EPOCH),
        unknown(partition["lastFetchedEpoch"], "int").alias(C.LAST_FETCHED_EPOCH),
        unknown(partition["logStartOffset"], "bigint").alias(C.LOG_START_OFFSET),
    )
    return naming(_topic(topic), partition["partition"], LISTED, params=params)


def _answered(topic: Column, answer: Column) -> Column:
    answered = F.struct(
        F.coalesce(answer["errorCode"], F.lit(0)).alias(C.ERROR_CODE),
        unknown(F.coalesce(answer["recordsSizeInBytes"], answer["recordSetSizeInBytes"]), "bigint").alias(
            C.RECORDS_SIZE
        ),
        unknown(answer["highWatermark"], "bigint").alias(C.RESPONSE_HIGH_WATERMARK),
        unknown(answer["lastStableOffset"], "bigint").alias(C.RESPONSE_LAST_STABLE_OFFSET),
        unknown(answer["logStartOffset"], "bigint").alias(C.RESPONSE_LOG_START_OFFSET),
        unknown(answer["divergingEpoch"]["epoch"], "int").alias(C.DIVERGING_EPOCH),
        unknown(answer["divergingEpoch"]["endOffset"], "bigint").alias(C.DIVERGING_END_OFFSET),
    )
    partition = F.coalesce(answer["partitionIndex"], answer["partition"])
    return naming(_topic(topic), partition, ANSWERED, answer=answered)


def _topic(topic: Column) -> tuple[Column, Column]:
    return request_log.topic_id(topic["topicId"]), F.coalesce(topic["topic"], F.lit(""))


def _type_of(columns: tuple[C.Field, ...]) -> StructType:
    return StructType([StructField(str(c), c.type) for c in columns])
