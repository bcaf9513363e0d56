"""What an incremental fetch session leaves unsaid (KIP-227)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from schemas import columns as C
from schemas.tables import FETCH_EVENTS
from sources.fetch_sessions import fetch_rows
from sources.request_log import parse
from tests.fetches import brief, fetched, in_order
from tests.request_lines import ORDERS_ID, fetch, frame, ids_of, line

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def ids(spark: SparkSession) -> DataFrame:
    """The one topic id of these tests."""
    return ids_of(spark, ("orders", ORDERS_ID, None))


def before_sessions() -> str:
    """FETCH v3: replicaId, topic, partitionResponses, recordSetSizeInBytes."""
    request = {"replicaId": 3, "topics": [{"topic": "orders", "partitions": [{"partition": 0, "fetchOffset": 7}]}]}
    answer = {"partition": 0, "errorCode": 0, "highWatermark": 6, "recordSetSizeInBytes": 36}
    response = {"throttleTimeMs": 0, "responses": [{"topic": "orders", "partitionResponses": [answer]}]}
    return line("FETCH", request, response, version=3)


def of_a_consumer() -> str:
    """It names no replica."""
    diverging = {0: {"divergingEpoch": {"epoch": 2, "endOffset": 8}}}
    return fetch((0, -1), {0: 10}, diverging).replace('"replicaState":{"replicaId":2,"replicaEpoch":7},', "")


LOGS = {
    "implied": [
        fetch((0, 0), {0: 10, 1: 20}, response_session=5),
        *[fetch((5, epoch), {0: 10 + epoch}) for epoch in (1, 2, 3)],
        fetch((5, 4), {1: 21}),
        *[fetch((5, epoch)) for epoch in (5, 6)],
    ],
    "answered": [
        fetch((0, 0), {0: 10}, {0: {"highWatermark": 9}}, response_session=5),
        fetch((5, 1), answered={0: {"highWatermark": 10, "recordsSizeInBytes": 0}}),
        fetch((5, 2), answered={0: {"highWatermark": -1, "errorCode": 74}}),
    ],
    "forgotten": [
        fetch((0, 0), {0: 10}, response_session=5),
        fetch((5, 1)),
        fetch((5, 2)),
        fetch((5, 3), forgotten=[0]),
        fetch((5, 4)),
        fetch((5, 5), {0: 12}),
    ],
    "gap": [
        fetch((5, 1), answered={0: {"highWatermark": 4}}),
        fetch((5, 2), {0: 10}),
        fetch((5, 4), answered={0: {"highWatermark": 5}}),
        fetch((5, 5)),
        fetch((5, 6), {0: 12}),
    ],
    "full": [
        fetch((0, 0), {0: 10}, response_session=5),
        fetch((5, 0), {0: 11}, response_session=6),
        fetch((6, 1)),
        fetch((6, -1), {0: 12}, response_session=0),
        fetch((0, 0), {0: 13}, response_session=0),
    ],
    "before_sessions": [before_sessions()],
    "consumer": [of_a_consumer()],
    "alone": [fetch((0, -1), {0: 10})],
}
"""Request logs, each of a broker of its own: one plan for all."""
Fetched = Mapping[str, list[Row]]


@pytest.fixture(scope="module")
def logged(spark: SparkSession, ids: DataFrame) -> Fetched:
    """The fetches that each of them tells of."""
    lines = reduce(DataFrame.unionByName, [frame(spark, texts, n) for n, texts in enumerate(LOGS.values())])
    found: dict[str, list[Row]] = {name: [] for name in LOGS}
    for row in in_order(fetch_rows(parse(lines, "UTC"), ids)):
        found[[*LOGS][row.broker_id]].append(row)
    return found


def test_only_the_last_of_a_run_of_implied_fetches_is_a_row(logged: Fetched) -> None:
    """Partition 1 is listed once; its last implied fetches before the session lists it again, and at the end, stay."""
    rows = logged["implied"]
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


def test_an_answer_to_what_was_not_listed_carries_the_listed_params(logged: Fetched) -> None:
    """The response lists a partition of the session whose HW moved; an error is no word on the leader's epoch."""
    rows = logged["answered"]
    assert brief(rows) == [(0, 0, 10, False), (0, 1, 10, True), (0, 2, 10, True)]
    assert [row.response_high_watermark for row in rows] == [9, 10, -1]
    assert [(row.error_code, row.leader_epoch) for row in rows] == [(0, 3), (0, 3), (74, -1)]


def test_a_forgotten_partition_is_fetched_until_then(logged: Fetched) -> None:
    """Forgotten at epoch 3, the run ends at 2; it may come back."""
    rows = logged["forgotten"]
    assert brief(rows) == [(0, 0, 10, False), (0, 2, 10, True), (0, 5, 12, False)]
    assert {row.session_unbroken_since for row in rows} == {0}


def test_nothing_is_carried_over_a_gap_or_from_before_the_capture(logged: Fetched) -> None:
    """Epoch 3 is in no line: what it listed is unknown, and so is what the session fetches until listed again."""
    rows = logged["gap"]
    assert brief(rows) == [(0, 2, 10, False), (0, 6, 12, False)]
    assert [row.session_high_watermark for row in rows] == [4, 5]
    assert [row.session_unbroken_since for row in rows] == [1, 4]


def test_a_full_fetch_begins_the_session_of_its_response(logged: Fetched) -> None:
    """Whatever session it came from; with epoch -1, or no session granted, a fetch stands alone."""
    rows = logged["full"]
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
    first = fetch_rows(parse(frame(spark, texts[:3]), "UTC"), ids).localCheckpoint()
    second = fetched(spark, ids, texts[3:], landed=first)
    assert sorted(brief(first.collect()) + brief(second)) == sorted([*whole, (0, 2, 10, True)])
    assert {row.session_unbroken_since for row in second} == {0}


def test_a_fetch_before_sessions_and_field_names_of_2_8(logged: Fetched) -> None:
    """FETCH v3: replicaId, topic, partitionResponses, recordSetSizeInBytes; nothing else is known."""
    (row,) = logged["before_sessions"]
    assert (row.replica_id, row.fetch_offset, row.response_high_watermark, row.records_size) == (3, 7, 6, 36)
    assert (row.session_id, row.session_epoch, row.current_leader_epoch, row.leader_epoch) == (0, -1, -1, -1)
    assert (row.topic_id, row.is_parked, row.diverging_epoch) == (ORDERS_ID, True, -1)


def test_a_consumer_and_a_diverging_answer(logged: Fetched) -> None:
    """A consumer names no replica; a divergence is no error and has its own columns."""
    (row,) = logged["consumer"]
    assert (row.replica_id, row.replica_epoch) == (-1, -1)
    assert (row.error_code, row.diverging_epoch, row.diverging_end_offset) == (0, 2, 8)


def test_a_fetch_lacks_nothing_but_its_delivery(logged: Fetched) -> None:
    """Every column of the table, but for those that name cluster and capture."""
    (row,) = logged["alone"]
    assert set(row.asDict()) == {*map(str, FETCH_EVENTS.columns)} - {C.CLUSTER_ID, C.CAPTURE_ID}
