"""What a rule is: three SQL booleans over one row, with the words that go with it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from expectations.subjects import Subject
from schemas import columns as C
from schemas.columns import Field
from schemas.kinds import Exactness, Severity


@dataclass(frozen=True)
class Invariant:
    """A rule: a sentence, what it speaks of, when it can be judged, what must hold, why, and what to do otherwise."""

    name: str
    subject: Subject
    holds: str
    observed: tuple[Field, ...]
    severity: Severity
    why: str
    source: str
    what_to_do: str
    scope: str = "true"
    known: str = "true"
    since: str = ""
    """First Kafka version it is true of; '' for all."""

    @property
    def fingerprint(self) -> str:
        """A digest of what the rule demands: a verdict of another fingerprint is one of another rule."""
        text = f"{self.subject.name}\n{self.scope}\n{self.known}\n{self.holds}\n{self.since}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


IS_BOUNDED = f"{C.EXACTNESS} = '{Exactness.BOUNDED}'"
IS_LEO_BOUNDED = f"{C.LOG_END_OFFSET_LOW} <> {C.LOG_END_OFFSET_HIGH}"
