"""Files of examples/sql where something is not known, or is told of more than one epoch, topic or rule."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from replay.views.positions import consumer_positions
from schemas import tables as T
from tests.checked_rows import HERE, Given, at, event, fetched, found
from tests.frames import rows
from tests.incident_histories import cut
from tests.test_exposure import exposed
from tests.test_views import known, timeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Row, SparkSession

pytestmark = pytest.mark.spark

COOKBOOK = Path(__file__).parent.parent / "examples" / "sql"
OF_MORE_THAN_A_PARTITION = ("rules-of-truncation", "what-sharing-would-tell")
OF_A_CLUSTER = re.compile(r"^SELECT (\w+\.)?cluster_id,", re.MULTILINE)


def ask(spark: SparkSession, name: str, **given: Sequence[Given]) -> list[Row]:
    """The answers of a file of the cookbook, of these rows alone."""
    for table in (T.LEADER_TIMELINE, T.INCIDENTS, T.TRUNCATIONS):
        rows(spark, table, *given.get(table.name, ())).createOrReplaceTempView(table.name)
    return spark.sql((COOKBOOK / f"{name}.sql").read_text(encoding="utf-8")).collect()


def cut_of(topic: str, method: str, begin: int, end: int) -> Given:
    """A truncation of replica 1 in epoch 1, whose leader has come to a HW of 20 meanwhile."""
    more = {"method": method, "partition_high_watermark_before": 20, "event_time": at(begin)}
    return {**HERE, **cut(1, 1, begin, end, **more), "topic": topic}


def led_twice(topic: str) -> list[Given]:
    """A leader that came to a HW of 8, and the next one to 20, with other records from 8 on."""
    return [{**led, "topic": topic} for led in (event(0, 1, 10, 8), event(1, 1, 20, 20))]


def test_a_high_watermark_that_is_not_known_went_nowhere(spark: SparkSession) -> None:
    """Neither down to -1 nor up from it: what was known before it counts."""
    told = [event(0, 1, 5, 5), event(1, 1, 5, -1), event(2, 1, 5, 4), event(2, 2, 5, -1), event(2, 3, 5, 4)]
    went_back = ask(spark, "high-watermark-that-went-back", leader_timeline=told)

    assert [(row["leader_epoch"], row["event_seq"], row["before_it"]) for row in went_back] == [(2, 1, 5)]


def test_the_first_fetch_after_is_of_the_first_epoch(spark: SparkSession) -> None:
    """The numbers of events begin anew with each; and a topic that was made again is another one."""

    def fetches(epoch: int, seq: int, leo: int, **more: Any) -> Given:
        return event(epoch, seq, leo, 0, event_type="FETCH", replica_id=2, remote_log_end_offset={2: 1}, **more)

    left = {**found("ISR_SHRUNK", epoch=0), "replica_id": 2, "started_at": at(1), "ended_at": at(60)}
    again = {"topic_id": "again"}
    answers = ask(
        spark, "way-back-into-the-isr", incidents=[left, {**left, **again}],
        leader_timeline=[fetches(0, 9, 8), fetches(1, 2, 20), fetches(0, 9, 5, **again)],
    )  # fmt: skip

    assert sorted(row["records_behind_then"] for row in answers) == [4, 7]


def test_each_parting_stands_beside_one_rule(spark: SparkSession) -> None:
    """Of a partition where nothing was cut too; of a log of unknown length what was committed is gone at least.

    What a replica loses with a restart its present leader may have committed; what it cuts, the leaders before.
    """
    parted = [{**found("LOG_DIVERGENCE"), "topic": topic} for topic in ("of_both", "of_one", "of_none")]
    answers = ask(
        spark, "rules-of-truncation", incidents=parted,
        leader_timeline=[led for topic in ("of_both", "of_one", "of_restart") for led in led_twice(topic)],
        truncations=[
            cut_of("of_both", "high_watermark", 9, 7), cut_of("of_both", "leader_epoch", 10, 9),
            cut_of("of_one", "high_watermark", -1, 6), cut_of("of_restart", "restart", 20, 19),
        ],
    )  # fmt: skip
    told = {row["method"]: tuple(row)[1:] for row in answers}

    assert told == {
        "high_watermark": (2, 2, 1, 4, 3, 1), "leader_epoch": (1, 1, 0, 1, 0, 0), "none": (0, 0, 0, 0, 0, 1),
        "several": (0, 0, 0, 0, 0, 1), "restart": (1, 1, 0, 1, 1, 0),
    }  # fmt: skip


def test_a_cut_above_what_was_committed_is_not_below_the_high_watermark(spark: SparkSession) -> None:
    """The present leader's HW is of other records: the finding tells. Below its own HW a replica cut in any case."""
    cuts = {"of_nothing": (10, 8), "of_committed": (10, 7), "below_its_own": (10, 8)}
    below = "TRUNCATED_BELOW_HIGH_WATERMARK"
    severities = {"of_nothing": "info", "of_committed": "warning", "below_its_own": "info"}
    answers = ask(
        spark, "truncations-below-the-high-watermark",
        truncations=[
            cut_of(topic, "fetch_divergence", *of) | {"high_watermark_before": 9 if topic == "below_its_own" else 5}
            for topic, of in cuts.items()
        ],
        incidents=[
            {**found(below, severity, epoch=1), "topic": topic, "replica_id": 1, "started_at": at(10)}
            for topic, severity in severities.items()
        ],
    )  # fmt: skip

    assert {row["topic"] for row in answers} == {"of_committed", "below_its_own"}


def test_rows_of_two_clusters_can_be_told_apart() -> None:
    """Where a row is of a partition, its cluster comes first."""
    files = sorted(path for path in COOKBOOK.glob("*.sql") if path.stem not in OF_MORE_THAN_A_PARTITION)
    untold = [path.stem for path in files if not OF_A_CLUSTER.search(path.read_text(encoding="utf-8"))]

    assert untold == []


def test_what_is_not_told_is_not_the_clients_fault(spark: SparkSession) -> None:
    """A fetch that was out of range of a leader of which nothing is known."""
    asked = {"leader_epoch": 0, "broker_id": 1, "event_time": at(2), "replica_id": -1, "error_code": 1}
    refused = rows(spark, T.FETCH_EVENTS, {**HERE, **asked, "fetch_offset": 7, "isolation_level": 0})
    consumer_positions(refused, rows(spark, T.LEADER_TIMELINE)).createOrReplaceTempView("consumer_positions")
    (answer,) = ask(spark, "why-out-of-range")

    assert (answer["position_is"], answer["cause"]) == ("UNKNOWN", "the capture does not tell")


def test_the_worst_that_a_death_would_have_cost_is_listed(spark: SparkSession) -> None:
    """What only the leader had while nobody else could be elected, and what a member nobody heard of may lack."""
    led = timeline(
        spark,
        alone=[event(0, 1, 1000, 1000, **known([1], {2: 4, 3: 4}, []))],
        one_behind=[event(0, 1, 10, 4, **known([1, 2, 3], {2: 10, 3: 4}, [3]))],
        one_unheard=[event(0, 1, 10, 0, **known([1, 2, 3], {2: 10, 3: -1}, [3]))],
        all_have_it=[event(0, 1, 10, 10, **known([1, 2], {2: 10}, []))],
        outsider_has_it=[event(0, 1, 10, 10, **known([1], {2: 10}, []))],
    )
    exposed(led).createOrReplaceTempView("exposure")
    columns = ("topic", "single_copy_records", "would_lose", "could_lose")

    assert [tuple(row[column] for column in columns) for row in ask(spark, "had-the-leader-died")] == [
        ("alone", 996, None, None), ("one_behind", 0, 0, 6), ("one_unheard", 0, 0, None)
    ]  # fmt: skip


def test_records_with_one_copy_at_the_end_of_the_logs_count(spark: SparkSession) -> None:
    """Up to the last request of their leader; what another leads, which logged none, is not known."""
    led = timeline(
        spark,
        still=[event(0, 1, 10, 10, **known([1], {2: 4}, []))],
        untold=[event(1, 1, 10, 10, **known([2], {1: 3}, []))],
    )
    exposed(led, fetch_events=[fetched(2, event_time=at(3))]).createOrReplaceTempView("exposure")
    columns = ("topic", "most_records", "record_seconds")

    assert [tuple(row[column] for column in columns) for row in ask(spark, "record-seconds-with-one-copy")] == [
        ("still", 6, 12.0), ("untold", 7, None)
    ]  # fmt: skip
