"""No false alarm: what the check says of real clusters' captures, each after a whole pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.cli import main
from jobs.warehouse import Warehouse
from schemas.tables import CHECK_RESULTS

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.captured, pytest.mark.long]

LOST = {
    "CommittedRecordsSurviveElections", "CleanlyElectedLeaderHoldsTheHighWatermark", "NoCommittedRecordIsLost",
    "AcknowledgedByAllIsNeverLost", "NoReplicaTruncatesCommittedRecords",
}  # fmt: skip


@pytest.mark.parametrize(
    ("capture", "code", "broken"),
    [
        ("steady", 0, set()),
        ("isr_shrink", 0, set()),
        ("epoch_truncation", 0, set()),
        ("failover", 0, set()),
        ("hw_truncation", 2, LOST),
    ],
)
def test_rules_on_a_real_capture(
    capture: str, code: int, broken: set[str], spark: SparkSession, captures: Path, tmp_path: Path
) -> None:
    """Truncation to the HW lost a committed record, and the rules say so; all others kept what they promised."""
    assert main(["pipeline", str(captures / capture), "--warehouse", str(tmp_path)]) == code
    results = Warehouse(spark, str(tmp_path)).read(CHECK_RESULTS).where("status IN ('invalid', 'error')").collect()

    assert {row["rule"] for row in results} == broken
