"""The rules' subjects as views for SQL: what docs/rules.md selects the rows that break a rule from."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from expectations.invariants import INVARIANTS
from expectations.subject import Subject
from replay.views.catalog import View


def view_of(subject: Subject) -> View:
    """The subject under its SQL name."""
    return View(subject.view, subject.comment, (subject.table, *subject.beside), _maker(subject))


def _maker(subject: Subject) -> Callable[..., DataFrame]:
    """The subject's rows of its tables, given in the order of `View.of`."""
    return lambda *frames: subject.rows(dict(zip(subject.reads, frames, strict=True)))


RULE_VIEWS = tuple(view_of(subject) for subject in dict.fromkeys(rule.subject for rule in INVARIANTS))
"""A view per subject, in the order of the rules."""
