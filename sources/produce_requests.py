"""A PRODUCE line to appends at the leader, one a partition."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import AppendSource
from sources import request_log

PRODUCE_COLUMNS = tuple(c for c in T.PRODUCE_EVENTS.columns if c not in T.LANDED)


def produce_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `produce_events`.

    A real `base_offset` is an append, whatever the error: 7 (timed out), 6 (not leader any more) and 20 (too few
    in-sync replicas left) may come after it. With -1 nothing was appended, or with acks=0 nobody was told.
    """
    appends = request_log.landed(parsed, request_log.PRODUCE).select(
        C.SOURCE_FILE, C.SOURCE_LINE, C.BROKER_ID, C.CLIENT_ID, C.LOCAL_TIME_US,
        request_log.event_time().alias(C.EVENT_TIME),
        F.when(F.col("request.acks") != 0, request_log.response_time()).alias(C.RESPONSE_TIME),
        F.col("request.acks").alias(C.ACKS),
        F.col("request.transactionalId").isNotNull().alias(C.IS_TRANSACTIONAL),
        F.inline(F.coalesce(_answered(F.col("response.responses")), _requested(F.col("request.topicData")))),
    )  # fmt: skip
    return appends.withColumns(_untold()).select(*PRODUCE_COLUMNS)


def _answered(topics: Column) -> Column:
    """The partitions of the response: all those of the request."""
    return F.flatten(
        F.transform(
            topics,
            lambda t: F.transform(
                F.coalesce(t["partitionResponses"], t["partitions"]),
                lambda p: _append(t, p["index"], F.coalesce(p["errorCode"], F.lit(0)), p["baseOffset"]),
            ),
        )
    )


def _requested(topics: Column) -> Column:
    """The partitions of a request that asks for no response (acks=0)."""
    unknown = F.lit(C.UNKNOWN_OFFSET)
    return F.flatten(
        F.transform(
            topics, lambda t: F.transform(t["partitionData"], lambda p: _append(t, p["index"], F.lit(0), unknown))
        )
    )


def _append(topic: Column, partition: Column, error_code: Column, base_offset: Column) -> Column:
    return F.struct(
        request_log.topic_id(topic["topicId"]).alias(C.TOPIC_ID),
        F.coalesce(topic["name"], F.lit("")).alias(C.TOPIC),
        partition.alias(C.PARTITION),
        error_code.alias(C.ERROR_CODE),
        F.coalesce(base_offset, F.lit(C.UNKNOWN_OFFSET)).cast("bigint").alias(C.BASE_OFFSET),
    )


def _untold() -> dict[str, Column]:
    """What a PRODUCE line does not say."""
    return {
        C.LEADER_EPOCH: F.lit(C.UNKNOWN_EPOCH),
        C.LAST_OFFSET: F.lit(C.UNKNOWN_OFFSET).cast("bigint"),
        C.IS_CONTROL: F.lit(False),
        C.PRODUCER_ID: F.lit(-1).cast("bigint"),
        C.TRANSACTION_RESULT: F.lit(None).cast("string"),
        C.APPEND_SOURCE: F.lit(AppendSource.REQUEST.value),
    }
