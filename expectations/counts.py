"""What became of a rule: its counts by partition, or why it could not be judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from expectations.invariant import Invariant


class Partition(NamedTuple):
    """A partition of a cluster; `topic_id` is '' where the version has none."""

    topic: str
    topic_id: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Count(NamedTuple):
    """Rows a rule was judged on, rows among them that break it, and rows of which too little is known to judge."""

    rows: int = 0
    violations: int = 0
    unknown: int = 0

    def plus(self, other: Count) -> Count:
        """Both together."""
        return Count(*map(sum, zip(self, other, strict=True)))


@dataclass(frozen=True)
class Measure:
    """A rule's counts by partition (None: of the whole capture), and how many rows its subject has at all."""

    rule: Invariant
    counts: Mapping[Partition | None, Count]
    subject_rows: int

    @property
    def total(self) -> Count:
        """All partitions together."""
        total = Count()
        for count in self.counts.values():
            total = total.plus(count)
        return total


@dataclass(frozen=True)
class Failure:
    """A rule that could not be judged, and why."""

    rule: Invariant
    reason: str
