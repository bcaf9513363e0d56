"""Which min.insync.replicas was in force at a leader, by what lines tell of it and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from replay.settings import min_isr, with_min_isr_changes
from schemas import columns as C
from schemas.tables import BROKER_STATEMENTS, SETTINGS
from tests.frames import rows

pytestmark = pytest.mark.spark
BEGIN = datetime(2026, 11, 21, 10, 36, tzinfo=UTC)
Told = tuple[int | None, int, str, str | None]
"""second, broker, topic (none: of the broker), value."""
OF_BROKERS: Sequence[Told] = [(0, 1, "", "2"), (0, 2, "", "2")]


def at(second: int | None) -> datetime | None:
    """A time of the story."""
    return None if second is None else BEGIN + timedelta(seconds=second)


CASES = {
    "nothing told": ([], [], {5: -1}),
    "the broker's": (OF_BROKERS, [], {5: 2}),
    "the topic's, from the first line on": ([*OF_BROKERS, (3, 1, "t", "1")], [], {2: -1, 5: 1}),
    "set later, and nobody started": ([*OF_BROKERS, (9, 1, "t", "1"), (9, 2, "t", "1")], [], {5: -1, 9: 1}),
    "the broker's, set later": ([(9, 1, "", "2"), (9, 2, "", "2")], [], {5: -1, 9: 2}),
    "told by a start alone: it was so before": ([*OF_BROKERS, (9, 2, "t", "1")], [(8, 2)], {5: 1, 9: 1}),
    "told just before a start": ([(8, 2, "", "2")], [(9, 2)], {5: 2, 9: 2}),
    "told before there was a leader": ([(0, -1, "t", "1")], [], {5: 1}),
    "set later, as another broker alone tells": ([*OF_BROKERS, (9, 2, "t", "1")], [], {5: -1, 9: 1}),
    "set later and again, as another alone tells": (
        [*OF_BROKERS, (5, 2, "t", "1"), (9, 2, "t", "3")], [], {2: -1, 5: 1, 9: 3},
    ),
    "set later, and a moment later here": ([*OF_BROKERS, (8, 2, "t", "1"), (9, 1, "t", "1")], [], {5: -1, 9: 1}),
    "set twice, each a moment later here": (
        [*OF_BROKERS, (3, 2, "t", "1"), (4, 1, "t", "1"), (8, 2, "t", "3"), (9, 1, "t", "3")], [],
        {2: -1, 3: -1, 4: 1, 8: 1, 9: 3},
    ),
    "set at no certain time": ([(None, -1, "t", "1")], [], {5: 1}),
    "told by the metadata log, and nobody started": ([(9, -1, "t", "1")], [], {5: -1, 9: 1}),
    "told by the metadata log, and one had started": ([*OF_BROKERS, (9, -1, "t", "1")], [(0, 2)], {5: 2, 9: 1}),
    "removed": ([*OF_BROKERS, (0, 1, "t", "3"), (9, 1, "t", None)], [(0, 1)], {5: 3, 9: 2}),
    "started without a word of it: set later": (
        [*OF_BROKERS, (9, 1, "t", "1"), (9, 2, "t", "1")], [(0, 1), (0, 2)], {5: 2, 9: 1, 12: 1},
    ),
    "another started without a word of it": ([*OF_BROKERS, (9, 1, "t", "1"), (9, 2, "t", "1")], [(0, 2)], {5: 2, 9: 1}),
    "started after it": ([*OF_BROKERS, (9, 1, "t", "1")], [(8, 1)], {5: 1}),
    "set and set again": ([*OF_BROKERS, (3, 1, "t", "3"), (9, 1, "t", "1")], [(0, 1)], {1: 2, 5: 3, 9: 1}),
}  # fmt: skip


@pytest.fixture(scope="module")
def in_force(spark: SparkSession) -> dict[tuple[str, int], int]:
    """Of leader 1 of each case's topic, the min ISR at each time."""
    settings, started, asked = [], [], []
    for name, (told, starts, expected) in CASES.items():
        settings += [
            {"cluster_id": name, "broker_id": broker, "topic": topic, "name": "min.insync.replicas", "value": value,
             "event_time": at(second)}
            for second, broker, topic, value in told
        ]  # fmt: skip
        started += [
            {"cluster_id": name, "broker_id": broker, "kind": "process_starting", "event_time": at(second)}
            for second, broker in starts
        ]
        asked += [(name, "t", second, at(second)) for second in expected]
    context = spark.createDataFrame(asked, f"{C.CLUSTER_ID} string, {C.TOPIC} string, second int, asked timestamp")
    begun = F.array(F.struct(F.unix_micros(F.lit(at(1))).alias("start_us")))
    context = context.withColumn("incarnations", begun)
    known = with_min_isr_changes(context, rows(spark, SETTINGS, *settings), rows(spark, BROKER_STATEMENTS, *started))
    found = known.select(C.CLUSTER_ID, "second", min_isr(F.unix_micros("asked"), F.lit(1))).collect()
    return {(name, second): value for name, second, value in found}


@pytest.mark.parametrize("name", list(CASES))
def test_the_min_isr_in_force(in_force: dict[tuple[str, int], int], name: str) -> None:
    """The topic's own, the broker's, or unknown."""
    expected = CASES[name][2]

    assert {second: in_force[name, second] for second in expected} == expected
