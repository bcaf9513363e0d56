"""What a rule is: three SQL booleans over one row, with the words that go with it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from expectations.subject import Subject
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
    demands: str = ""
    """What `holds` demands, where that has the moment of a run in it; '' where it is the same in every run."""

    @property
    def fingerprint(self) -> str:
        """A digest of what the rule demands: a verdict of another fingerprint is one of another rule."""
        text = f"{self.subject.name}\n{self.scope}\n{self.known}\n{self.demands or self.holds}\n{self.since}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def sql(self) -> str:
        """The rows that break it, as `tidegauge sql` takes it: fails closed where `holds` is NULL."""
        columns = dict.fromkeys([*self.subject.keys, *self.observed, C.SOURCE_FILE, C.SOURCE_LINE])
        said = [f"coalesce({text}, true)" for text in (self.scope, self.known) if text != "true"]
        where = " AND ".join([*said, f"NOT coalesce({self.holds}, false)"])
        return f"SELECT {', '.join(columns)}\nFROM {self.subject.view}\nWHERE {where}"


IS_BOUNDED = f"{C.EXACTNESS} = '{Exactness.BOUNDED}'"
IS_LEO_BOUNDED = f"{C.LOG_END_OFFSET_LOW} <> {C.LOG_END_OFFSET_HIGH}"
HW_AND_LEO_COMPARE = (
    f"{C.LOG_END_OFFSET} >= 0 AND ((NOT ({IS_BOUNDED}) AND NOT ({IS_LEO_BOUNDED}))"
    f" OR {C.HIGH_WATERMARK_HIGH} <= {C.LOG_END_OFFSET_LOW} OR {C.HIGH_WATERMARK_LOW} > {C.LOG_END_OFFSET_HIGH})"
)
"""Which of HW and LEO is greater is certain: the LEO is known, and both are exact or their bounds do not overlap."""
