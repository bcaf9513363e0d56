"""Which rules a cluster replicates by: versions as brokers print them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.protocol import protocol_of
from replay.profile import Truncation
from replay.releases import profile_for, release, release_of
from tests.engine import landed_from

VERSIONS: list[tuple[str | None, tuple[int, int, int]]] = [
    ("4.1.0", (4, 1, 0)),
    ("3.6-IV1", (3, 6, 0)),
    ("0.10.2.1", (0, 10, 2)),
    ("3.4.1.7.1.9.0-387", (3, 4, 1)),
    ("3.9.1.redhat-00003", (3, 9, 1)),
    ("5.5.1-ccs", (2, 5, 1)),
    ("6.2.0-ce", (2, 8, 0)),
    ("7.4.4-ccs", (3, 4, 4)),
    ("8.0.0-ccs", (4, 0, 0)),
    ("2.2.0-cp2", (2, 2, 0)),
    (None, (0, 0, 0)),
]
"""As brokers state them, and what they are of Apache's."""


@pytest.mark.parametrize(("stated", "numbers"), VERSIONS)
def test_a_version_is_that_of_apache_kafka(stated: str | None, numbers: tuple[int, int, int]) -> None:
    """Whoever built it: Confluent's own numbers are ahead of those of the Kafka within."""
    assert release(stated) == numbers


@pytest.mark.spark
def test_a_column_of_versions_is_read_alike(spark: SparkSession) -> None:
    """By who has settings in a table, in SQL."""
    told = spark.createDataFrame([(stated,) for stated, _ in VERSIONS if stated], "stated string")
    found = told.select("stated", release_of(F.col("stated")).alias("numbers")).collect()

    assert {row["stated"]: tuple(row["numbers"]) for row in found} == {it: its for it, its in VERSIONS if it}


def test_a_confluent_broker_replicates_as_the_kafka_within() -> None:
    """Confluent 7.4 is Kafka 3.4: without the min-ISR gate of 3.7; 5.5 is 2.5, that does not cut by fetches yet."""
    of_7_4 = profile_for("7.4.4-ccs")

    assert (of_7_4.min_isr_gate, of_7_4.eligibility, of_7_4.fenced_may_not_join) == (False, False, True)
    assert profile_for("5.5.1-ccs").truncation is Truncation.LEADER_EPOCH


@pytest.mark.parametrize(("level", "states"), [("9", False), ("10", True), ("25", True), ("3.4-IV0", False)])
def test_the_level_of_a_feature_is_no_release(level: str, states: bool) -> None:
    """Brokers of 3.7 at metadata.version 3.4 fetch without their epochs (KIP-903): its record says 8."""
    assert profile_for("3.7.0", level).states_broker_epochs is states


@pytest.mark.spark
def test_what_a_capture_says_of_itself_counts_until_a_line_tells_another(spark: SparkSession) -> None:
    """about.json has no times: where no log tells the version and the lag time, they are those."""
    own = {"kafka.version": "3.5.1", "replica.lag.time.max.ms": "3000"}
    cluster = {"cluster_id": "c", "broker_id": -1, "topic": ""}
    untimed = [{**cluster, "name": name, "value": value} for name, value in own.items()]
    later = {**cluster, "name": "kafka.version", "value": "3.7.0", "event_time": datetime(2026, 1, 1, tzinfo=UTC)}
    alone, overruled = (protocol_of(landed_from(spark, {"settings": told})) for told in (untimed, [*untimed, later]))

    assert (alone.min_isr_gate, alone.lag_time_ms) == (False, 3000)
    assert (overruled.min_isr_gate, overruled.lag_time_ms) == (True, 3000)
