"""Damage planted in a good history is seen by the rule that is meant for it; the good history breaks none."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from expectations import judging
from expectations.capture_rules import is_fresh
from expectations.invariants import INVARIANTS
from expectations.policy import Policy, RulePolicy
from expectations.verdict import Judgement, PartitionVerdict, Violation
from jobs.check_run import exit_code
from jobs.errors import ExitCode
from jobs.keeping import keeping
from replay.findings.finding import with_id
from replay.findings.incidents import incidents
from replay.findings.session_gaps import session_gaps
from replay.profile import Profile
from schemas import tables as T
from schemas.kinds import Severity, Status
from tests.checked_rows import at, read_file, version
from tests.damages import DAMAGES, DROPPED_FETCHES, Damage, damaged
from tests.frames import rows
from tests.sessions import with_unbroken

pytestmark = pytest.mark.spark

GOOD = "nothing"
RULES = {rule.name: rule for rule in INVARIANTS}


def tables_of(spark: SparkSession, files: list[Any]) -> dict[str, DataFrame]:
    """The good history and each damaged one, a topic each, but for findings."""
    given: dict[T.Table, list[Any]] = defaultdict(list)
    for damage in (None, *DAMAGES):
        name = damage.name if damage else GOOD
        for table, told in damaged(damage).items():
            given[table] += [{**row, "topic": name, "topic_id": name} for row in told]
    given |= {T.SOURCE_FILES: files, T.SETTINGS: [version("4.1.0")]}
    return {table.name: rows(spark, table, *given[table]) for table in (*T.LANDING_TABLES, *T.TIMELINE_TABLES)}


@pytest.fixture(scope="module")
def judged(spark: SparkSession) -> Judgement:
    """All histories judged at once, after the engine has looked for incidents in them."""
    tables = tables_of(spark, [read_file(broker=broker) for broker in (1, 2, 3)])
    landed = {table.name: tables[table.name] for table in T.LANDING_TABLES}
    leaders, replicas, cuts = (tables[t.name] for t in (T.LEADER_TIMELINE, T.REPLICA_TIMELINE, T.TRUNCATIONS))
    with keeping() as keep:
        found = incidents(landed, leaders, replicas, cuts, Profile(), keep).localCheckpoint()
    # Details of each broken rule have tests of their own; here nearly every rule is broken.
    told = (Violation("id", {}, {}, None, None, None),)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "violations", lambda *_: told)
        return judging.judge(tables | {T.INCIDENTS.name: found})


@pytest.fixture(scope="module")
def partitions(judged: Judgement) -> dict[str, PartitionVerdict]:
    """The verdict on each history."""
    return {verdict.partition.topic: verdict for verdict in judged.partitions}


def test_the_good_history_is_valid(partitions: dict[str, PartitionVerdict]) -> None:
    """No rule is broken, and nothing is unknown."""
    good = partitions[GOOD]

    assert (good.status, good.severity, good.violations, good.reason) == (Status.VALID, None, 0, "")
    assert good.rows > 100


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_damage_is_seen_by_its_rule(damage: Damage, judged: Judgement, partitions: dict[str, PartitionVerdict]) -> None:
    """The partition is invalid, the rule meant for it is named, and a scheduler is told: 2, of a warning 1 if asked."""
    found = partitions[damage.name]
    broken = {text.partition(":")[0] for text in found.reason.split("; ")}
    (verdict,) = [verdict for verdict in judged.verdicts if verdict.rule == damage.rule]

    assert (found.status, verdict.status) == (Status.INVALID, Status.INVALID)
    assert damage.rule in broken
    assert exit_code([verdict], "warn") is {
        Severity.CRITICAL: ExitCode.RULE_BROKEN, Severity.WARNING: ExitCode.WARNINGS
    }[verdict.severity]  # fmt: skip


def test_every_rule_of_a_partition_has_damage() -> None:
    """A rule without any would be one that nobody has seen at work."""
    of_partition = {rule.name for rule in INVARIANTS if rule.subject.is_of_partition}

    assert {damage.rule for damage in (*DAMAGES, DROPPED_FETCHES)} == of_partition
    assert len(DAMAGES) >= 40


@pytest.mark.parametrize(
    ("rule", "files"),
    [
        ("NoLineWasRejected", [read_file(rejected=1, landed=7), *[read_file(broker=b) for b in (2, 3)]]),
        ("EveryLineIsAccountedFor", [read_file(read=11), *[read_file(broker=b) for b in (2, 3)]]),
        ("EveryReplicaDeliveredItsLogs", [read_file(broker=b) for b in (1, 2)]),
        ("EventsAreFresh", [read_file(broker=b, last_at=at(60)) for b in (1, 2, 3)]),
    ],
)
def test_damage_to_the_capture_is_seen(rule: str, files: list[Any], spark: SparkSession) -> None:
    """Rejected lines, lines nobody counted, a broker without files, old events: the partitions are then unknown."""
    given = damaged(None) | {T.SOURCE_FILES: files}
    tables = {table.name: rows(spark, table, *given[table]) for table in (T.SOURCE_FILES, T.LEADER_TIMELINE, *_TOLD)}
    rules = {**RULES, "EventsAreFresh": is_fresh(at(0).astimezone(UTC) + timedelta(hours=1))}
    strict = Policy(rules={rule: RulePolicy(severity=Severity.CRITICAL)})
    found = judging.judge(tables, [rules[rule], RULES["LeaderIsInIsr"]], strict)

    assert {v.rule: (v.status, v.severity) for v in found.verdicts}[rule] == (Status.INVALID, Severity.CRITICAL)
    assert exit_code(found.verdicts, None) is ExitCode.RULE_BROKEN
    assert [(v.status, v.reason) for v in found.partitions] == [(Status.UNKNOWN, f"the capture breaks {rule}")]


def test_brokers_may_be_idle(spark: SparkSession) -> None:
    """Where nothing is appended, fetched or elected the last line of a log tells that logs come."""
    given = damaged(None) | {T.SOURCE_FILES: [read_file(), read_file(broker=2, last_at=at(7_200))]}
    tables = {table.name: rows(spark, table, *given[table]) for table in (T.SOURCE_FILES, T.LEADER_TIMELINE)}
    (told,) = judging.judge(tables, [is_fresh(at(0).astimezone(UTC) + timedelta(hours=1))]).verdicts

    assert told.status == Status.VALID


def test_dropped_fetches_are_a_gap_in_their_session(spark: SparkSession) -> None:
    """The gap is the capture's, not one partition's: which of those that the session names lacks a fetch is unknown."""
    given = damaged(DROPPED_FETCHES)
    given[T.FETCH_EVENTS] = with_unbroken(given[T.FETCH_EVENTS])
    tables = {table.name: rows(spark, table, *given[table]) for table in (T.FETCH_EVENTS, T.LEADER_TIMELINE)}
    tables[T.SOURCE_FILES.name] = rows(spark, T.SOURCE_FILES, read_file())
    gaps = with_id(session_gaps(tables[T.FETCH_EVENTS.name]))
    found = judging.judge(tables | {T.INCIDENTS.name: gaps}, [RULES[DROPPED_FETCHES.rule], RULES["LeaderIsInIsr"]])

    assert [v.status for v in found.verdicts] == [Status.INVALID, Status.VALID]
    assert exit_code(found.verdicts, "warn") is ExitCode.WARNINGS
    assert [(v.status, v.reason) for v in found.partitions] == [
        (Status.UNKNOWN, "the capture breaks FetchSessionsHaveNoGaps")
    ]


_TOLD = (T.LEADER_CHANGES, T.METADATA_CHANGES)
