"""Lines of a request log, as the tests write them: requests as Kafka 4.1 logs them, unless told otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from schemas.files import FileKind
from sources.outcomes import LINE_COLUMNS
from sources.topic_ids import topic_ids

START = datetime(2026, 11, 21, 10, 0, 0)  # noqa: DTZ001 - a log line has no zone
ORDERS_ID = "N5Izty95RDOz9nNout7QOQ"
TIMES = {
    "totalTimeMs": 10.5,
    "requestQueueTimeMs": 1.25,
    "localTimeMs": 2.0,
    "remoteTimeMs": 6.0,
    "throttleTimeMs": 0,
    "responseQueueTimeMs": 1.0,
    "sendTimeMs": 0.25,
}
Json = dict[str, Any]


def frame(spark: SparkSession, texts: Iterable[str], broker_id: int = 1) -> DataFrame:
    """The lines of one request log."""
    schema = StructType([StructField(str(c), c.type) for c in LINE_COLUMNS])
    rows = [("request.log", n, broker_id, FileKind.REQUEST_LOG.value, text) for n, text in enumerate(texts, 1)]
    return spark.createDataFrame(rows, schema)


def ids_of(spark: SparkSession, *created: tuple[str, str, datetime | None]) -> DataFrame:
    """Topic ids as ingest knows them: of each topic its name, its id, and when that is told."""
    return topic_ids(spark.createDataFrame([*created], "topic string, topic_id string, event_time timestamp"))


def line(api: str, request: Json, response: Json | str, *, at: int = 0, version: int = 18, **times: float) -> str:
    """A line of `at` milliseconds after the start."""
    stamp = (START + timedelta(milliseconds=at)).isoformat(" ", "milliseconds").replace(".", ",")
    header = {"requestApiVersion": version, "correlationId": at, "clientId": "test", "requestApiKeyName": api}
    body = {"isForwarded": False, "requestHeader": header, "request": request, "response": response}
    text = json.dumps({**body, "connection": "c", **TIMES, **times}, separators=(",", ":"))
    return f"[{stamp}] DEBUG Completed request:{text} (kafka.request.logger)"


def fetch(
    session: tuple[int, int],
    listed: Mapping[int, int] | None = None,
    answered: Mapping[int, Json] | None = None,
    *,
    forgotten: Sequence[int] = (),
    response_session: int | None = None,
    error: int = 0,
    throttled_ms: int = 0,
    at: int = 0,
) -> str:
    """A fetch of replica 2: `listed` fetch offsets and `answered` words by partition of `orders`."""
    session_id, epoch = session
    params = {"currentLeaderEpoch": 3, "lastFetchedEpoch": 3, "logStartOffset": 0, "partitionMaxBytes": 1}
    asked = [{"partition": p, "fetchOffset": offset, **params} for p, offset in (listed or {}).items()]
    answers = [
        {"partitionIndex": p, "errorCode": 0, "highWatermark": 0, "lastStableOffset": 0, "logStartOffset": 0, **word}
        for p, word in (answered or {}).items()
    ]
    request = {
        "replicaState": {"replicaId": 2, "replicaEpoch": 7},
        "isolationLevel": 0,
        "sessionId": session_id,
        "sessionEpoch": epoch,
        "topics": [{"topicId": ORDERS_ID, "partitions": asked}] if asked else [],
        "forgottenTopicsData": [{"topicId": ORDERS_ID, "partitions": list(forgotten)}] if forgotten else [],
    }
    response = {
        "throttleTimeMs": throttled_ms,
        "errorCode": error,
        "sessionId": session_id if response_session is None else response_session,
        "responses": [{"topicId": ORDERS_ID, "partitions": answers}] if answers else [],
    }
    return line("FETCH", request, response, at=at)


def produce(
    base_offset: int, *, acks: int = -1, error: int = 0, partition: int = 0, at: int = 0, **times: float
) -> str:
    """A produce to one partition of `orders`."""
    request = {
        "transactionalId": None,
        "acks": acks,
        "topicData": [{"name": "orders", "partitionData": [{"index": partition, "recordsSizeInBytes": 70}]}],
    }
    answer = {"index": partition, "errorCode": error, "baseOffset": base_offset, "logAppendTimeMs": -1}
    response: Json | str = {"responses": [{"name": "orders", "partitionResponses": [answer]}], "throttleTimeMs": 0}
    return line("PRODUCE", request, "" if acks == 0 else response, at=at, version=10, **times)
