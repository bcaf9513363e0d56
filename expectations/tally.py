"""Violations counted against what a policy tolerates: what Great Expectations is asked about."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from expectations.counts import Count, Measure, Partition
from expectations.invariant import Invariant
from expectations.policy import Limits, Policy, TopicLimits
from schemas.kinds import Severity

_NO_NAME = re.compile(r"[^a-z0-9_*?-]")
"""What a column's name is better without: a dot or a backtick ends it, and Spark takes A and a for the same."""


@dataclass(frozen=True)
class Tally:
    """Violations of a rule that count together: those of some topics, or the rest; suppressed ones are left out."""

    rule: Invariant
    topics: str
    """The pattern these topics have limits of their own by; '' for the rest."""
    severity: Severity
    allowed: int
    violations: Mapping[Partition | None, int]

    @property
    def name(self) -> str:
        """The column of these violations: the rule's name, with the topics where they are not all."""
        return _name(self.rule, self.topics)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.violations.values())


def tallies(measure: Measure, policy: Policy) -> list[Tally]:
    """The tallies of a rule: its own, and one per pattern of topics that has limits and rows."""
    made = policy.of(measure.rule.name)
    rows: dict[str, int] = defaultdict(int, {"": 0})
    counted: dict[str, dict[Partition | None, int]] = defaultdict(dict, {"": {}})
    limits: dict[str, Limits] = {"": made}
    for partition, count in measure.counts.items():
        own = made.group(partition)
        label = own.topic if own else ""
        limits[label] = own or made
        rows[label] += count.rows
        if count.violations and policy.suppression(measure.rule.name, partition) is None:
            counted[label][partition] = count.violations
    severity = made.severity or measure.rule.severity
    return [
        Tally(measure.rule, label, severity, limits[label].allowed(judged), counted[label])
        for label, judged in rows.items()
    ]


def suppressed(measure: Measure, policy: Policy) -> dict[Partition | None, Count]:
    """The partitions whose violations of a rule are set aside."""
    return {
        partition: count
        for partition, count in measure.counts.items()
        if count.violations and policy.suppression(measure.rule.name, partition) is not None
    }


def tolerated(counted: Sequence[Tally], broken: set[str]) -> dict[Partition | None, int]:
    """Violations by partition of the tallies that are not `broken`."""
    return {
        partition: count
        for tally in counted
        if tally.name not in broken
        for partition, count in tally.violations.items()
    }


def tally_of(rule: Invariant, group: TopicLimits | None) -> str:
    """Name of the tally that the violations of a group of topics count towards."""
    return _name(rule, group.topic if group else "")


def _name(rule: Invariant, topics: str) -> str:
    if not topics:
        return rule.name
    readable = _NO_NAME.sub("_", topics.lower())
    if readable != topics:  # another pattern may read the same
        readable += f" {hashlib.sha256(topics.encode()).hexdigest()[:8]}"
    return f"{rule.name} [{readable}]"
