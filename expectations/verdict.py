"""Verdicts: three-valued where a rule could be judged, `error` where judging failed; never a pass by default."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.kinds import Severity, Status

PRIORITY = (Status.INVALID, Status.ERROR, Status.UNKNOWN, Status.VALID)
"""The worst first: a violation is certain whatever else failed, and a gap is no pass."""


@dataclass(frozen=True)
class Violation:
    """A row that breaks a rule: what names it, the values the rule compared, and the line it came from."""

    keys: dict[str, str]
    observed: dict[str, str]
    capture_id: str | None
    source_file: str | None
    source_line: int | None

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
    examples: tuple[Violation, ...] = ()


def merge(statuses: Iterable[Status]) -> Status:
    """The verdict of several: the worst of them; of none at all nothing is known."""
    found = set(statuses)
    return next((status for status in PRIORITY if status in found), Status.UNKNOWN)


def _words(values: dict[str, str]) -> str:
    """Names and values in one line."""
    return ", ".join(f"{name} {value}" for name, value in values.items())
