"""Verdicts as rows of `check_results`, `check_violations` and `partition_verdicts`, kept whether a rule held or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from expectations.capture_rules import is_fresh
from expectations.invariants import INVARIANTS
from expectations.policy import Policy
from expectations.verdict import PartitionVerdict, Verdict
from schemas import columns as C
from schemas.columns import Field
from schemas.tables import Table

RULES = {rule.name: rule for rule in (*INVARIANTS, is_fresh(datetime(1970, 1, 1, tzinfo=UTC)))}

Values = Mapping[Field, Any]


def result_rows(verdicts: Sequence[Verdict], run: Values, versions: Mapping[str, int], policy: Policy) -> list[Values]:
    """One row of `check_results` per verdict of a run; it is about all deliveries, so that it names no capture."""
    thresholds = {verdict.rule: policy.thresholds(verdict.rule) for verdict in verdicts}
    return [{**run, **_result(one, versions), C.THRESHOLDS: thresholds[one.rule]} for one in verdicts]


def violation_rows(verdicts: Sequence[Verdict], run: Values) -> list[Values]:
    """One row of `check_violations` per example of a broken rule."""
    return [{**run, **values} for verdict in verdicts for values in _violations(verdict)]


def partition_rows(verdicts: Sequence[PartitionVerdict], run: Values) -> list[Values]:
    """One row of `partition_verdicts` per partition."""
    return [
        {
            **run,
            C.TOPIC: verdict.partition.topic,
            C.TOPIC_ID: verdict.partition.topic_id,
            C.PARTITION: verdict.partition.partition,
            C.STATUS: verdict.status.value,
            C.SEVERITY: verdict.severity and verdict.severity.value,
            C.ROWS: verdict.rows,
            C.VIOLATIONS: verdict.violations,
            C.REASON: verdict.reason,
        }
        for verdict in verdicts
    ]


def in_order(table: Table, rows: Sequence[Values]) -> list[tuple[Any, ...]]:
    """The rows in the table's order of columns; a column that a row does not have does not apply to it."""
    return [tuple(row.get(column) for column in table.columns) for row in rows]


def _result(verdict: Verdict, versions: Mapping[str, int]) -> Values:
    rule = RULES[verdict.rule]
    return {
        C.RULE: verdict.rule,
        C.RULE_FINGERPRINT: rule.fingerprint,
        C.SEVERITY: verdict.severity.value,
        C.STATUS: verdict.status.value,
        C.TABLE_NAME: rule.subject.table.name,
        C.ROWS: verdict.rows,
        C.VIOLATIONS: verdict.violations,
        C.INPUT_VERSION: versions.get(rule.subject.table.name),
        C.REASON: verdict.reason,
        C.SUPPRESSED: verdict.suppressed,
        C.NEW_VIOLATIONS: verdict.new_violations,
    }


def _violations(verdict: Verdict) -> list[Values]:
    return [
        {
            C.RULE: verdict.rule,
            C.VIOLATED_KEYS: found.keys,
            C.OBSERVED: found.observed,
            C.CAPTURE_ID: found.capture_id,
            C.SOURCE_FILE: found.source_file,
            C.SOURCE_LINE: found.source_line,
            C.VIOLATION_ID: found.violation_id,
            C.IS_NEW: found.is_new,
            C.EVENTS_AROUND: found.events_around,
        }
        for found in verdict.examples
    ]
