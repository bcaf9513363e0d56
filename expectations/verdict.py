"""Verdicts: three-valued where a rule could be judged, `error` where judging failed; never a pass by default."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from expectations.counts import Partition
from expectations.tally import Tally
from schemas.kinds import Severity, Status

PRIORITY = (Status.INVALID, Status.ERROR, Status.UNKNOWN, Status.VALID)
"""The worst first: a violation is certain whatever else failed, and a gap is no pass."""


@dataclass(frozen=True)
class Violation:
    """A row that breaks a rule: what names it, the values the rule compared, and the line it came from."""

    violation_id: str
    keys: dict[str, str]
    observed: dict[str, str]
    capture_id: str | None
    source_file: str | None
    source_line: int | None
    is_new: bool | None = None
    """Whether the run it was compared with had it not; None where nothing was compared, or that run kept too few."""
    events_around: tuple[str, ...] | None = None
    """The leader's events before and after it, a line each; of a rule's first violation alone."""

    def __str__(self) -> str:
        """The row in words: `ledger-0 leader_epoch 2 …: log_end_offset 10 …`."""
        return f"{_words(self.keys)}: {_words(self.observed)}"


@dataclass(frozen=True)
class Verdict:
    """What became of a rule: rows it was judged on, how many break it, and why it is not simply valid."""

    rule: str
    severity: Severity
    status: Status
    rows: int = 0
    violations: int = 0
    reason: str = ""
    suppressed: int = 0
    """Violations among them that the policy sets aside; of a broken rule also those that it tolerates."""
    new_violations: int | None = None
    """Violations that the run it was compared with had not; None where nothing was compared."""
    examples: tuple[Violation, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether a scheduler is to be told: with a run to compare with, only of what is new."""
        return self.status is Status.INVALID and self.new_violations != 0


@dataclass(frozen=True)
class PartitionVerdict:
    """What became of a partition: the worst of its rules, and which those are."""

    partition: Partition
    status: Status
    severity: Severity | None
    """The worst severity among the rules it breaks; None where it breaks none."""
    rows: int
    violations: int
    reason: str


@dataclass(frozen=True)
class Judgement:
    """What became of a cluster's tables: a verdict per rule, in the rules' order, and one per partition."""

    verdicts: list[Verdict]
    partitions: list[PartitionVerdict]
    tallies: list[Tally]
    """What Great Expectations was asked about."""


def merge(statuses: Iterable[Status]) -> Status:
    """The verdict of several: the worst of them; of none at all nothing is known."""
    found = set(statuses)
    return next((status for status in PRIORITY if status in found), Status.UNKNOWN)


def _words(values: dict[str, str]) -> str:
    """Names and values in one line."""
    return ", ".join(f"{name} {value}" for name, value in values.items())
