"""Each file of examples/sql answers its question of a history whose answer is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas import tables as T
from tests.checked_rows import HERE, at, event, lost
from tests.frames import rows

pytestmark = pytest.mark.spark

COOKBOOK = Path(__file__).parent.parent / "examples" / "sql"


def finding(kind: str, replica_id: int, begin: float, end: float | None, offsets: tuple[int, int]) -> dict[str, Any]:
    """An incident."""
    return {
        **HERE, "incident_id": f"{kind}{replica_id}{begin}", "kind": kind, "severity": "warning", "leader_epoch": 2,
        "replica_id": replica_id, "started_at": at(begin), "ended_at": None if end is None else at(end),
        "from_offset": offsets[0], "to_offset": offsets[1], "evidence": "as told",
    }  # fmt: skip


GIVEN = lost() | {
    T.LEADER_TIMELINE: [
        *[row for row in lost()[T.LEADER_TIMELINE] if row["event_seq"] != 2],
        event(0, 2, 11, 10, remote_log_end_offset={2: 7, 3: 8}),
    ],
    T.INCIDENTS: [
        finding("COMMITTED_RECORDS_LOST", 1, 20, None, (10, 11)),
        finding("ISR_SHRUNK", 2, 1, 5, (-1, -1)),
        finding("ISR_SHRUNK", 2, 6, 16, (-1, -1)),
        finding("HIGH_WATERMARK_STALLED", 2, 1, 5, (10, 11)),
        finding("CONSUMER_READ_LOST_RECORDS", -1, 20, None, (10, 11)),
        finding("LOG_DIVERGENCE", 1, 20, 25, (10, 11)),
        finding("UNDER_MIN_ISR", -1, 2, 4, (-1, -1)),
    ],
}
ANSWERS: dict[str, dict[str, object]] = {
    "what-was-lost": {"kind": "COMMITTED_RECORDS_LOST", "from_offset": 10, "to_offset": 11, "records": 1},
    "who-held-the-high-watermark": {"replica_id": 2},
    "isr-story": {"replica_id": 2, "times_out": 2, "partitions": 1, "median_seconds_out": 7.0},
    "consumers-that-read-lost-records": {"from_offset": 10},
    "truncations-below-the-high-watermark": {"replica_id": 1, "from_offset": 11, "to_offset": 10},
    "diverging-logs": {"replica_id": 1, "from_offset": 10},
    "records-with-one-copy": {"leader_id": 1, "records_with_one_copy": 3},
    "under-min-isr": {"evidence": "as told"},
    "high-watermark-that-went-back": {"leader_epoch": 1, "before_it": 11, "high_watermark": 10},
    "state-of-a-partition": {"leader_id": 3, "high_watermark": 10},
}


def test_every_file_has_an_answer() -> None:
    """No query is shown that no test runs."""
    assert {path.stem for path in COOKBOOK.glob("*.sql")} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_first_row_is_the_answer(name: str, spark: SparkSession) -> None:
    """And there is one."""
    for table in T.TIMELINE_TABLES:
        rows(spark, table, *GIVEN.get(table, ())).createOrReplaceTempView(table.name)
    first = spark.sql((COOKBOOK / f"{name}.sql").read_text(encoding="utf-8")).first()

    assert first is not None
    assert {key: first[key] for key in ANSWERS[name]} == ANSWERS[name]
