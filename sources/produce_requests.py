"""A PRODUCE line to appends at the leader, one a partition."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import AppendSource
from sources import request_log
from sources.numbered import each_below
from sources.request_schema import PRODUCE


def produce_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `produce_events`.

    A real `base_offset` is an append, whatever the error: 7 (timed out), 6 (not leader any more) and 20 (too few
    in-sync replicas left) may come after it. With -1 nothing was appended, or with acks=0 nobody was told.
    """
    requests = request_log.landed(parsed, PRODUCE).select(
        C.SOURCE_FILE, C.SOURCE_LINE, C.BROKER_ID, C.CLIENT_ID, C.LOCAL_TIME_US,
        request_log.event_time().alias(C.EVENT_TIME),
        F.when(F.col("request.acks") != 0, request_log.response_time()).alias(C.RESPONSE_TIME),
        F.col("request.acks").alias(C.ACKS),
        # Before 2.8 the request log has neither: the segments may tell.
        F.when(F.col("request.topicData").isNotNull(), F.col("request.transactionalId").isNotNull()).alias(
            C.IS_TRANSACTIONAL
        ),
        F.col("response.responses").alias("answered"),
        # What asks for no response (acks=0) is known by what it asks.
        F.when(F.col("response.responses").isNull(), F.col("request.topicData")).alias("asked"),
    )  # fmt: skip
    return _appends(requests).withColumns(_untold()).select(*T.PRODUCE_EVENTS.parsed)


def _appends(requests: DataFrame) -> DataFrame:
    """The requests, one row a partition."""
    answered, asked = F.get("answered", F.col("number")), F.get("asked", F.col("number"))
    count = F.coalesce(F.array_size("answered"), F.array_size("asked"))
    topics = requests.select("*", each_below(count).alias("number")).select(
        *requests.columns,
        request_log.topic_id(F.coalesce(answered["topicId"], asked["topicId"])).alias(C.TOPIC_ID),
        F.coalesce(answered["name"], answered["topic"], asked["name"], F.lit("")).alias(C.TOPIC),
        F.coalesce(answered["partitionResponses"], answered["partitions"]).alias("answers"),
        asked["partitionData"].alias("questions"),
    )
    answer, question = F.get("answers", F.col("number")), F.get("questions", F.col("number"))
    count = F.coalesce(F.array_size("answers"), F.array_size("questions"))
    return topics.select("*", each_below(count).alias("number")).select(
        *[c for c in topics.columns if c not in ("answered", "asked", "answers", "questions")],
        F.coalesce(answer["index"], answer["partition"], question["index"]).alias(C.PARTITION),
        F.coalesce(answer["errorCode"], F.lit(0)).alias(C.ERROR_CODE),
        F.coalesce(answer["baseOffset"], F.lit(C.UNKNOWN_OFFSET)).cast("bigint").alias(C.BASE_OFFSET),
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
