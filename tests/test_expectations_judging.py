"""From rows to verdicts: Great Expectations decides, what fails is an error, what is not told is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from expectations import suites, witness
from expectations.invariants import INVARIANTS
from expectations.judging import judge
from expectations.tally import Tally
from expectations.verdict import Verdict, merge
from expectations.versions import is_at_least
from schemas import tables as T
from schemas.kinds import Severity, Status
from schemas.tables import Table
from tests.checked_rows import event, frames, lost, read_file, sound, version

RULES = {rule.name: rule for rule in INVARIANTS}
FILE_RULES = [RULES["EveryLineIsAccountedFor"], RULES["NoLineWasRejected"]]


def judged(spark: SparkSession, changed: dict[Table, Any], *names: str) -> dict[str, Verdict]:
    """The verdicts of the named rules on a sound history but for what is changed."""
    rules = [RULES[name] for name in names]
    return {verdict.rule: verdict for verdict in judge(frames(spark, sound() | changed), rules).verdicts}


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ("", "unknown"),
        ("valid valid", "valid"),
        ("valid unknown", "unknown"),
        ("valid unknown error", "error"),
        ("error valid invalid unknown", "invalid"),
    ],
)
def test_verdicts_merge_to_the_worst(statuses: str, expected: str) -> None:
    """A violation is certain whatever else failed; a gap is no pass; of nothing, nothing is known."""
    assert merge(Status(status) for status in statuses.split()) is Status(expected)


@pytest.mark.spark
def test_a_sound_history_is_valid(spark: SparkSession) -> None:
    """Every rule holds, in the rules' order, each judged on rows, or told that there was no case of it."""
    verdicts = judge(frames(spark, sound())).verdicts

    assert [verdict.rule for verdict in verdicts] == list(RULES)
    assert {verdict.rule: verdict.reason for verdict in verdicts if verdict.status is not Status.VALID} == {}
    without_rows = {verdict.rule: verdict.reason for verdict in verdicts if not verdict.rows}
    assert set(without_rows.values()) == {"the capture has no case of it"}
    assert "HighWatermarkStandsWhileUnderMinIsr" in without_rows


@pytest.mark.spark
def test_lost_records_are_found_with_their_witness(spark: SparkSession) -> None:
    """The verdict names the row, the values and the line; no other rule is broken by it."""
    broken = [v for v in judge(frames(spark, lost())).verdicts if v.status is Status.INVALID]

    assert [(v.rule, v.rows, v.violations) for v in broken] == [
        ("CommittedRecordsSurviveElections", 2, 1), ("CleanlyElectedLeaderHoldsTheHighWatermark", 2, 1),
    ]  # fmt: skip
    assert broken[0].examples[0].keys == {
        "topic": "ledger", "partition": "0", "leader_epoch": "2", "event_seq": "1"
    }  # fmt: skip
    assert broken[0].examples[0].observed == {
        "leader_id": "3", "highest_high_watermark_before": "11", "log_end_offset": "10"
    }  # fmt: skip
    assert (broken[0].examples[0].source_file, broken[0].examples[0].source_line) == ("broker-3/state-change.log", 1)
    assert "log_end_offset 10" in broken[0].reason
    around = broken[0].examples[0].events_around or ()
    assert [line.split(" at ")[0] for line in around] == [
        "  0/1 2026-11-21 10:49:23 BECOME_LEADER", "  0/2 2026-11-21 10:49:24 FETCH",
        "  0/3 2026-11-21 10:49:25 FETCH", "  1/1 2026-11-21 10:49:33 BECOME_LEADER",
        "> 2/1 2026-11-21 10:49:43 BECOME_LEADER",
    ]  # fmt: skip
    assert around[-1].endswith(
        "leader 3: LEO 10, HW 10 (exact), ISR [1, 2, 3], remote {} (broker-3/state-change.log:1)"
    )


@pytest.mark.spark
def test_a_violation_is_named_by_its_line(spark: SparkSession) -> None:
    """The same in every run, also where late files shift event_seq; another line is another violation."""
    name = "HighWatermarkNeverExceedsLogEndOffset"
    found = [
        judged(spark, {T.LEADER_TIMELINE: [event(0, seq, 5, 6, source_line=line)]}, name)[name].examples[0]
        for seq, line in ((1, 7), (2, 7), (1, 8))
    ]

    assert found[0].violation_id == found[1].violation_id != found[2].violation_id


@pytest.mark.spark
def test_a_rule_of_a_later_kafka_is_unknown(spark: SparkSession) -> None:
    """Before 3.7 the HW did rise under min ISR; where no line tells the version, nobody can say."""
    name = "HighWatermarkStandsWhileUnderMinIsr"
    alone = {"isr": [1], "is_under_min_isr": True}
    rises = {T.LEADER_TIMELINE: [event(0, 1, 9, 5), event(0, 2, 9, 6, **alone)]}
    found = {
        stated: judged(spark, rises | {T.SETTINGS: [version(one) for one in stated]}, name)[name]
        for stated in [("3.6.2", "4.1.0"), (), ("4.1.0",)]
    }

    assert [verdict.status for verdict in found.values()] == [Status.UNKNOWN, Status.UNKNOWN, Status.INVALID]
    assert found["3.6.2", "4.1.0"].reason == "true from Kafka 3.7 on; Kafka 3.6.2 ran"
    assert found[()].reason == "true from Kafka 3.7 on; no line tells Kafka's version"


@pytest.mark.parametrize(("ran", "holds"), [("3.10.0", True), ("3.7", True), ("3.6.9", False), (None, False)])
def test_versions_compare_as_numbers(ran: str | None, holds: bool) -> None:
    """3.10 is later than 3.7, and a rule for all versions is true of an unknown one."""
    assert is_at_least(ran, "3.7") is holds
    assert is_at_least(ran, "")


@pytest.mark.spark
def test_an_empty_table_is_no_pass(spark: SparkSession) -> None:
    """Files must have been read; that no broker stated its HW is a gap of the capture."""
    changed: dict[Table, Any] = {T.SOURCE_FILES: [], T.BROKER_STATEMENTS: []}
    found = judged(spark, changed, "NoLineWasRejected", "RebuiltHighWatermarkEqualsStated")

    assert {name: (verdict.status, verdict.reason) for name, verdict in found.items()} == {
        "NoLineWasRejected": (Status.ERROR, "table source_files is empty"),
        "RebuiltHighWatermarkEqualsStated": (
            Status.UNKNOWN,
            "no line of the capture tells, table broker_statements",
        ),
    }


@pytest.mark.spark
def test_a_rule_that_crashes_is_an_error_and_takes_none_with_it(spark: SparkSession) -> None:
    """A missing column fails at analysis, a cast while it runs, a missing table before: each alone."""
    crashing = [
        replace(FILE_RULES[0], name="ReadsAColumnThatIsNotThere", holds="no_such_column = 1"),
        replace(FILE_RULES[0], name="FailsWhileItRuns", holds="CAST(source_file AS int) = 1"),
        RULES["LeaderIsInIsr"],
    ]
    tables = frames(spark, {T.SOURCE_FILES: [read_file(rejected=1, landed=7)]})
    found = {verdict.rule: verdict for verdict in judge(tables, [*crashing, *FILE_RULES]).verdicts}

    assert {name: verdict.status for name, verdict in found.items()} == {
        "ReadsAColumnThatIsNotThere": Status.ERROR,
        "FailsWhileItRuns": Status.ERROR,
        "LeaderIsInIsr": Status.ERROR,
        "EveryLineIsAccountedFor": Status.VALID,
        "NoLineWasRejected": Status.INVALID,
    }
    assert "no_such_column" in found["ReadsAColumnThatIsNotThere"].reason
    assert "CAST_INVALID_INPUT" in found["FailsWhileItRuns"].reason
    assert found["LeaderIsInIsr"].reason == "LookupError: there is no table leader_timeline"


@pytest.mark.spark
def test_great_expectations_decides(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite that tolerates more makes the rule hold; one that asks for a violation, or fails, lets nothing pass."""
    broken = {T.SOURCE_FILES: [read_file(rejected=1, landed=7)]}
    suite_of = suites.suite_of

    def suite_with(**limits: Any) -> Any:
        def changed(tallies: Sequence[Tally]) -> Any:
            made = suite_of(tallies)
            for expectation in made.expectations:
                vars(expectation).update(limits)
            return made

        return changed

    def verdict(given: dict[Table, Any]) -> Verdict:
        return judged(spark, given, "NoLineWasRejected")["NoLineWasRejected"]

    before = verdict(broken)
    monkeypatch.setattr(suites, "suite_of", suite_with(max_value=1))
    lenient = verdict(broken)
    monkeypatch.setattr(suites, "suite_of", suite_with(min_value=1, max_value=1))
    strict = verdict({})
    monkeypatch.setattr(suites, "suite_of", suite_with(column="no_such_column"))
    failing = verdict({})

    assert [v.status for v in (before, lenient, strict, failing)] == [
        Status.INVALID, Status.VALID, Status.ERROR, Status.ERROR,
    ]  # fmt: skip
    assert strict.reason == "Great Expectations finds the rule broken, but no row breaks it"
    assert "no_such_column" in failing.reason


@pytest.mark.spark
def test_violations_are_counted_and_some_kept(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first are kept in the order of their keys, the number is the whole one."""
    monkeypatch.setattr(witness, "MOST_VIOLATIONS", 100)
    many: Sequence[Any] = [event(0, seq, 5, 6) for seq in range(1, 121)]
    name = "HighWatermarkNeverExceedsLogEndOffset"
    verdict = judged(spark, {T.LEADER_TIMELINE: many}, name)[name]

    assert (verdict.rows, verdict.violations, len(verdict.examples)) == (120, 120, 100)
    assert [violation.keys["event_seq"] for violation in verdict.examples[:3]] == ["1", "2", "3"]


@pytest.mark.spark
def test_nothing_is_left_in_memory(spark: SparkSession) -> None:
    """The rows are let go, and Great Expectations keeps none of its own."""
    kept = spark.sparkContext._jsc.getPersistentRDDs
    before = len(kept())
    judge(frames(spark, {T.SOURCE_FILES: [read_file()]}), FILE_RULES)

    assert len(kept()) <= before


def test_a_suite_says_what_its_rules_are() -> None:
    """What Great Expectations shows of a rule is what the table and the policy say of it."""
    tally = Tally(RULES["NoLineWasRejected"], "clicks-*", Severity.CRITICAL, 3, {})
    (shown,) = suites.suite_of([tally]).expectations

    assert (shown.column, shown.max_value, shown.severity) == ("NoLineWasRejected [clicks-*]", 3, "critical")
    assert shown.meta["holds"] == "lines_rejected = 0"
