"""`tidegauge ingest` on a real capture: what dies is taken back, what has landed stays landed once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.commits import Commit, Transaction
from jobs.errors import ExitCode
from jobs.ingest_events import main
from jobs.warehouse import Warehouse
from schemas.tables import LANDING_TABLES, REJECTED_LINES, SOURCE_FILES, Table

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.captured]


def counts(warehouse: Warehouse) -> dict[str, int]:
    """Rows by landing table."""
    return {table.name: warehouse.read(table).count() for table in LANDING_TABLES}


@pytest.mark.long
def test_a_run_that_dies_and_is_run_again_lands_everything_once(
    spark: SparkSession,
    captures: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Death before the last table; a second run in full; a third that finds nothing to do."""
    argv = [str(captures / "hw_truncation"), "--warehouse", str(tmp_path)]
    warehouse, append = Warehouse(spark, str(tmp_path)), Warehouse.append

    def dying(self: Warehouse, table: Table, frame: DataFrame, transaction: Transaction) -> Commit:
        if table is REJECTED_LINES:
            raise OSError("no space left")
        return append(self, table, frame, transaction)

    with monkeypatch.context() as patched:
        patched.setattr(Warehouse, "append", dying)
        assert main(argv) == ExitCode.COULD_NOT_RUN
    assert counts(warehouse)[SOURCE_FILES.name] == 0
    left = counts(warehouse)

    capsys.readouterr()
    assert main(argv) == ExitCode.OK
    assert "took back what an unfinished run had left" in capsys.readouterr().err
    landed = counts(warehouse)
    assert {name: landed[name] for name in left if left[name]} == {name: rows for name, rows in left.items() if rows}
    assert landed[SOURCE_FILES.name] == 16

    assert main(argv) == ExitCode.OK
    assert "16 of 16 files already landed" in capsys.readouterr().err
    assert counts(warehouse) == landed
