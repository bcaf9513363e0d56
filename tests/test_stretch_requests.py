"""Which requests a stretch has: each once in every stretch whose time it touches, and what stands at its begin."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from replay.stretch_requests import requests

pytestmark = pytest.mark.spark

KEY = "cluster_id string, topic string, topic_id string, partition int"


def test_a_request_is_in_each_stretch_it_touches(spark: SparkSession) -> None:
    """Partition 0 is cut at 20 s and 40 s, with two seconds around; partition 1 is not."""
    ever = 1 << 60
    times = ((0, -ever, 22), (1, 18, 42), (2, 38, ever))
    cut = spark.createDataFrame(
        [
            ("c", "t", "id", 0, n, f"id#{n}", since if abs(since) == ever else since * 10**6,
             to if to == ever else to * 10**6)
            for n, since, to in times
        ],
        f"{KEY}, stretch int, part_id string, since_us bigint, to_us bigint",
    )  # fmt: skip
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
    standing = spark.createDataFrame([("c", "t", "id", 0, 2, "first"), ("c", "t", "id", 0, 2, "last")],
                                     f"{KEY}, stretch int, name string")  # fmt: skip
    found = requests(rows, cut, standing, ("name",)).orderBy("name", "topic_id").collect()

    assert [(row["name"], row["topic_id"]) for row in found] == [
        ("both", "id#0"), ("both", "id#1"), ("first", "id#0"), ("first", "id#2"), ("last", "id#2"),
        ("long before", "id#0"), ("middle", "id#1"), ("not cut", "id"), ("over", "id#0"), ("over", "id#1"),
    ]  # fmt: skip
