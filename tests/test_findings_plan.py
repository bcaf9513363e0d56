"""The physical plan of what `incidents` asks of every event: to put them in order would cost what a replay does."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from replay.findings.contacts import contacts
from replay.findings.late_members import late_members
from replay.findings.spans import spans
from replay.findings.suspects import IS_BOUNDED, only, suspects
from replay.states.settled import settled_leaderships
from schemas.tables import LEADER_TIMELINE, REPLICA_TIMELINE, Table
from tests.checked_rows import event, state
from tests.frames import rows
from tests.nothing_told import untold

pytestmark = pytest.mark.spark

_FEW = r"Filter .*BECOME_LEADER|BroadcastExchange"
"""What a leadership has a row of, and what is sent to each task, is little."""


def table(spark: SparkSession, of: Table, *given: dict[str, object]) -> DataFrame:
    """A table of which the planner does not know that it is small."""
    return rows(spark, of, *given).localCheckpoint()


def ways_up(frame: DataFrame) -> Iterator[list[str]]:
    """Of each table that is read, the nodes of the plan above it, the nearest first."""
    above: list[tuple[int, str]] = []
    for line in str(frame._jdf.queryExecution().executedPlan().toString()).splitlines():
        if found := re.match(r"[\s:+\-*()\d]*(?=[A-Z])", line):
            above = [node for node in above if node[0] < found.end()]
            if "Scan ExistingRDD" in line:
                yield [text for _, text in reversed(above)]
            above.append((found.end(), line[found.end() :]))


def first_sort(way: list[str]) -> str | None:
    """The sort of all rows of a table, if there is one: before they are grouped by hash, or are few."""
    for node in way:
        if re.match(rf"HashAggregate|ObjectHashAggregate|{_FEW}", node):
            return None
        if node.startswith(("Sort ", "SortAggregate", "Window")):
            return node
    return None


def test_what_is_asked_of_every_event_needs_no_order(spark: SparkSession) -> None:
    """Who is suspected, how far leaderships and replicas came, and what stands when a replay goes on."""
    leaders = table(spark, LEADER_TIMELINE, event(0, 1, 0, 0), event(0, 2, 5, 5))
    replicas = table(spark, REPLICA_TIMELINE, state(1, 0, 1, 5, 5))
    suspected = suspects(leaders, untold(spark)[1], 1_000).localCheckpoint()
    bounded = only(leaders, suspected, IS_BOUNDED).localCheckpoint()
    asked = {
        "suspects": suspects(leaders, untold(spark)[1], 1_000),
        "late members": late_members(leaders, F.lit(16_000.0)),
        "spans": spans(leaders),
        "contacts": contacts(replicas, leaders, bounded.limit(0)),
        "settled": settled_leaderships(leaders, F.lit(0)),
    }
    for name, frame in asked.items():
        ways = list(ways_up(frame))
        assert ways
        assert {name: [sort for way in ways if (sort := first_sort(way))]} == {name: []}


def test_a_sort_would_be_seen(spark: SparkSession) -> None:
    """The least of texts, as Spark works it out: all rows are sorted."""
    leaders = table(spark, LEADER_TIMELINE, event(0, 1, 0, 0))
    (way,) = ways_up(leaders.groupBy("topic").agg(F.min("capture_id")))
    assert (first_sort(way) or "").startswith("Sort")
