"""Topic ids to names, and names to the id they meant."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from sources.resolve_topics import of_known_topic, rejected_for_topic, with_topic
from sources.topic_ids import topic_ids

pytestmark = pytest.mark.spark

EVENTS = "topic string, topic_id string, event_time timestamp, broker_id int, source_file string, source_line bigint"


def minute(n: int) -> str:
    """A time of day."""
    return f"2026-11-21 10:{n:02}:00"


@pytest.fixture
def ids(spark: SparkSession) -> DataFrame:
    """`orders` was deleted and made again at minute 20; every broker tells of it at its own time."""
    brokers = [
        ("orders", "first", minute(10), 1),
        ("orders", "first", minute(11), 3),
        ("orders", "second", minute(20), 1),
        ("orders", "second", minute(25), 2),
        ("orders", "second", minute(30), 3),
        ("clicks", "only", minute(12), 2),
        ("legacy", "", minute(12), 2),
    ]
    controller = [("orders", "second", minute(20)), ("orders", "third", minute(40))]
    told = spark.createDataFrame(brokers, "topic string, topic_id string, t string, broker_id int")
    recorded = spark.createDataFrame(controller, "topic string, topic_id string, t string")
    return topic_ids(*[rows.withColumn("event_time", F.col("t").cast("timestamp")) for rows in (told, recorded)])


def events(spark: SparkSession, *rows: tuple[str, str, int], broker: int = 1) -> DataFrame:
    """An event a line, at a minute, in the log of a broker."""
    told = [(topic, topic_id, minute(at), broker, "f", n) for n, (topic, topic_id, at) in enumerate(rows, 1)]
    schema = EVENTS.replace("event_time timestamp", "event_time string")
    return spark.createDataFrame(told, schema).withColumn("event_time", F.col("event_time").cast("timestamp"))


def test_each_is_found_from_the_other(spark: SparkSession, ids: DataFrame) -> None:
    """A name means the id of its time, before the first sight the first; a topic without ids keeps none."""
    rows = events(
        spark,
        ("", "second", 5),
        ("orders", "", 5),
        ("orders", "", 19),
        ("orders", "", 20),
        ("clicks", "", 50),
        ("legacy", "", 12),
        ("", "nowhere", 12),
    )
    found = with_topic(rows, ids, F.col("event_time")).orderBy("source_line").collect()
    assert [(row.topic, row.topic_id) for row in found] == [
        ("orders", "second"),
        ("orders", "first"),
        ("orders", "first"),
        ("orders", "second"),
        ("clicks", "only"),
        ("legacy", ""),
        ("", "nowhere"),
    ]
    assert found[0].asDict().keys() == set(rows.columns)


@pytest.mark.parametrize(
    ("broker", "second_since"),
    [(1, 20), (2, 20), (3, 30), (4, 20)],
    ids=["told of both", "told of the second late, and never of the first", "was frozen", "told nothing"],
)
def test_a_name_means_what_its_broker_last_told_of(
    spark: SparkSession, ids: DataFrame, broker: int, second_since: int
) -> None:
    """A frozen broker has the old log until it tells of the new one; what it tells nothing of is as of all others."""
    at = [second_since - 1, second_since, 39, 40]
    rows = events(spark, *[("orders", "", minute_of) for minute_of in at], broker=broker)
    found = with_topic(rows, ids, F.col("event_time")).orderBy("source_line").collect()
    assert [row.topic_id for row in found] == ["first", "second", "second", "third"]


def test_without_a_time_a_name_means_its_last_id(spark: SparkSession, ids: DataFrame) -> None:
    """A dump is of the end of the capture."""
    (found,) = with_topic(events(spark, ("orders", "", 5)), ids).collect()
    assert found.topic_id == "third"


def test_an_event_of_an_unknown_id_is_a_rejected_line(spark: SparkSession, ids: DataFrame) -> None:
    """It keeps its id, and the line is named once however many events it gave."""
    rows = events(spark, ("", "nowhere", 5), ("orders", "", 5))
    resolved = with_topic(rows.unionAll(rows.where("source_line = 1")), ids, F.col("event_time"))
    assert [row.topic for row in of_known_topic(resolved).collect()] == ["orders"]
    (rejected,) = rejected_for_topic(resolved).collect()
    assert (rejected.source_line, rejected.reason, rejected.text) == (
        1,
        "unknown topic id",
        "unknown topic id: nowhere",
    )
