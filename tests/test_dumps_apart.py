"""Divergence that brokers' dumps show: other records at the same offsets, and what compaction leaves is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from replay.findings.divergence import of_dumps
from schemas.tables import SEGMENT_BATCHES
from tests.frames import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def dumped(topic: str, broker: int, *batches: tuple[int, int, int, int]) -> list[dict[str, Any]]:
    """Batches of a broker's dump: base offset, last offset, leader epoch, CRC."""
    return [
        {
            "topic": topic, "broker_id": broker, "base_offset": base, "last_offset": last, "leader_epoch": epoch,
            "crc": crc, "batch_size": 80, "source_file": f"broker-{broker}/segments/{topic}-0.txt", "source_line": line,
        }
        for line, (base, last, epoch, crc) in enumerate(batches, start=3)
    ]  # fmt: skip


DUMPS = [
    *dumped("equal", 1, (0, 4, 0, 11), (5, 9, 1, 12)),
    *dumped("equal", 2, (0, 4, 0, 11), (5, 9, 1, 12)),
    *dumped("other_records", 1, (0, 4, 0, 11), (5, 9, 1, 12)),
    *dumped("other_records", 2, (0, 4, 0, 11), (5, 9, 1, 13)),
    *dumped("other_batches", 1, (0, 4, 0, 11), (5, 9, 0, 12)),
    *dumped("other_batches", 2, (0, 4, 0, 11), (5, 6, 1, 13), (7, 9, 1, 14)),
    *dumped("compacted", 1, (0, 4, 0, 11), (5, 9, 1, 12), (10, 14, 1, 13)),
    *dumped("compacted", 2, (0, 4, 0, 21), (10, 14, 1, 13)),
    *dumped("compacted_and_apart", 1, (0, 4, 0, 11), (5, 9, 1, 12), (10, 14, 1, 13)),
    *dumped("compacted_and_apart", 2, (0, 4, 0, 21), (10, 14, 2, 13)),
]


@pytest.mark.spark
def test_dumps_that_differ(spark: SparkSession) -> None:
    """Records differ, or batches; where a log was compacted another CRC tells nothing, and another epoch still does."""
    found = of_dumps(rows(spark, SEGMENT_BATCHES, *DUMPS)).collect()

    assert {(row["topic"], row["from_offset"], row["to_offset"]) for row in found} == {
        ("other_records", 5, 10),
        ("other_batches", 5, 10),
        ("compacted_and_apart", 10, 15),
    }
