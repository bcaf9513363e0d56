"""Transaction markers by the requests that wrote them: WRITE_TXN_MARKERS, as each release prints it."""

from __future__ import annotations

import pytest
from pyspark.sql import Row, SparkSession

from sources.marker_requests import marker_rows
from sources.request_log import parse
from tests.request_lines import frame, line

pytestmark = pytest.mark.spark

TEXT = (
    "[2026-11-21 10:00:00,031] DEBUG Completed request:RequestHeader(apiKey=WRITE_TXN_MARKERS, apiVersion=0,"
    " clientId=broker-2-txn-marker-sender, correlationId=4) -- {%s},response:{%s}"
    " from connection 127.0.0.1:9092-127.0.0.1:38818-13;totalTime:53.375,requestQueueTime:0.098,localTime:27.708,"
    "remoteTime:25.468,throttleTime:0.0,responseQueueTime:0.052,sendTime:0.048,securityProtocol:PLAINTEXT,"
    "principal:User:ANONYMOUS,listener:PLAINTEXT (kafka.request.logger)"
)
OF_2_5 = """transaction_markers=[{producer_id=1000,producer_epoch=0,transaction_result=false,\
topics=[{topic=orders,partitions=[0,2]}],coordinator_epoch=0}]"""
ANSWER_OF_2_5 = """transaction_markers=[{producer_id=1000,topics=[{topic=orders,\
partitions=[{partition=0,error_code=0},{partition=2,error_code=6}]}]}]"""
OF_2_6 = """markers=[{producer_id=1000,producer_epoch=0,transaction_result=false,\
topics=[{name=orders,partition_indexes=[0,2]}],coordinator_epoch=0}]"""
ANSWER_OF_2_6 = """markers=[{producer_id=1000,topics=[{name=orders,\
partitions=[{partition_index=0,error_code=0},{partition_index=2,error_code=6}]}]}]"""


def markers(*marked: tuple[int, bool], errors: tuple[tuple[int, int], ...] = ((0, 0),), at: int = 31) -> str:
    """A line of markers: producer and whether it committed; of each partition of `orders` an error."""
    numbers = [partition for partition, _ in errors]
    asked = [
        {
            "producerId": producer,
            "producerEpoch": 0,
            "transactionResult": result,
            "topics": [{"name": "orders", "partitionIndexes": numbers}],
            "coordinatorEpoch": 0,
        }
        for producer, result in marked
    ]
    told = [{"partitionIndex": partition, "errorCode": error} for partition, error in errors]
    answered = [{"producerId": id_, "topics": [{"name": "orders", "partitions": told}]} for id_, _ in reversed(marked)]
    return line("WRITE_TXN_MARKERS", {"markers": asked}, {"markers": answered}, at=at, version=1)


def rows(spark: SparkSession, *texts: str) -> list[Row]:
    """The markers, by line, producer and partition."""
    return marker_rows(parse(frame(spark, texts), "UTC")).orderBy("source_line", "producer_id", "partition").collect()


def test_each_release_says_the_same(spark: SparkSession) -> None:
    """Whose, how it ended, and of each partition whether it was appended; no offset, and nobody's acks."""
    found = rows(
        spark,
        TEXT % (OF_2_5, ANSWER_OF_2_5),
        TEXT % (OF_2_6, ANSWER_OF_2_6),
        markers((1000, False), errors=((0, 0), (2, 6))),
    )

    assert [(r.topic, r.partition, r.producer_id, r.transaction_result, r.error_code) for r in found] == [
        ("orders", 0, 1000, "ABORT", 0),
        ("orders", 2, 1000, "ABORT", 6),
    ] * 3
    assert {(r.is_control, r.is_transactional, r.base_offset, r.last_offset, r.acks) for r in found} == {
        (True, True, -1, -1, None)
    }
    assert [r.local_time_us for r in found] == [27708] * 4 + [2000] * 2


def test_a_request_may_end_several_transactions(spark: SparkSession) -> None:
    """Its response has them in any order."""
    found = rows(spark, markers((7, True), (9, False)))

    assert [(r.producer_id, r.transaction_result) for r in found] == [(7, "COMMIT"), (9, "ABORT")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            markers((7, True)).replace('"producerId":7', '"id":7'),
            "missing field: producerId, partitionIndex or errorCode",
        ),
        (markers((7, True)).replace("errorCode", "code"), "missing field: producerId, partitionIndex or errorCode"),
        (markers((7, True)).replace('"response":{"markers"', '"response":{"other"'), "missing field: markers"),
        (markers((7, True), errors=((-4, 0),)), "number out of range"),
        (markers((7, True))[:200], "cut line"),
    ],
)
def test_what_lacks_something_is_rejected(spark: SparkSession, text: str, reason: str) -> None:
    """By name."""
    (found,) = parse(frame(spark, [text]), "UTC").collect()

    assert (found.outcome, found.reason) == ("rejected", reason)
