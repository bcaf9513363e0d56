"""A line of the request log has one outcome, and says what it says to the microsecond."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from sources.leader_and_isr_requests import leader_and_isr_rows
from sources.produce_requests import produce_rows
from sources.request_log import parse
from tests.request_lines import fetch, frame, line, produce

pytestmark = pytest.mark.spark


def leader_and_isr(**changed: int | None) -> str:
    """A LEADER_AND_ISR request, with some of its numbers changed or left out."""
    state = {"partitionIndex": 0, "leader": 1, "leaderEpoch": 3, "isr": [1], "replicas": [1], **changed}
    told = {name: value for name, value in state.items() if value is not None}
    return line("LEADER_AND_ISR", {"topicStates": [{"topicName": "t", "partitionStates": [told]}]}, {"errorCode": 0})


CUT = produce(5)[:400]
LINES_AND_REASONS = [
    (produce(5), None),
    (produce(-1, acks=0), None),
    (fetch((9, 1)), None),
    # Names beyond ASCII, of a client or a thread, are longer in bytes than in characters.
    (produce(5).replace('"clientId":"test"', '"clientId":"Zürich€𝄞"'), None),
    (produce(5).replace(" DEBUG ", " [Fäden-€-𝄞-0] DEBUG "), None),
    ("", "blank line"),
    ("[2026-11-21 10:00:00,000] INFO Rolling over (kafka.request.logger)", "not a completed request"),
    (line("METADATA", {"topics": ["a"]}, {}), "other request: METADATA"),
    (line("ALTER_ISR", {"brokerId": 3}, {}), "other request: ALTER_ISR"),
    (fetch((9, 1), error=71), "refused with error 71"),
    (
        line("FETCH", {"topics": [{"topic": "__cluster_metadata", "partitions": []}]}, {"responses": []}),
        "fetch of __cluster_metadata",
    ),
    (CUT, "cut line"),
    (CUT + '"}', "cut line"),
    (produce(5).split("Completed request:")[1], "no time stamp"),
    (produce(5).replace("2026-11-21 10", "2026-13-21 10"), "no time stamp"),
    (produce(5)[60:], "no time stamp"),
    (produce(5)[100:300], "no time stamp"),
    (produce(5)[:9], "no time stamp"),
    ("java.io.IOException: broken pipe", "continuation of a message"),
    ("\tat kafka.Kafka$.main(Kafka.scala:1)", "continuation of a message"),
    ("bad \x01 byte", "not text"),
    (produce(5).replace('"localTimeMs":2.0,', ""), "missing field: localTimeMs"),
    (produce(5).replace('"acks":-1,', ""), "missing field: acks"),
    (line("PRODUCE", {"acks": 1, "topicData": []}, {}), "missing field: responses"),
    (fetch((9, 1), {0: 5}).replace('"fetchOffset":5', '"x":5'), "missing field: partition or fetchOffset"),
    (line("LEADER_AND_ISR", {"controllerId": 1}, {"errorCode": 0}), "missing field: topicStates"),
    (produce(5).replace('"index":0,"errorCode"', '"x":0,"errorCode"'), "missing field: partition"),
    (produce(-1, acks=0).replace('"index"', '"x"'), "missing field: partition"),
    (leader_and_isr(), None),
    (leader_and_isr(partitionIndex=None), "missing field: partitionIndex, leader or leaderEpoch"),
    (leader_and_isr(leader=None), "missing field: partitionIndex, leader or leaderEpoch"),
    (leader_and_isr(leaderEpoch=None), "missing field: partitionIndex, leader or leaderEpoch"),
    (leader_and_isr(partitionIndex=-4), "number out of range"),
    (leader_and_isr(leader=-13), "number out of range"),
    (produce(5, partition=-3), "number out of range"),
    (produce(-15), "number out of range"),
    (produce(-1, acks=0, partition=-3), "number out of range"),
    (produce(5, totalTimeMs=1e41), "number out of range"),
    (produce(5, sendTimeMs=-1.5), "number out of range"),
    (fetch((9, 1), {-4: 5}), "number out of range"),
    (fetch((9, 1), {0: -5}), "number out of range"),
    (produce(2**63 - 1), "number out of range"),
    (fetch((9, 1), {0: 2**63 - 1}), "number out of range"),
    (fetch((9, 1), {0: 2**63 - 1}).replace('"replicaId":2', '"replicaId":-1'), None),
    (fetch((9, 1), {0: 5}).replace('"replicaId":2', '"replicaId":-12'), "number out of range"),
    (fetch((9, 1), {0: -2}).replace('"replicaId":2', '"replicaId":-1'), None),
    (
        "[2026-11-21 10:00:00,000] DEBUG Completed request:RequestHeader(apiKey=FETCH, apiVersion=11) -- {…}",
        "cut line",
    ),
]
IGNORED = ("blank line", "not a ", "continuation", "other request", "refused", "fetch of")


def test_each_line_has_one_outcome_and_a_reason(spark: SparkSession) -> None:
    """Landed without a reason, ignored for what is none of ours, rejected for what should have been."""
    parsed = parse(frame(spark, [text for text, _ in LINES_AND_REASONS]), "UTC").orderBy("source_line").collect()
    expected = [
        (reason, "landed" if reason is None else "ignored" if reason.startswith(IGNORED) else "rejected")
        for _, reason in LINES_AND_REASONS
    ]
    assert [(row.reason, row.outcome) for row in parsed] == expected


def test_a_line_is_parsed_once_and_its_text_kept_only_if_rejected(spark: SparkSession) -> None:
    """However many columns are made of it; of most lines nobody asks for the text again."""
    parsed = parse(frame(spark, [produce(5), CUT, produce(6)]), "UTC")
    plan = str(parsed._jdf.queryExecution().optimizedPlan().toString())

    assert plan.count("from_json(") == 1
    assert [row.text for row in parsed.orderBy("source_line").collect()] == [None, CUT, None]


def test_times_count_back_from_the_line(spark: SparkSession) -> None:
    """Work begins totalTimeMs before the line and a wait in the queue later; the zone is the line's."""
    text = produce(5, at=357, totalTimeMs=10.123, requestQueueTimeMs=1.001, localTimeMs=3.456)
    (append,) = produce_rows(parse(frame(spark, [text]), "Europe/Berlin")).collect()
    assert append.event_time == datetime(2026, 11, 21, 9, 0, 0, 347878)  # noqa: DTZ001
    assert append.response_time == datetime(2026, 11, 21, 9, 0, 0, 355750)  # noqa: DTZ001
    assert append.local_time_us == 3456


def test_an_append_is_a_real_base_offset_whatever_the_error(spark: SparkSession) -> None:
    """Timed out (7) and no longer leader (6) come after the append; with acks=0 nobody is told."""
    texts = [produce(5), produce(6, error=7), produce(7, error=6), produce(-1, error=19), produce(-1, acks=0)]
    rows = produce_rows(parse(frame(spark, texts), "UTC")).orderBy("source_line").collect()
    assert [(r.base_offset, r.error_code, r.acks) for r in rows] == [
        (5, 0, -1),
        (6, 7, -1),
        (7, 6, -1),
        (-1, 19, -1),
        (-1, 0, 0),
    ]
    assert [r.response_time is None for r in rows] == [False, False, False, False, True]
    assert {(r.topic, r.topic_id, r.partition, r.leader_epoch, r.last_offset) for r in rows} == {
        ("orders", "", 0, -1, -1)
    }


def test_leader_and_isr_of_every_version(spark: SparkSession) -> None:
    """Ungrouped (v0) and by topic (v2+), zkVersion and partitionEpoch; a leader of -2 is none."""
    state = {"partitionIndex": 1, "leader": 3, "leaderEpoch": 4, "isr": [3, 1], "replicas": [3, 1, 2]}
    texts = [
        line(
            "LEADER_AND_ISR",
            {"ungroupedPartitionStates": [{"topicName": "orders", **state, "zkVersion": 8}]},
            {"errorCode": 0},
        ),
        line(
            "LEADER_AND_ISR",
            {
                "topicStates": [
                    {
                        "topicName": "orders",
                        "topicId": "AAAAAAAAAAAAAAAAAAAAAA",
                        "partitionStates": [{**state, "partitionEpoch": 9, "leader": -2}],
                    }
                ]
            },
            {"errorCode": 0},
        ),
    ]
    rows = leader_and_isr_rows(parse(frame(spark, texts), "UTC")).orderBy("source_line").collect()
    assert [(r.topic, r.topic_id, r.partition, r.leader_epoch, r.partition_epoch, r.leader_id) for r in rows] == [
        ("orders", "", 1, 4, 8, 3),
        ("orders", "", 1, 4, 9, -1),
    ]
    assert {(r.change_kind, tuple(r.isr), tuple(r.replicas)) for r in rows} == {("assigned", (1, 3), (3, 1, 2))}
