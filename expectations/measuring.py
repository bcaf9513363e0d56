"""How often each rule is kept and broken: one aggregate per subject, a count per partition and rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from itertools import groupby
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from expectations.counts import Count, Failure, Measure, Partition
from expectations.each import Each
from expectations.invariant import Invariant
from expectations.subject import Tables
from schemas import columns as C
from schemas.kinds import Status

_ALL, _WORD = "all_rows", "verdicts"
_UNKNOWN, _VALID, _INVALID = 3, 1, 2
_WORDS = (0, _UNKNOWN, _VALID, _INVALID)
"""What a rule says of a row, in two bits, in the order of `_case`."""


def row_verdict(rule: Invariant) -> Column:
    """A row's verdict: NULL where the rule does not speak of it, else unknown, valid or invalid; fails closed."""
    return _case(rule, None, Status.UNKNOWN.value, Status.VALID.value, Status.INVALID.value)


def _case(rule: Invariant, silent: Any, unknown: Any, valid: Any, invalid: Any) -> Column:
    """The rule's word on a row, as one of four values."""
    return (
        F.when(~F.coalesce(F.expr(rule.scope), F.lit(True)), F.lit(silent))
        .when(~F.coalesce(F.expr(rule.known), F.lit(True)), unknown)
        .when(F.coalesce(F.expr(rule.holds), F.lit(False)), valid)
        .otherwise(invalid)
    )


def measure(tables: Tables, rules: Sequence[Invariant], each: Each = map) -> dict[str, Measure | Failure]:
    """What became of each rule, by its name. Nothing raises: what cannot be judged is a failure of its rule.

    `each` is how the subjects are measured: one after the other, or at once.
    """
    in_order = sorted(rules, key=lambda rule: rule.subject.name)
    subjects = [list(group) for _, group in groupby(in_order, key=lambda rule: rule.subject.name)]
    measured = each(partial(_measure_together, tables), subjects)
    return {found.rule.name: found for of_subject in measured for found in of_subject}


def judged_rows(tables: Tables, rules: Sequence[Invariant]) -> DataFrame:
    """The rows of the rules' one subject, with a column per rule: the row's verdict."""
    return _subject_rows(tables, rules).withColumns({rule.name: row_verdict(rule) for rule in rules})


def _subject_rows(tables: Tables, rules: Sequence[Invariant]) -> DataFrame:
    """The rows of the rules' one subject; raises where a table or a column of one is missing."""
    subject = rules[0].subject
    for table in (subject.table, *subject.beside):
        if table.name not in tables:
            message = f"there is no table {table.name}"
            raise LookupError(message)
        missing = [str(c) for c in table.columns if c not in tables[table.name].columns]
        if missing:
            message = f"table {table.name} has no column {missing[0]}"
            raise LookupError(message)
    return subject.rows(tables)


def _measure_together(tables: Tables, rules: Sequence[Invariant]) -> Iterable[Measure | Failure]:
    """The counts of one subject's rules in one pass; if that fails each rule alone, so that one fails alone."""
    try:
        return _measure(tables, rules)
    except Exception as error:  # noqa: BLE001 - whatever a rule does, it is that rule's error and no pass
        if len(rules) == 1:
            return [Failure(rules[0], first_line(error))]
        return [found for rule in rules for found in _measure_together(tables, [rule])]


def _measure(tables: Tables, rules: Sequence[Invariant]) -> list[Measure]:
    """The counts of one subject's rules.

    A row's verdicts make one number, two bits a rule. Rows are counted by it first, a handful of numbers a partition,
    and each rule's counts are read off those: three counters a rule, each updated on each row, would cost more than
    the rules themselves.
    """
    # The key of the subjects' own windows and joins, cluster included: their shuffle serves the aggregate too.
    by = C.PARTITION_KEY if rules[0].subject.is_of_partition else ()
    words = [F.shiftleft(_case(rule, *_WORDS).cast(C.LONG), 2 * place) for place, rule in enumerate(rules)]
    judged = _subject_rows(tables, rules).select(*by, reduce(Column.bitwiseOR, words).alias(_WORD))
    counted = judged.groupBy(*by, _WORD).agg(F.count(F.lit(1)).alias(_ALL))
    columns = [
        F.sum(F.when(_said(place).isin(*words), F.col(_ALL)).otherwise(0)).alias(f"{name} {rule.name}")
        for place, rule in enumerate(rules)
        for name, words in zip(Count._fields, ((_VALID, _INVALID), (_INVALID,), (_UNKNOWN,)), strict=True)
    ]
    rows = counted.groupBy(*by).agg(F.sum(_ALL).alias(_ALL), *columns).where(F.col(_ALL) > 0).collect()
    of = [Partition(*(row[c] for c in Partition._fields)) if by and row[C.TOPIC] else None for row in rows]
    in_all = sum(row[_ALL] for row in rows)
    return [
        Measure(rule, {key: _count(row, rule) for key, row in zip(of, rows, strict=True)}, in_all) for rule in rules
    ]


def _said(place: int) -> Column:
    """The two bits of a rule in the number of a row's verdicts."""
    return F.shiftright(_WORD, 2 * place).bitwiseAND(3)


def _count(row: Row, rule: Invariant) -> Count:
    """A rule's counts in a row of the aggregate."""
    return Count(*(row[f"{name} {rule.name}"] for name in Count._fields))


def first_line(error: Exception) -> str:
    """What went wrong, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
