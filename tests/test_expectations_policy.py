"""What a site makes of the rules: limits, suppressions, and a file that says so, refused by name where it is wrong."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from expectations.capture_rules import is_fresh
from expectations.counts import Count, Measure, Partition
from expectations.earlier import Earlier, with_news
from expectations.errors import PolicyError
from expectations.invariants import INVARIANTS
from expectations.policy import Limits, Policy
from expectations.policy_file import read_policy
from expectations.results import RULES
from expectations.tally import suppressed, tallies
from expectations.verdict import Verdict, Violation
from schemas.kinds import Severity, Status

ROOT = Path(__file__).parent.parent
TODAY = date(2026, 11, 21)
RULE = RULES["IsrMembersKeepUp"]
CLICKS, ORDERS = Partition("clicks-eu", "", 0), Partition("orders", "", 3)


def policy(text: str) -> Policy:
    """The policy of a file."""
    return read_policy(text, "check.yaml", RULES, TODAY)


@pytest.mark.parametrize(
    ("limits", "rows", "allowed"),
    [
        (Limits(), 1000, 0),
        (Limits(max_violations=3), 1000, 3),
        (Limits(max_percent=0.5), 1000, 5),
        (Limits(max_percent=0.5), 199, 0),
        (Limits(max_percent=0.57), 10_000, 57),
        (Limits(max_violations=3, max_percent=0.5), 1000, 3),
        (Limits(max_violations=30, max_percent=0.5), 1000, 5),
    ],
)
def test_limits(limits: Limits, rows: int, allowed: int) -> None:
    """None by default, a number, a share rounded down, and the smaller where both are given."""
    assert limits.allowed(rows) == allowed


def test_topics_are_counted_by_themselves() -> None:
    """The first pattern that matches has the violations; what is suppressed counts nowhere."""
    made = policy(
        "rules: {IsrMembersKeepUp: {severity: critical, topics: [{topic: 'clicks-*', max_violations: 7}]}}\n"
        "suppressions: [{rule: IsrMembersKeepUp, topic: orders, partition: 3, reason: disk, expires: 2026-11-21}]"
    )
    measure = Measure(RULE, {CLICKS: Count(50, 5), ORDERS: Count(9, 2), None: Count(1, 1)}, 60)
    found = {tally.name: (tally.allowed, tally.total, tally.severity) for tally in tallies(measure, made)}

    assert found == {
        "IsrMembersKeepUp": (0, 1, Severity.CRITICAL), "IsrMembersKeepUp [clicks-*]": (7, 5, Severity.CRITICAL),
    }  # fmt: skip
    assert suppressed(measure, made) == {ORDERS: Count(9, 2)}
    assert made.thresholds(RULE.name) == {"*": "max_violations 0", "clicks-*": "max_violations 7"}


@pytest.mark.parametrize(
    ("where", "covered"),
    [
        ("", {CLICKS, ORDERS, None}),
        ("topic: 'o*'", {ORDERS}),
        ("topic: orders, partition: 3", {ORDERS}),
        ("topic: orders, partition: 4", set()),
    ],
)
def test_what_a_suppression_covers(where: str, covered: set[Partition | None]) -> None:
    """All topics, some, or one partition; what is of no topic only without one."""
    told = f"rule: IsrMembersKeepUp, reason: disk, expires: 2999-01-01{', ' if where else ''}{where}"
    made = policy(f"suppressions: [{{{told}}}]")

    assert {p for p in (CLICKS, ORDERS, None) if made.suppression(RULE.name, p)} == covered
    assert made.suppression("LeaderIsInIsr", CLICKS) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: [", "check.yaml, line 1: no YAML: expected the node content, but found '<stream end>'"),
        ("a: 1\na: 2", "check.yaml, line 2: no YAML: found duplicate key"),
        ("- a", "check.yaml: it takes keys and values"),
        ("rulez: {}", "check.yaml: rulez: there is no such key; did you mean rules?; known: rules, suppressions"),
        ("rules: {LeaderIsInIsrs: {}}", "check.yaml: rules: there is no rule LeaderIsInIsrs; did you mean LeaderIsInIsr?"),
        (
            "rules: {LeaderIsInIsr: {max_violation: 2}}",
            ("check.yaml: rules.LeaderIsInIsr.max_violation: there is no such key; did you mean max_violations?; "
            "known: max_percent, max_violations, severity, topics"),
        ),
        ("rules: {LeaderIsInIsr: {max_violations: -1}}", "check.yaml: rules.LeaderIsInIsr.max_violations: Input should"),
        ("rules: {LeaderIsInIsr: {max_violations: '2'}}", "check.yaml: rules.LeaderIsInIsr.max_violations: Input should"),
        ("rules: {LeaderIsInIsr: {max_percent: 101}}", "check.yaml: rules.LeaderIsInIsr.max_percent: Input should"),
        ("rules: {LeaderIsInIsr: {severity: bad}}", "check.yaml: rules.LeaderIsInIsr.severity: Input should be 'critical'"),
        (
            "rules: {LeaderIsInIsr: {topics: [{topic: a, max: 2}]}}",
            "check.yaml: rules.LeaderIsInIsr.topics.0.max: there is no such key; known: max_percent, max_violations, topic",
        ),
        ("suppressions: [{rule: LeaderIsInIsr, reason: x}]", "check.yaml: suppressions.0.expires: Field required"),
        ("suppressions: [{rule: LeaderIsInIsr, expires: 2999-01-01}]", "check.yaml: suppressions.0.reason: Field required"),
        ("suppressions: [{rule: Some, reason: x, expires: 2999-01-01}]", "check.yaml: suppressions.0.rule: there is no rule"),
        (
            "suppressions: [{rule: LeaderIsInIsr, reason: x, expires: 2999-01-01, partition: 3}]",
            "check.yaml: suppressions.0: Value error, partition without topic",
        ),
        (
            "suppressions: [{rule: LeaderIsInIsr, topic: a, partition: 1, reason: disk, expires: 2026-11-20}]",
            "check.yaml: the suppression of LeaderIsInIsr of a-1 expired on 2026-11-20 (disk): renew or remove it",
        ),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_refused_by_name(text: str, said: str) -> None:
    """One line: the file, the key, what is wrong with it and what was perhaps meant."""
    with pytest.raises(PolicyError) as refused:
        policy(text)

    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_an_empty_file_asks_for_nothing() -> None:
    """Every rule as its table says."""
    assert policy("# nothing yet") == Policy()


def test_the_example_is_a_policy() -> None:
    """What conf/ shows can be used as it stands."""
    made = read_policy((ROOT / "conf" / "check-example.yaml").read_text(), "check-example.yaml", RULES, TODAY)

    assert set(made.rules) | {one.rule for one in made.suppressions} <= {rule.name for rule in INVARIANTS}


def violated(*ids: str, in_all: int = 0) -> Verdict:
    """A broken rule with these violations kept, of so many."""
    examples = tuple(Violation(name, {}, {}, None, None, None) for name in ids)
    return Verdict(RULE.name, Severity.CRITICAL, Status.INVALID, 9, in_all or len(ids), examples=examples)


@pytest.mark.parametrize(
    ("now", "before", "new", "are_new"),
    [
        (violated("a", "b"), None, 2, [True, True]),
        (violated("a", "b"), Earlier("another", 2, frozenset("ab")), 2, [True, True]),
        (violated("a", "b"), Earlier(RULE.fingerprint, 2, frozenset("ab")), 0, [False, False]),
        (violated("a", "c"), Earlier(RULE.fingerprint, 2, frozenset("ab")), 1, [False, True]),
        (violated("a", in_all=9), Earlier(RULE.fingerprint, 7, frozenset("a")), 2, [None]),
        (violated("c"), Earlier(RULE.fingerprint, 7, frozenset("a")), 0, [None]),
    ],
)
def test_what_is_new(now: Verdict, before: Earlier | None, new: int, are_new: list[bool | None]) -> None:
    """By what names each violation; by their number where a run had more than it kept; all, if the rule is another."""
    told = with_news(now, RULE, before)

    assert (told.new_violations, [example.is_new for example in told.examples]) == (new, are_new)
    assert told.is_broken is (new > 0)


def test_that_nothing_came_is_news_in_every_run() -> None:
    """Yesterday's run said so of yesterday: a scheduler that asks for what is new hears of it as long as it lasts."""
    today, yesterday = (is_fresh(datetime(2026, 11, day, tzinfo=UTC)) for day in (22, 21))
    told = with_news(violated("a"), today, Earlier(yesterday.fingerprint, 1, frozenset("a")))

    assert today.fingerprint == yesterday.fingerprint
    assert (told.new_violations, [example.is_new for example in told.examples]) == (1, [True])
