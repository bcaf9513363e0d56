"""The rows that break a rule, with what shows each: looked up only once a rule is known to be broken."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from expectations.counts import Partition
from expectations.invariant import Invariant
from expectations.measuring import judged_rows
from expectations.subject import Subject, Tables
from expectations.surroundings import ANCHOR, anchor, events_around
from expectations.verdict import Violation
from schemas import columns as C
from schemas.kinds import Status

MOST_VIOLATIONS = 1000
"""Violations kept per rule and run; their number is always the whole one."""

Partitions = Sequence[Partition | None]


@contextmanager
def broken_rows(tables: Tables, rules: Sequence[Invariant]) -> Iterator[DataFrame]:
    """The rows of the rules' one subject that break any of them, kept while they are looked at."""
    rows = judged_rows(tables, rules)
    is_broken = F.exists(F.array(*[rule.name for rule in rules]), lambda verdict: verdict == Status.INVALID.value)
    kept = rows.where(is_broken).persist()
    try:
        yield kept
    finally:
        kept.unpersist()


def violations(tables: Tables, rows: DataFrame, rule: Invariant, set_aside: Partitions) -> tuple[Violation, ...]:
    """The first violations of a rule in the order of its subject's keys, but for partitions that are set aside."""
    keys = rule.subject.keys
    against = rows.where((F.col(rule.name) == Status.INVALID.value) & ~_is_in(rule.subject, set_aside))
    named = against.orderBy(*keys).select(
        *[F.col(c).cast(C.TEXT).alias(f"key_{c}") for c in keys],
        *[F.col(c).cast(C.TEXT).alias(f"seen_{c}") for c in rule.observed],
        *C.LINE, anchor(rows, rule.subject).alias(ANCHOR),
    )  # fmt: skip
    found = named.limit(MOST_VIOLATIONS).collect()
    told = [_violation(rule, row) for row in found]
    if told and found[0][ANCHOR] is not None:
        told[0] = replace(told[0], events_around=events_around(tables, found[0][ANCHOR]))
    return tuple(told)


def _violation(rule: Invariant, row: Row) -> Violation:
    """A row that breaks the rule; a NULL is shown, it may be what broke it."""
    subject = rule.subject
    keys = {str(c): str(row[f"key_{c}"]) for c in subject.keys if row[f"key_{c}"] not in (None, "")}
    return Violation(
        violation_id=_id(rule, subject, row, keys),
        keys=keys,
        observed={str(c): "NULL" if row[f"seen_{c}"] is None else row[f"seen_{c}"] for c in rule.observed},
        capture_id=row[C.CAPTURE_ID],
        source_file=row[C.SOURCE_FILE],
        source_line=row[C.SOURCE_LINE],
    )


def _id(rule: Invariant, subject: Subject, row: Row, keys: dict[str, str]) -> str:
    """What names the violation in every run: the line where there is one, for event_seq may shift with new files."""
    line = [str(row[c]) for c in C.LINE]
    of_partition = [keys.get(c, "") for c in (C.TOPIC, C.TOPIC_ID, C.PARTITION)]
    named = [*of_partition, *line] if row[C.SOURCE_LINE] is not None else [keys.get(c, "") for c in subject.keys]
    return hashlib.sha256("\n".join([rule.fingerprint, *named]).encode()).hexdigest()[:16]


def _is_in(subject: Subject, partitions: Partitions) -> Column:
    """Whether a row is of one of these partitions; None is what is of no partition."""
    if not subject.is_of_partition:
        return F.lit(None in partitions)
    named = ["\n".join(map(str, one)) for one in partitions if one is not None]
    is_of_none = (F.coalesce(C.TOPIC, F.lit("")) == "") if None in partitions else F.lit(False)
    return is_of_none | F.concat_ws("\n", *[F.col(c).cast(C.TEXT) for c in Partition._fields]).isin(named)
