"""`tidegauge check` on real Delta tables: what is kept, what is printed, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from expectations.invariants import INVARIANTS
from expectations.verdict import Verdict
from jobs.check_timelines import check_cluster, exit_code, worst
from jobs.cli import main
from jobs.errors import ExitCode
from jobs.warehouse import Transaction, Warehouse
from schemas import tables as T
from schemas.kinds import Severity, Status
from tests.checked_rows import History, lost, read_file, sound
from tests.frames import rows

Stored = Callable[[History], Warehouse]


def verdict(text: str) -> Verdict:
    """A verdict from `status severity`."""
    status, severity = text.split()
    return Verdict("Some", Severity(severity), Status(status))


@pytest.mark.parametrize(
    ("verdicts", "fail_on", "expected"),
    [
        (["valid critical", "unknown critical"], None, ExitCode.OK),
        (["valid critical", "invalid warning"], None, ExitCode.OK),
        (["valid critical", "invalid warning"], "warn", ExitCode.WARNINGS),
        (["invalid warning", "invalid critical"], "warn", ExitCode.RULE_BROKEN),
        (["invalid critical", "error critical"], None, ExitCode.RULE_BROKEN),
        (["valid critical", "error warning"], None, ExitCode.COULD_NOT_RUN),
        (["invalid warning", "error critical"], "warn", ExitCode.COULD_NOT_RUN),
        (["unknown critical", "unknown warning"], None, ExitCode.COULD_NOT_RUN),
        ([], None, ExitCode.COULD_NOT_RUN),
    ],
)
def test_exit_codes(verdicts: list[str], fail_on: str | None, expected: ExitCode) -> None:
    """A broken critical rule first, then what could not run, then warnings; nothing judged is no pass."""
    assert exit_code([verdict(text) for text in verdicts], fail_on) is expected


def test_the_worst_of_several_clusters() -> None:
    """One cluster with a broken rule is not hidden by another that could not run."""
    assert worst([ExitCode.OK, ExitCode.COULD_NOT_RUN, ExitCode.RULE_BROKEN]) is ExitCode.RULE_BROKEN
    assert worst([ExitCode.WARNINGS, ExitCode.OK]) is ExitCode.WARNINGS


def test_usage_errors_exit_with_64(capsys: pytest.CaptureFixture[str]) -> None:
    """A word that --fail-on does not know is usage."""
    assert main(["check", "--warehouse", "w", "--fail-on", "info"]) == ExitCode.USAGE
    assert "'info' is not 'warn'" in capsys.readouterr().err


@pytest.fixture
def stored(spark: SparkSession, tmp_path: Path) -> Stored:
    """A warehouse that holds a history."""

    def store(history: History) -> Warehouse:
        warehouse = Warehouse(spark, str(tmp_path / "lake"))
        for table, given in history.items():
            warehouse.create(table)
            warehouse.append(table, rows(spark, table, *given), Transaction(table.name, 1))
        return warehouse

    return store


@pytest.mark.spark
@pytest.mark.delta
def test_a_broken_rule_is_kept_with_its_row(stored: Stored, capsys: pytest.CaptureFixture[str]) -> None:
    """Every verdict is in check_results, also of rules that hold; the row in check_violations, with its line."""
    warehouse = stored(lost())
    code = check_cluster(warehouse, "c")
    shown = capsys.readouterr()
    results = {row["rule"]: row for row in warehouse.read(T.CHECK_RESULTS, cluster_id="c").collect()}
    violations = warehouse.read(T.CHECK_VIOLATIONS, cluster_id="c").collect()
    broken = results["CommittedRecordsSurviveElections"]

    assert code is ExitCode.RULE_BROKEN
    assert set(results) == {rule.name for rule in INVARIANTS}
    assert {row["run_id"] for row in [*results.values(), *violations]} == {broken["run_id"]}
    assert (broken["status"], broken["severity"], broken["rows"], broken["violations"]) == ("invalid", "critical", 2, 1)
    assert (broken["table_name"], broken["input_version"]) == ("leader_timeline", 1)
    assert [(row["rule"], row["keys"]["leader_epoch"], row["observed"]["log_end_offset"]) for row in violations] == [
        ("CommittedRecordsSurviveElections", "2", "10")
    ]
    assert (violations[0]["capture_id"], violations[0]["source_file"], violations[0]["source_line"]) == (
        "one", "broker-3/state-change.log", 1
    )  # fmt: skip
    assert "CommittedRecordsSurviveElections" in shown.out
    assert "Data loss" in shown.err


@pytest.mark.spark
@pytest.mark.delta
def test_runs_are_a_history(stored: Stored, capsys: pytest.CaptureFixture[str]) -> None:
    """A second check adds a run; a warning ends with 1 only if asked for; --json tells the same to programs."""
    warehouse = stored(sound() | {T.SOURCE_FILES: [read_file(landed=7, rejected=1)]})
    code = main(["check", "--warehouse", warehouse.path])
    table = capsys.readouterr().out
    warned = main(["check", "--warehouse", warehouse.path, "--cluster-id", "c", "--fail-on", "warn", "--json"])
    document = json.loads(capsys.readouterr().out)
    runs = {row["run_id"] for row in warehouse.read(T.CHECK_RESULTS).collect()}
    told = {result["rule"]: result for result in document["runs"][0]["check_results"]}

    assert (code, warned, document["exit_code"]) == (0, 1, 1)
    assert len(runs) == 2
    assert document["runs"][0]["run_id"] in runs
    assert told["NoLineWasRejected"] == {
        "rule": "NoLineWasRejected", "status": "invalid", "severity": "warning", "rows": 1, "violations": 1,
        "reason": "first: source_file broker-1/server.log, kind server_log: lines_rejected 1, lines_read 10",
    }  # fmt: skip
    assert len(told) == len(INVARIANTS)
    assert table.startswith("check of cluster c, run ")


@pytest.mark.spark
@pytest.mark.delta
def test_what_could_not_run_is_kept_and_ends_with_3(stored: Stored) -> None:
    """Before reconstruct there is no timeline: its rules are errors, the others are judged all the same."""
    warehouse = stored({T.SOURCE_FILES: [read_file()], T.LEADER_TIMELINE: []})
    code = check_cluster(warehouse, "c")
    results = {row["rule"]: row for row in warehouse.read(T.CHECK_RESULTS).collect()}

    assert code is ExitCode.COULD_NOT_RUN
    assert results["LeaderIsInIsr"]["reason"] == "table leader_timeline is empty"
    assert results["OneLeaderPerEpoch"]["reason"] == "LookupError: there is no table leader_changes"
    assert results["OneLeaderPerEpoch"]["input_version"] is None
    assert results["NoLineWasRejected"]["status"] == "valid"


@pytest.mark.spark
@pytest.mark.delta
def test_a_folder_without_tables_could_not_be_checked(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code 3 and one line."""
    assert spark.version
    assert main(["check", "--warehouse", str(tmp_path)]) == ExitCode.COULD_NOT_RUN
    assert "has no table source_files" in capsys.readouterr().err
