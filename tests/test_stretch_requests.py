"""Which requests a stretch has: each once in every stretch whose time it touches, and what stands at its begin."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from replay.stretches.requests import EVER_US, SECOND_US, requests

pytestmark = pytest.mark.spark

KEY = "cluster_id string, topic string, topic_id string, partition int"


def test_a_request_is_in_each_stretch_it_touches(spark: SparkSession) -> None:
    """Partition 0 is cut at 20 s and 40 s, with two seconds around; partition 1 is not."""
    cut = spark.createDataFrame(
        [
            ("c", "t", "id", 0, 0, "id#0", -EVER_US, 22 * SECOND_US),
            ("c", "t", "id", 0, 1, "id#1", 18 * SECOND_US, 42 * SECOND_US),
            ("c", "t", "id", 0, 2, "id#2", 38 * SECOND_US, EVER_US),
        ],
        f"{KEY}, stretch int, part_id string, since_us bigint, to_us bigint",
    )
    spans = {
        "long before": (0, -500.0, -500.0), "first": (0, 10.0, 10.1), "both": (0, 21.0, 21.0), "over": (0, 17.9, 18.1),
        "middle": (0, 30.0, 30.0), "last": (0, 900.0, 900.5), "not cut": (1, 30.0, 55.0),
    }  # fmt: skip
    rows = spark.createDataFrame(
        [("c", "t", "id", partition, name, begun, ended) for name, (partition, begun, ended) in spans.items()],
        f"{KEY}, name string, begun double, ended double",
    ).selectExpr(
        "cluster_id", "topic", "topic_id", "partition", "name", "timestamp_seconds(begun) AS event_time",
        "timestamp_seconds(ended) AS response_time",
    )  # fmt: skip
    stands = [("c", "t", "id", 0, 2, "first"), ("c", "t", "id", 0, 2, "last")]
    standing = spark.createDataFrame(stands, f"{KEY}, stretch int, name string")
    found = requests(rows, cut, standing, ("name",)).orderBy("name", "topic_id").collect()

    assert [(row["name"], row["topic_id"]) for row in found] == [
        ("both", "id#0"), ("both", "id#1"), ("first", "id#0"), ("first", "id#2"), ("last", "id#2"),
        ("long before", "id#0"), ("middle", "id#1"), ("not cut", "id"), ("over", "id#0"), ("over", "id#1"),
    ]  # fmt: skip
