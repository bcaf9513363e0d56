"""`tidegauge check` on real Delta tables: what is kept, what is printed, and how it ends."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import click
import pytest
from pyspark.sql import SparkSession

from expectations.invariants import INVARIANTS
from expectations.verdict import Verdict
from jobs.check_timelines import check_cluster, exit_code, max_age, worst
from jobs.cli import main
from jobs.errors import ExitCode
from jobs.warehouse import Transaction, Warehouse
from schemas import tables as T
from schemas.kinds import Severity, Status
from tests.checked_rows import History, lost, read_file
from tests.frames import rows


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


def store(spark: SparkSession, folder: Path, history: History) -> Warehouse:
    """A warehouse that holds a history."""
    warehouse = Warehouse(spark, str(folder / "lake"))
    for table, given in history.items():
        warehouse.create(table)
        warehouse.append(table, rows(spark, table, *given), Transaction(table.name, 1))
    return warehouse


@pytest.fixture(scope="module")
def broken(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """One with a lost record and a rejected line."""
    return store(spark, tmp_path_factory.mktemp("broken"), lost() | {T.SOURCE_FILES: [read_file(landed=7, rejected=1)]})


@pytest.mark.spark
@pytest.mark.delta
def test_a_broken_rule_is_kept_with_its_row(broken: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    """Every verdict is in check_results, also of rules that hold; the row in check_violations, with its line."""
    code = check_cluster(broken, "c")
    shown = capsys.readouterr()
    results = {row["rule"]: row for row in broken.read(T.CHECK_RESULTS, cluster_id="c").collect()}
    violations = broken.read(T.CHECK_VIOLATIONS, cluster_id="c").where("rule LIKE 'Committed%'").collect()
    verdict = results["CommittedRecordsSurviveElections"]

    assert code is ExitCode.RULE_BROKEN
    assert set(results) == {rule.name for rule in INVARIANTS}
    assert {row["run_id"] for row in [*results.values(), *violations]} == {verdict["run_id"]}
    assert (verdict["status"], verdict["severity"], verdict["rows"], verdict["violations"]) == (
        "invalid", "critical", 2, 1
    )  # fmt: skip
    assert (verdict["table_name"], verdict["input_version"]) == ("leader_timeline", 1)
    assert [(row["keys"]["leader_epoch"], row["observed"]["log_end_offset"]) for row in violations] == [("2", "10")]
    assert (violations[0]["capture_id"], violations[0]["source_file"], violations[0]["source_line"]) == (
        "one", "broker-3/state-change.log", 1
    )  # fmt: skip
    assert "CommittedRecordsSurviveElections" in shown.out
    assert "Data loss" in shown.err


@pytest.mark.spark
@pytest.mark.delta
def test_runs_are_a_history(broken: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    """Another check adds a run; --json tells a program the same; --max-age adds the rule that events are fresh."""
    before = {row["run_id"] for row in broken.read(T.CHECK_RESULTS).collect()} if broken.has(T.CHECK_RESULTS) else set()
    code = main(["check", "--warehouse", broken.path, "--cluster-id", "c", "--max-age", "1m", "--json"])
    document = json.loads(capsys.readouterr().out)
    runs = {row["run_id"] for row in broken.read(T.CHECK_RESULTS).collect()}
    told = {result["rule"]: result for result in document["runs"][0]["check_results"]}

    assert (code, document["exit_code"]) == (2, 2)
    assert runs - before == {document["runs"][0]["run_id"]}
    assert told["NoLineWasRejected"] == {
        "rule": "NoLineWasRejected", "status": "invalid", "severity": "warning", "rows": 1, "violations": 1,
        "reason": "first: source_file broker-1/server.log, kind server_log: lines_rejected 1, lines_read 10",
    }  # fmt: skip
    assert set(told) == {*(rule.name for rule in INVARIANTS), "EventsAreFresh"}


@pytest.mark.parametrize(("text", "minutes"), [("90m", 90), ("26h", 26 * 60), ("2d", 2 * 1440)])
def test_ages(text: str, minutes: int) -> None:
    """Minutes, hours, days."""
    assert max_age(click.Context(click.Command("c")), click.Option(["--max-age"]), text) == timedelta(minutes=minutes)


def test_an_age_that_is_none_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """A number without a unit."""
    assert main(["check", "--warehouse", "w", "--max-age", "26"]) == ExitCode.USAGE
    assert "'26' is no time" in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.delta
def test_what_could_not_run_is_kept_and_ends_with_3(spark: SparkSession, tmp_path: Path) -> None:
    """Before reconstruct there is no timeline: its rules are errors, the others are judged all the same."""
    warehouse = store(spark, tmp_path, {T.SOURCE_FILES: [read_file()], T.LEADER_TIMELINE: []})
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
