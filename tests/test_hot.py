"""Which partitions are hot, into how many stretches they are cut, and how far these look around themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.releases import profile_for
from replay.stretches.hot import PIECES, REACH_US, hot_partitions, may_be_cut
from schemas import columns as C

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LATEST = profile_for("4.1.0")
COUNTS = "cluster_id string, topic string, topic_id string, partition int, requests bigint, first bigint, last bigint"


@pytest.mark.spark
def test_who_has_most_requests_is_cut(spark: SparkSession) -> None:
    """300 requests and an eighth of all: 900 in 300 s are nine stretches, that look a tenth of one around them.

    Neither one with too few, nor one whose share is that of others, is; nor is one that would last no time.
    """
    counts = spark.createDataFrame(
        [
            ("c", "hot", "", 0, 900, 0, 300, None),
            ("c", "few", "", 0, 299, 0, 1000, None),
            ("c", "burst", "", 0, 900, 0, 1, None),
        ],
        f"{COUNTS}, has_outsiders boolean",
    )
    crowd = spark.createDataFrame([("c", "all", "", p, 900, 0, 1000, None) for p in range(9)], counts.schema)

    hot = hot_partitions(counts, 300, LATEST)
    assert [tuple(row) for row in hot.select(C.TOPIC, PIECES, REACH_US).collect()] == [("hot", 9, 3_000_000)]
    assert hot_partitions(crowd, 300, LATEST).isEmpty()


def test_what_reaches_far_is_not_cut() -> None:
    """Who was in the ISR is inferred from all that was before. Of transactions and silence the whole log tells."""
    assert may_be_cut(LATEST.with_changes(has_transactions=True))
    assert may_be_cut(LATEST.with_changes(has_silence=True))
    assert not may_be_cut(LATEST.with_changes(has_untold_isr=True))
