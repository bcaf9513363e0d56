"""`tidegauge check` on what cannot be judged: exit code 3, 64 for usage, and one clear line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from expectations.invariants import INVARIANTS
from jobs import check_run
from jobs.check_timelines import check_cluster
from jobs.cli import main
from jobs.errors import ExitCode
from jobs.places import Folder
from jobs.warehouse import SCHEMA_VERSION
from schemas import tables as T
from tests.checked_rows import event, read_file
from tests.checked_warehouse import run, store


@pytest.mark.spark
@pytest.mark.delta
def test_what_could_not_run_is_kept_and_ends_with_3(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before reconstruct there is no timeline: its rules are errors, the others are judged all the same."""
    warehouse = store(spark, tmp_path, {T.SOURCE_FILES: [read_file()], T.LEADER_TIMELINE: []})
    code = check_cluster(warehouse, "c")
    results = {row["rule"]: row for row in warehouse.read(T.CHECK_RESULTS).collect()}

    assert code is ExitCode.COULD_NOT_RUN
    assert results["LeaderIsInIsr"]["reason"] == "table leader_timeline is empty"
    assert results["OneLeaderPerEpoch"]["reason"] == "LookupError: there is no table leader_changes"
    assert results["OneLeaderPerEpoch"]["input_version"] is None
    assert results["NoLineWasRejected"]["status"] == "valid"
    said = capsys.readouterr().err
    assert re.search(
        r"^tidegauge: \d+ of \d+ rules could not be judged: table leader_timeline is empty$", said, re.MULTILINE
    )


@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.usefixtures("spark")
def test_a_folder_without_tables_could_not_be_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Code 3 and one line."""
    assert main(["check", "--warehouse", str(tmp_path)]) == ExitCode.COULD_NOT_RUN
    assert "has no table source_files" in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.delta
def test_a_table_of_another_version_is_refused(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code 3 and one line, before anything is judged."""
    warehouse = store(spark, tmp_path, {T.SOURCE_FILES: [read_file()]})
    place = f"delta.`{Folder(spark, warehouse.path).location(T.SOURCE_FILES)}`"
    spark.sql(f"ALTER TABLE {place} SET TBLPROPERTIES ('tidegauge.schema_version' = '1')")

    assert run(warehouse) == ExitCode.COULD_NOT_RUN
    said = f"table source_files has schema version 1, this tidegauge works with {SCHEMA_VERSION}"
    assert said in capsys.readouterr().err
    assert not warehouse.has(T.CHECK_RESULTS)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("rules: [", ExitCode.COULD_NOT_RUN, "check.yaml, line 1: no YAML"),
        ("rules: {Some: {}}", ExitCode.COULD_NOT_RUN, "check.yaml: rules: there is no rule Some"),
        ("suppresions: []", ExitCode.COULD_NOT_RUN, "check.yaml: suppresions: there is no such key; did you mean supp"),
        (
            "suppressions: [{rule: LeaderIsInIsr, reason: disk, expires: 2026-01-31}]", ExitCode.COULD_NOT_RUN,
            "check.yaml: the suppression of LeaderIsInIsr of all topics expired on 2026-01-31 (disk): renew",
        ),
        (None, ExitCode.USAGE, "check.yaml' does not exist"),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_used(
    text: str | None, code: ExitCode, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that names the file and the key, before Spark starts."""
    if text is not None:
        (tmp_path / "check.yaml").write_text(text)

    assert main(["check", "--warehouse", "w", "--config", str(tmp_path / "check.yaml")]) == code
    assert said in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.delta
def test_a_missing_column_could_not_be_checked(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rules are errors, and one line names the table and the column."""
    rules = [rule for rule in INVARIANTS if rule.name in ("LeaderIsInIsr", "NoLineWasRejected")]
    monkeypatch.setattr(check_run, "INVARIANTS", rules)
    warehouse = store(spark, tmp_path, {T.SOURCE_FILES: [read_file()], T.LEADER_TIMELINE: [event(0, 1, 5, 5)]})
    place = f"delta.`{Folder(spark, warehouse.path).location(T.LEADER_TIMELINE)}`"
    spark.sql(f"ALTER TABLE {place} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    spark.sql(f"ALTER TABLE {place} DROP COLUMN isr")

    assert run(warehouse) == ExitCode.COULD_NOT_RUN
    said = capsys.readouterr().err
    assert "tidegauge: 1 of 2 rules could not be judged: LookupError: table leader_timeline has no column isr" in said
