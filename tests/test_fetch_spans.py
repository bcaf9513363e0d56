"""Where a fetch session has gaps (KIP-227), however long it is."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from sources import fetch_spans
from sources.fetch_sessions import fetch_rows
from sources.request_log import parse
from tests.codegen import MOST_BYTES, compiled, longest_method
from tests.fetches import brief, fetched
from tests.request_lines import ORDERS_ID, fetch, frame, ids_of

pytestmark = pytest.mark.spark


def test_a_session_of_several_stretches_is_broken_by_its_gap_alone(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is listed is fetched up to the gap, across ends of stretches; after it nothing is, until listed again."""
    monkeypatch.setattr(fetch_spans, "STRETCH", 3)
    listed = {2: {0: 10, 1: 20}, 4: {1: 21}, 14: {0: 12}}
    texts = [fetch((5, epoch), listed.get(epoch)) for epoch in range(2, 17) if epoch != 10]
    rows = fetched(spark, ids_of(spark, ("orders", ORDERS_ID, None)), texts)

    assert brief(rows) == [
        (0, 2, 10, False),
        (1, 2, 20, False),
        (1, 3, 20, True),
        (1, 4, 21, False),
        (0, 9, 10, True),
        (1, 9, 21, True),
        (0, 14, 12, False),
        (0, 16, 12, True),
    ]
    assert [row.session_unbroken_since for row in rows] == [2] * 6 + [11] * 2


def test_the_gap_of_a_session_is_none_of_another(spark: SparkSession) -> None:
    """Neither of another session, nor of one with the same id at another broker."""
    ids = ids_of(spark, ("orders", ORDERS_ID, None))
    whole, broken = [fetch((5, epoch), {0: 10} if epoch == 1 else None) for epoch in (1, 2, 3)], fetch((6, 3))
    first = parse(frame(spark, [*whole, fetch((6, 1), {0: 30}), broken], 1), "UTC")
    second = parse(frame(spark, [whole[0], whole[2]], 2), "UTC")
    rows = fetch_rows(first.unionByName(second), ids).orderBy("broker_id", "session_id", "session_epoch").collect()
    assert [(row.broker_id, row.session_id, *brief([row])[0]) for row in rows] == [
        (1, 5, 0, 1, 10, False),
        (1, 5, 0, 3, 10, True),
        (1, 6, 0, 1, 30, False),
        (2, 5, 0, 1, 10, False),
    ]


def test_a_request_that_two_lines_tell_is_a_fetch_of_each(spark: SparkSession) -> None:
    """As when a log and a copy of some of it come together: no line is left without its rows."""
    ids = ids_of(spark, ("orders", ORDERS_ID, None))
    rows = fetched(spark, ids, [text for text in (fetch((5, 1), {0: 10}), fetch((5, 2))) for _ in range(2)])
    assert sorted((row.source_line, *brief([row])[0]) for row in rows) == [
        (1, 0, 1, 10, False),
        (2, 0, 1, 10, False),
        (3, 0, 2, 10, True),
        (4, 0, 2, 10, True),
    ]


def test_java_compiles_what_spark_makes_of_a_request(spark: SparkSession) -> None:
    """All that is asked of a partition as its rows were made was too long: it took three times the CPU."""
    lines = parse(frame(spark, [fetch((5, 1), {0: 10})]), "UTC").localCheckpoint()
    with compiled(spark):
        assert 0 < longest_method(spark, fetch_rows(lines, ids_of(spark, ("orders", ORDERS_ID, None)))) <= MOST_BYTES
