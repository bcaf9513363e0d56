"""How rules are judged: a verdict per row and rule, one pass per subject, details only of what is broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from expectations.invariant import Invariant
from expectations.invariants import INVARIANTS
from expectations.subjects import Subject, Tables
from expectations.verdict import Verdict, Violation
from expectations.versions import is_at_least, lowest_version
from schemas import columns as C
from schemas.kinds import Status

MOST_VIOLATIONS = 100
"""Violations kept per rule and run; their number is always the whole one."""

_ALL = "all_rows"


@dataclass(frozen=True)
class _Judged:
    """A subject's rows with a verdict per rule, and their counts."""

    subject: Subject
    frame: DataFrame
    counts: Row


def judge(tables: Tables, rules: Sequence[Invariant] = INVARIANTS) -> list[Verdict]:
    """One verdict per rule, in the rules' order. Nothing raises: what cannot be judged is an error of its rule."""
    version = lowest_version(tables)
    too_old = {rule.name: _too_old(rule, version) for rule in rules if not is_at_least(version, rule.since)}
    current = sorted((rule for rule in rules if rule.name not in too_old), key=lambda rule: rule.subject.name)
    verdicts = dict(too_old)
    for _, group in groupby(current, key=lambda rule: rule.subject.name):
        verdicts |= {verdict.rule: verdict for verdict in _judge_together(tables, list(group))}
    return [verdicts[rule.name] for rule in rules]


def row_verdict(rule: Invariant) -> Column:
    """A row's verdict: NULL where the rule does not speak of it, else unknown, valid or invalid; fails closed."""
    return (
        F.when(~F.coalesce(F.expr(rule.scope), F.lit(True)), F.lit(None).cast(C.TEXT))
        .when(~F.coalesce(F.expr(rule.known), F.lit(True)), Status.UNKNOWN.value)
        .when(F.coalesce(F.expr(rule.holds), F.lit(False)), Status.VALID.value)
        .otherwise(Status.INVALID.value)
    )


def _judge_together(tables: Tables, rules: Sequence[Invariant]) -> Iterable[Verdict]:
    """The verdicts of one subject's rules in one pass; if that fails each rule alone, so that one fails alone."""
    from expectations.suites import broken_rules  # noqa: PLC0415 - it takes seconds, and `--help` needs none of it

    try:
        with _judged(tables, rules) as judged:
            broken = broken_rules(judged.frame, judged.subject.name, rules) if judged.counts[_ALL] else set()
            return [_verdict(judged, rule, is_broken=rule.name in broken) for rule in rules]
    except Exception as error:  # noqa: BLE001 - whatever a rule does, it is that rule's error and no pass
        if len(rules) == 1:
            return [_error(rules[0], _first_line(error))]
        return [verdict for rule in rules for verdict in _judge_together(tables, [rule])]


@contextmanager
def _judged(tables: Tables, rules: Sequence[Invariant]) -> Iterator[_Judged]:
    """The subject's rows with a column per rule, kept in memory while they are looked at."""
    subject = rules[0].subject
    missing = [name for name in subject.reads if name not in tables]
    if missing:
        message = f"there is no table {missing[0]}"
        raise LookupError(message)
    frame = subject.rows(tables).withColumns({rule.name: row_verdict(rule) for rule in rules}).persist()
    try:
        counts = frame.agg(F.count(F.lit(1)).alias(_ALL), *[c for rule in rules for c in _counts(rule)]).first()
        if counts is None:
            message = "an aggregate without a row"
            raise LookupError(message)
        yield _Judged(subject, frame, counts)
    finally:
        frame.unpersist()


def _counts(rule: Invariant) -> tuple[Column, Column]:
    """How many rows the rule speaks of, and of how many of them too little is known."""
    verdict = F.col(rule.name)
    return F.count(verdict).alias(_scope(rule)), F.count_if(verdict == Status.UNKNOWN.value).alias(_unknown(rule))


def _verdict(judged: _Judged, rule: Invariant, *, is_broken: bool) -> Verdict:
    """The rule's verdict over all rows of its subject."""
    in_scope, unknown = judged.counts[_scope(rule)], judged.counts[_unknown(rule)]
    rows = in_scope - unknown
    if is_broken:
        return _broken(judged, rule, rows)
    if not judged.counts[_ALL] and not judged.subject.empty_holds:
        if judged.subject.may_be_empty:
            return _plain(rule, Status.UNKNOWN, 0, f"no line of the capture tells, table {judged.subject.table.name}")
        return _error(rule, f"table {judged.subject.table.name} is empty")
    if unknown:
        return _plain(rule, Status.UNKNOWN, rows, f"too little is known of {unknown:,} rows; the rest hold")
    return _plain(rule, Status.VALID, rows, "" if rows else "the capture has no case of it")


def _broken(judged: _Judged, rule: Invariant, rows: int) -> Verdict:
    """The verdict of a broken rule: how many rows break it, and the first of them."""
    against = judged.frame.where(F.col(rule.name) == Status.INVALID.value)
    keys = judged.subject.keys
    named = against.orderBy(*keys).select(
        *[F.col(c).cast(C.TEXT).alias(f"key_{c}") for c in keys],
        *[F.col(c).cast(C.TEXT).alias(f"seen_{c}") for c in rule.observed],
        C.CAPTURE_ID, C.SOURCE_FILE, C.SOURCE_LINE,
    )  # fmt: skip
    examples = tuple(_violation(judged.subject, rule, row) for row in named.limit(MOST_VIOLATIONS).collect())
    if not examples:
        message = "Great Expectations finds the rule broken, but no row breaks it"
        raise RuntimeError(message)
    count = len(examples) if len(examples) < MOST_VIOLATIONS else against.count()
    return Verdict(rule.name, rule.severity, Status.INVALID, rows, count, f"first: {examples[0]}", examples)


def _violation(subject: Subject, rule: Invariant, row: Row) -> Violation:
    """A row that breaks the rule; a NULL is shown, it may be what broke it."""
    return Violation(
        keys={str(c): str(row[f"key_{c}"]) for c in subject.keys if row[f"key_{c}"] not in (None, "")},
        observed={str(c): "NULL" if row[f"seen_{c}"] is None else row[f"seen_{c}"] for c in rule.observed},
        capture_id=row[C.CAPTURE_ID],
        source_file=row[C.SOURCE_FILE],
        source_line=row[C.SOURCE_LINE],
    )


def _too_old(rule: Invariant, version: str | None) -> Verdict:
    """Unknown: the rule is of a later Kafka than the one that ran, or no line tells which ran."""
    ran = f"Kafka {version} ran" if version else "no line tells Kafka's version"
    return _plain(rule, Status.UNKNOWN, 0, f"true from Kafka {rule.since} on; {ran}")


def _error(rule: Invariant, reason: str) -> Verdict:
    return _plain(rule, Status.ERROR, 0, reason)


def _plain(rule: Invariant, status: Status, rows: int, reason: str) -> Verdict:
    return Verdict(rule.name, rule.severity, status, rows, 0, reason)


def _scope(rule: Invariant) -> str:
    return f"{rule.name} in scope"


def _unknown(rule: Invariant) -> str:
    return f"{rule.name} unknown"


def _first_line(error: Exception) -> str:
    """What went wrong, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
