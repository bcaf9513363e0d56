"""Topics without ids, deleted and created anew: which log is of which."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from sources.created_anew import created_anew

pytestmark = pytest.mark.spark

CHANGES = "topic string, topic_id string, partition int, broker_id int, event_time string, leader_epoch int"
STATED = f"kind string, {CHANGES}, offset bigint"
IDS = "topic string, topic_id string, since timestamp, until timestamp"

Stated = tuple[str, str, str, int, int, str, int | None, int | None]


def at(minute: str) -> str:
    """A time of day."""
    return f"2026-11-26 10:{minute}"


def led(broker: int, minute: str, epoch: int, leo: int, topic: str = "clicks", topic_id: str = "") -> Stated:
    """Leader clicks-0 starts at leader epoch E from offset LEO."""
    return "became_leader_log_end_offset", topic, topic_id, 0, broker, at(minute), epoch, leo


def followed(broker: int, minute: str, epoch: int, leo: int) -> Stated:
    """Follower clicks-0 starts at leader epoch E from offset LEO."""
    return "became_follower_log_end_offset", "clicks", "", 0, broker, at(minute), epoch, leo


def deleted(broker: int, minute: str, topic: str = "clicks") -> Stated:
    """Log for partition clicks-0 is renamed to ….-delete and is scheduled for deletion."""
    return "log_deleted", topic, "", 0, broker, at(minute), None, None


def found(
    spark: SparkSession, *stated: Stated, told: tuple[tuple[int, str, int], ...] = (), ids: tuple[str, ...] = ()
) -> list[tuple[str, str, str | None]]:
    """Topics created anew: id, since, until. `told`: broker, minute and epoch of a controller's request."""
    changes = spark.createDataFrame([("clicks", "", 0, broker, at(t), epoch) for broker, t, epoch in told], CHANGES)
    of_ids = spark.createDataFrame([(topic, "an-id", None, None) for topic in ids], IDS)
    frames = (frame.withColumn("event_time", F.col("event_time").cast("timestamp"))
              for frame in (changes, spark.createDataFrame(list(stated), STATED)))  # fmt: skip
    rows = created_anew(of_ids, *frames).select(
        "topic_id", F.col("since").cast("string"), F.col("until").cast("string")
    )
    return sorted((*row,) for row in rows.collect())


def test_of_nothing_nothing_is_told(spark: SparkSession) -> None:
    """The empty frame."""
    assert found(spark) == []


def test_who_begins_in_no_later_epoch_after_its_log_was_deleted_has_another_topic(spark: SparkSession) -> None:
    """Twice, each time on both of its brokers: the moment is that of the last deletion."""
    first = led(1, "00:00", 0, 0), followed(2, "00:00.1", 0, 0)
    second = deleted(1, "01:00"), deleted(2, "01:00.05"), led(1, "01:01", 0, 0), followed(2, "01:01.1", 0, 0)
    third = deleted(1, "02:00"), deleted(2, "02:00.05"), led(1, "02:01", 0, 0), followed(2, "02:01.1", 0, 0)

    assert found(spark, *first, *second, *third) == [
        ("clicks#2", "2026-11-26 10:01:00.051", "2026-11-26 10:02:00.051"),
        ("clicks#3", "2026-11-26 10:02:00.051", None),
    ]


def test_a_replica_that_is_moved_away_and_back_is_of_the_same_topic(spark: SparkSession) -> None:
    """Its leader epoch has gone up meanwhile, also where the topic before had come further."""
    moved = followed(2, "00:00", 3, 0), deleted(2, "01:00"), followed(2, "02:00", 5, 0)
    assert found(spark, *moved) == []

    before = followed(2, "00:00", 50, 9), deleted(2, "00:10"), followed(2, "00:20", 0, 0), followed(2, "00:30", 4, 7)
    moved = deleted(2, "01:00"), followed(2, "02:00", 6, 0)
    assert found(spark, *before, *moved) == [("clicks#2", "2026-11-26 10:00:10.001", None)]


def test_a_log_that_is_lost_or_there_still_is_of_the_same_topic(spark: SparkSession) -> None:
    """A wiped disk tells of no deletion; of a copy on another disk that was given up the log is none the shorter."""
    assert found(spark, led(1, "00:00", 0, 0), led(1, "01:00", 0, 0)) == []
    assert found(spark, led(1, "00:00", 0, 0), deleted(1, "01:00"), led(1, "02:00", 0, 7)) == []


def test_before_2_6_the_controllers_request_tells_who_followed(spark: SparkSession) -> None:
    """Broker 2 was told to follow in epoch 0, which no line of its own says, and leads the next topic in epoch 0."""
    again = deleted(2, "01:00"), led(2, "02:00", 0, 0)

    assert found(spark, *again) == []
    assert found(spark, *again, told=((2, "00:00", 0),)) == [("clicks#2", "2026-11-26 10:01:00.001", None)]


def test_a_topic_with_ids_is_told_apart_by_them(spark: SparkSession) -> None:
    """The line of a deletion has no id, in no release."""
    again = led(1, "00:00", 0, 0), deleted(1, "01:00"), led(1, "02:00", 0, 0)

    assert found(spark, *again, ids=("clicks",)) == []


def test_what_an_earlier_delivery_numbered_keeps_its_number(spark: SparkSession) -> None:
    """Its rows have landed with the number as their id."""
    numbered = led(1, "02:00", 0, 0, topic_id="clicks#2"), deleted(1, "03:00"), led(1, "04:00", 0, 0)

    assert [row[0] for row in found(spark, led(1, "00:00", 0, 0), deleted(1, "01:00"), *numbered)] == [
        "clicks#2", "clicks#3",
    ]  # fmt: skip
