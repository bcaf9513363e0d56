"""What an incremental fetch session leaves unsaid (KIP-227)."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from schemas import columns as C
from schemas.tables import FETCH_EVENTS
from sources.fetch_sessions import fetch_rows
from sources.request_log import parse
from tests.captured import Tables
from tests.request_lines import ORDERS_ID, fetch, frame, ids_of, line

pytestmark = pytest.mark.spark


@pytest.fixture
def ids(spark: SparkSession) -> DataFrame:
    """The one topic id of these tests."""
    return ids_of(spark, ("orders", ORDERS_ID, None))


def fetched(spark: SparkSession, ids: DataFrame, texts: list[str], landed: DataFrame | None = None) -> list[Row]:
    """The fetches in the order of session, epoch and partition."""
    rows = fetch_rows(parse(frame(spark, texts), "UTC"), ids, landed)
    return rows.orderBy("session_id", "session_epoch", "partition").collect()


def brief(rows: list[Row]) -> list[tuple[int, int, int, bool]]:
    """Partition, session epoch, offset, and whether the request left it out."""
    return [(row.partition, row.session_epoch, row.fetch_offset, row.is_implied) for row in rows]


def test_only_the_last_of_a_run_of_implied_fetches_is_a_row(spark: SparkSession, ids: DataFrame) -> None:
    """Partition 1 is listed once; its last implied fetches before the session lists it again, and at the end, stay."""
    rows = fetched(
        spark,
        ids,
        [
            fetch((0, 0), {0: 10, 1: 20}, response_session=5),
            *[fetch((5, epoch), {0: 10 + epoch}) for epoch in (1, 2, 3)],
            fetch((5, 4), {1: 21}),
            *[fetch((5, epoch)) for epoch in (5, 6)],
        ],
    )
    assert brief(rows) == [
        (0, 0, 10, False),
        (1, 0, 20, False),
        (0, 1, 11, False),
        (0, 2, 12, False),
        (0, 3, 13, False),
        (1, 3, 20, True),
        (1, 4, 21, False),
        (0, 6, 13, True),
        (1, 6, 21, True),
    ]
    assert {(row.topic, row.topic_id, row.leader_epoch, row.response_high_watermark) for row in rows} == {
        ("orders", ORDERS_ID, 3, -1)
    }


def test_an_answer_to_what_was_not_listed_carries_the_listed_params(spark: SparkSession, ids: DataFrame) -> None:
    """The response lists a partition of the session whose HW moved; an error is no word on the leader's epoch."""
    rows = fetched(
        spark,
        ids,
        [
            fetch((0, 0), {0: 10}, {0: {"highWatermark": 9}}, response_session=5),
            fetch((5, 1), answered={0: {"highWatermark": 10, "recordsSizeInBytes": 0}}),
            fetch((5, 2), answered={0: {"highWatermark": -1, "errorCode": 74}}),
        ],
    )
    assert brief(rows) == [(0, 0, 10, False), (0, 1, 10, True), (0, 2, 10, True)]
    assert [row.response_high_watermark for row in rows] == [9, 10, -1]
    assert [(row.error_code, row.leader_epoch) for row in rows] == [(0, 3), (0, 3), (74, -1)]


def test_a_forgotten_partition_is_fetched_until_then(spark: SparkSession, ids: DataFrame) -> None:
    """Forgotten at epoch 3, the run ends at 2; it may come back."""
    rows = fetched(
        spark,
        ids,
        [
            fetch((0, 0), {0: 10}, response_session=5),
            fetch((5, 1)),
            fetch((5, 2)),
            fetch((5, 3), forgotten=[0]),
            fetch((5, 4)),
            fetch((5, 5), {0: 12}),
        ],
    )
    assert brief(rows) == [(0, 0, 10, False), (0, 2, 10, True), (0, 5, 12, False)]
    assert {row.session_unbroken_since for row in rows} == {0}


def test_nothing_is_carried_over_a_gap_or_from_before_the_capture(spark: SparkSession, ids: DataFrame) -> None:
    """Epoch 3 is in no line: what it listed is unknown, and so is what the session fetches until listed again."""
    rows = fetched(
        spark,
        ids,
        [
            fetch((5, 1), answered={0: {"highWatermark": 4}}),
            fetch((5, 2), {0: 10}),
            fetch((5, 4), answered={0: {"highWatermark": 5}}),
            fetch((5, 5)),
            fetch((5, 6), {0: 12}),
        ],
    )
    assert brief(rows) == [(0, 2, 10, False), (0, 6, 12, False)]
    assert [row.session_high_watermark for row in rows] == [4, 5]
    assert [row.session_unbroken_since for row in rows] == [1, 4]


def test_a_full_fetch_begins_the_session_of_its_response(spark: SparkSession, ids: DataFrame) -> None:
    """Whatever session it came from; with epoch -1, or no session granted, a fetch stands alone."""
    rows = fetched(
        spark,
        ids,
        [
            fetch((0, 0), {0: 10}, response_session=5),
            fetch((5, 0), {0: 11}, response_session=6),
            fetch((6, 1)),
            fetch((6, -1), {0: 12}, response_session=0),
            fetch((0, 0), {0: 13}, response_session=0),
        ],
    )
    assert [row.session_unbroken_since for row in rows] == [-1, -1, 0, 0, 0]
    assert [(row.session_id, *brief([row])[0]) for row in rows] == [
        (0, 0, -1, 12, False),
        (0, 0, 0, 13, False),
        (5, 0, 0, 10, False),
        (6, 0, 0, 11, False),
        (6, 0, 1, 11, True),
    ]


def test_a_session_goes_on_in_the_next_delivery(spark: SparkSession, ids: DataFrame) -> None:
    """Two deliveries give what one gives, and a row for the last fetch of the first."""
    texts = [
        fetch((0, 0), {0: 10, 1: 20, 2: 30}, response_session=5),
        fetch((5, 1), {1: 21}, forgotten=[2]),
        fetch((5, 2)),
        fetch((5, 3), {1: 22}),
        fetch((5, 4)),
    ]
    whole = brief(fetched(spark, ids, texts))
    first = fetch_rows(parse(frame(spark, texts[:3]), "UTC"), ids)
    second = fetched(spark, ids, texts[3:], landed=first)
    assert sorted(brief(first.collect()) + brief(second)) == sorted([*whole, (0, 2, 10, True)])
    assert {row.session_unbroken_since for row in second} == {0}


def test_a_fetch_before_sessions_and_field_names_of_2_8(spark: SparkSession, ids: DataFrame) -> None:
    """FETCH v3: replicaId, topic, partitionResponses, recordSetSizeInBytes; nothing else is known."""
    request = {"replicaId": 3, "topics": [{"topic": "orders", "partitions": [{"partition": 0, "fetchOffset": 7}]}]}
    answer = {"partition": 0, "errorCode": 0, "highWatermark": 6, "recordSetSizeInBytes": 36}
    response = {"throttleTimeMs": 0, "responses": [{"topic": "orders", "partitionResponses": [answer]}]}
    (row,) = fetched(spark, ids, [line("FETCH", request, response, version=3)])
    assert (row.replica_id, row.fetch_offset, row.response_high_watermark, row.records_size) == (3, 7, 6, 36)
    assert (row.session_id, row.session_epoch, row.current_leader_epoch, row.leader_epoch) == (0, -1, -1, -1)
    assert (row.topic_id, row.is_parked, row.diverging_epoch) == (ORDERS_ID, True, -1)


def test_a_consumer_and_a_diverging_answer(spark: SparkSession, ids: DataFrame) -> None:
    """A consumer names no replica; a divergence is no error and has its own columns."""
    diverging = {0: {"divergingEpoch": {"epoch": 2, "endOffset": 8}}}
    text = fetch((0, -1), {0: 10}, diverging).replace('"replicaState":{"replicaId":2,"replicaEpoch":7},', "")
    (row,) = fetched(spark, ids, [text])
    assert (row.replica_id, row.replica_epoch) == (-1, -1)
    assert (row.error_code, row.diverging_epoch, row.diverging_end_offset) == (0, 2, 8)


def test_a_fetch_lacks_nothing_but_its_delivery(spark: SparkSession, ids: DataFrame) -> None:
    """Every column of the table, but for those that name cluster and capture."""
    (row,) = fetched(spark, ids, [fetch((0, -1), {0: 10})])
    assert set(row.asDict()) == {*map(str, FETCH_EVENTS.columns)} - {C.CLUSTER_ID, C.CAPTURE_ID}


@pytest.mark.captured
@pytest.mark.parametrize("name", ["failover", "hw_truncation", "epoch_truncation"])
def test_a_real_capture_equals_a_replay_one_request_at_a_time(
    landed_capture: Callable[[str], Tables], captures: Path, name: str
) -> None:
    """Every partition's every fetch, by a dictionary a session, has its row, or lies in a run whose last one has."""
    rows = landed_capture(name)[FETCH_EVENTS.name].collect()
    id_of = {row.topic: row.topic_id for row in rows}
    expected = set()
    for broker_id in (1, 2, 3):
        with gzip.open(captures / name / "capture" / f"broker-{broker_id}" / "kafka-request.log.gz", "rt") as log:
            told = _one_at_a_time(log.read().splitlines())
        expected |= {(broker_id, line, id_of.get(topic, topic), *fetch) for line, topic, *fetch in told}
    found = [
        (row.broker_id, row.source_line, row.topic_id, row.partition, row.fetch_offset, row.is_implied) for row in rows
    ]
    assert len(found) == len(set(found))
    assert set(found) == expected


def _one_at_a_time(texts: list[str]) -> Iterator[tuple[int, str, int, int, bool]]:
    """Line, topic, partition, fetch offset and whether it is implied, of every fetch that must have a row."""
    runs: dict[tuple[Any, ...], tuple[int, str, int, int, bool]] = {}
    sessions: dict[int, dict[tuple[str, int], int]] = {}
    for number, text in enumerate(texts, 1):
        found = re.search(r"Completed request:(\{.*\})", text)
        assert found
        entry = json.loads(found[1])
        request, response = entry["request"], entry["response"]
        if entry["requestHeader"]["requestApiKeyName"] != "FETCH" or response.get("errorCode"):
            continue
        epoch = request.get("sessionEpoch", -1)
        session_id = request["sessionId"] if epoch > 0 else response.get("sessionId", 0)
        session = sessions.setdefault(session_id, {}) if session_id else {}
        listed = {(_topic(t), p["partition"]): p["fetchOffset"] for t in request["topics"] for p in t["partitions"]}
        answered = {(_topic(t), p) for t in response["responses"] for p in _partitions(t)}
        session.update(listed)
        for topic in request.get("forgottenTopicsData", []):
            for partition in topic["partitions"]:
                session.pop((_topic(topic), partition), None)
                if last_implied := runs.pop((session_id, _topic(topic), partition), None):
                    yield last_implied
        for key, offset in session.items():
            fetch = (number, *key, offset, key not in listed)
            if key in listed or key in answered:
                if last_implied := runs.pop((session_id, *key), None):
                    yield last_implied
                yield fetch
            else:
                runs[session_id, *key] = fetch
    yield from runs.values()


def _topic(topic: dict[str, Any]) -> str:
    return str(topic.get("topic") or topic["topicId"])


def _partitions(topic: dict[str, Any]) -> list[int]:
    answers = topic.get("partitions") or topic["partitionResponses"]
    return [answer.get("partitionIndex", answer.get("partition")) for answer in answers]
