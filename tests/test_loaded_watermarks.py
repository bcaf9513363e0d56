"""Up to 2.3 a load of a log is told with the HWs of all replicas of the partition: the log's is the greatest."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from schemas.kinds import KAFKA_VERSION
from schemas.kinds import StatementKind as K
from sources.loaded_watermarks import with_one_hw_a_load

pytestmark = pytest.mark.spark

STATED = [
    # broker, partition, line, kind, offset
    (1, 0, 10, K.LOADED_LEO, 60),
    (1, 0, 11, K.LOADED_HW, 0),  # of another broker's replica
    (1, 0, 12, K.LOADED_HW, 57),
    (1, 0, 12, K.LOADED_HW, 0),
    (1, 1, 13, K.LOADED_HW, 0),  # before its log was created
    (1, 1, 14, K.LOADED_LEO, 0),
    (1, 1, 15, K.LOADED_HW, 0),
    (2, 0, 16, K.LOADED_HW, 3),  # what was before is in no log
    (1, 0, 17, K.TRUNCATED_TO, 58),
    (1, 0, 18, K.LOADED_HW, 0),  # a reassignment made it know of one more
    (1, 0, 19, K.LOADED_LEO, 70),  # the process was started again
    (1, 0, 20, K.LOADED_HW, 0),
]
ALL = [line for _, _, line, _, _ in STATED]
OF_THE_LOG = [10, 12, 14, 15, 16, 17, 19, 20]


@pytest.mark.parametrize(
    ("version", "lines"),
    [("2.3.1", OF_THE_LOG), ("1.0.2", OF_THE_LOG), ("2.4.0", ALL), (None, ALL)],
)
def test_one_hw_a_load_is_left(spark: SparkSession, version: str | None, lines: list[int]) -> None:
    """Of each broker and partition by itself; since 2.4 there is one line a load, and all are left."""
    told = [(None, KAFKA_VERSION, version)]
    settings = spark.createDataFrame(told, "event_time timestamp, name string, value string")
    at = datetime(2026, 1, 1)  # noqa: DTZ001
    rows = [(b, "orders", p, at.replace(second=n), "server.log", n, k.value, o) for b, p, n, k, o in STATED]
    schema = "broker_id int, topic string, partition int, event_time timestamp, source_file string, source_line long"
    stated = spark.createDataFrame(rows, f"{schema}, kind string, offset long")

    found = with_one_hw_a_load(stated, settings)

    assert found.columns == stated.columns
    assert [row.source_line for row in found.orderBy("source_line").collect()] == lines
