"""`tidegauge check` on real Delta tables: what is kept, what is printed, and how it ends."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pytest

from expectations.invariants import INVARIANTS
from expectations.verdict import Verdict
from jobs import check_run
from jobs.check_run import exit_code, worst
from jobs.check_timelines import check_cluster, max_age
from jobs.cli import main
from jobs.errors import ExitCode
from jobs.warehouse import Warehouse
from schemas import tables as T
from schemas.kinds import Severity, Status
from tests.checked_warehouse import copied, run


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


def test_what_is_not_new_is_no_news() -> None:
    """With --since last a rule that is as broken as it was pages nobody."""
    known, news = (Verdict("Some", Severity.CRITICAL, Status.INVALID, new_violations=n) for n in (0, 1))

    assert exit_code([known], None) is ExitCode.OK
    assert exit_code([known, news], None) is ExitCode.RULE_BROKEN


def test_information_never_changes_the_exit_code() -> None:
    """A rule may be made one by a configuration."""
    assert exit_code([verdict("invalid info"), verdict("valid critical")], "warn") is ExitCode.OK


def test_the_worst_of_several_clusters() -> None:
    """One cluster with a broken rule is not hidden by another that could not run."""
    assert worst([ExitCode.OK, ExitCode.COULD_NOT_RUN, ExitCode.RULE_BROKEN]) is ExitCode.RULE_BROKEN
    assert worst([ExitCode.WARNINGS, ExitCode.OK]) is ExitCode.WARNINGS


def test_usage_errors_exit_with_64(capsys: pytest.CaptureFixture[str]) -> None:
    """A word that --fail-on does not know is usage."""
    assert main(["check", "--warehouse", "w", "--fail-on", "info"]) == ExitCode.USAGE
    assert "'info' is not 'warn'" in capsys.readouterr().err


@pytest.fixture(scope="module")
def broken(loss: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """One with a lost record and a rejected line, that was looked through for incidents."""
    warehouse = copied(loss, tmp_path_factory.mktemp("broken"))
    warehouse.create(T.INCIDENTS)
    return warehouse


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
    assert "\n\n" not in shown.err  # a rule without events around its first violation is followed by the next


NAMES = ("CommittedRecordsSurviveElections", "NoLineWasRejected", "LeaderIsInIsr", "EveryLineIsAccountedFor")
FEW = [rule for rule in INVARIANTS if rule.name in NAMES]


@pytest.mark.spark
@pytest.mark.delta
def test_runs_are_a_history(
    broken: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another check adds a run, and with --since last tells what is new; a file for each that wants to know."""
    monkeypatch.setattr(check_run, "INVARIANTS", FEW)
    files = ("--junit", str(tmp_path / "out" / "check.xml"), "--data-docs", str(tmp_path / "docs"))
    first = run(broken, "--json")
    before = {row["run_id"] for row in broken.read(T.CHECK_RESULTS).collect()}
    capsys.readouterr()
    code = run(broken, "--since", "last", "--max-age", "1m", "--json", *files)
    document = json.loads(capsys.readouterr().out)["runs"][0]
    told = {result["rule"]: result for result in document["check_results"]}
    violations = broken.read(T.CHECK_VIOLATIONS).where(f"run_id = '{document['run_id']}'").collect()
    suite = ET.parse(tmp_path / "out" / "check.xml").getroot()[0]  # noqa: S314 - our own file
    pages = [path.read_text(encoding="utf-8") for path in (tmp_path / "docs").rglob("*.html")]

    assert (first, code) == (2, 2)
    assert {row["run_id"] for row in broken.read(T.CHECK_RESULTS).collect()} - before == {document["run_id"]}
    assert told["NoLineWasRejected"] == {
        "rule": "NoLineWasRejected", "status": "invalid", "severity": "warning", "rows": 1, "violations": 1,
        "suppressed": 0, "new_violations": 0,
        "reason": "first: source_file broker-1/server.log, kind server_log: lines_rejected 1, lines_read 10",
    }  # fmt: skip
    assert set(told) == {*(rule.name for rule in FEW), "EventsAreFresh"}
    assert {row["rule"]: row["is_new"] for row in violations} == {
        "NoLineWasRejected": False, "CommittedRecordsSurviveElections": False, "EventsAreFresh": True,
    }  # fmt: skip
    assert [(v["topic"], v["partition"], v["status"]) for v in document["partition_verdicts"]] == [
        ("ledger", 0, "invalid")
    ]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5", "failures": "1", "errors": "0", "skipped": "0",
    }  # fmt: skip
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["EventsAreFresh"]
    assert any("CommittedRecordsSurviveElections" in page and document["run_id"] in page for page in pages)


@pytest.mark.spark
@pytest.mark.delta
def test_a_configuration_sets_violations_aside(
    broken: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is suppressed and what is tolerated breaks nothing, and is told and kept all the same."""
    monkeypatch.setattr(check_run, "INVARIANTS", FEW)
    config = tmp_path / "check.yaml"
    config.write_text(
        "rules: {NoLineWasRejected: {max_violations: 1}}\n"
        "suppressions: [{rule: CommittedRecordsSurviveElections, topic: 'led*', reason: KAFKA-1, expires: 2999-01-01}]"
    )
    code = run(broken, "--config", str(config), "--fail-on", "warn")
    shown = capsys.readouterr().out
    (last,) = broken.read(T.CHECK_RESULTS).selectExpr("max_by(run_id, run_at)").collect()
    results = {row["rule"]: row for row in broken.read(T.CHECK_RESULTS).where(f"run_id = '{last[0]}'").collect()}
    (partition,) = broken.read(T.PARTITION_VERDICTS).where(f"run_id = '{last[0]}'").collect()
    lost_rows = results["CommittedRecordsSurviveElections"]

    assert code == ExitCode.OK
    assert (lost_rows["status"], lost_rows["violations"], lost_rows["suppressed"]) == ("valid", 1, 1)
    assert results["NoLineWasRejected"]["thresholds"] == {"*": "max_violations 1"}
    assert results["NoLineWasRejected"]["reason"] == "1 of at most 1 are tolerated"
    assert (partition["status"], partition["severity"]) == ("valid", None)
    assert partition["reason"] == ("CommittedRecordsSurviveElections: 1 rows, suppressed until 2999-01-01: KAFKA-1")
    assert "partitions: 1 valid, 0 invalid, 0 unknown" in shown

    code = run(broken, "--since", "last", "--json")
    told = json.loads(capsys.readouterr().out)["runs"][0]["check_results"]

    assert code == ExitCode.RULE_BROKEN, "what was set aside yesterday and is not today is news"
    assert {row["rule"]: row["new_violations"] for row in told if row["status"] == "invalid"} == {
        "CommittedRecordsSurviveElections": 1, "NoLineWasRejected": 1,
    }  # fmt: skip


@pytest.mark.parametrize(("text", "minutes"), [("90m", 90), ("26h", 26 * 60), ("2d", 2 * 1440)])
def test_ages(text: str, minutes: int) -> None:
    """Minutes, hours, days."""
    assert max_age(click.Context(click.Command("c")), click.Option(["--max-age"]), text) == timedelta(minutes=minutes)


@pytest.mark.parametrize("text", ["26", "36501d", "999999999999d", "-1d", ""])
def test_an_age_that_is_none_is_usage(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A number without a unit, no number, or more than a calendar has."""
    assert main(["check", "--warehouse", "w", "--max-age", text]) == ExitCode.USAGE
    assert f"{text!r} is no time" in capsys.readouterr().err
