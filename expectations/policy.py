"""What a site makes of the rules: how severe each is, how many violations are tolerated, which are set aside.

A policy never makes a rule hold: counts and violations are kept as they are, and a verdict says what was tolerated.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from fnmatch import translate
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from expectations.counts import Partition
from schemas.kinds import Severity

Glob = Annotated[str, Field(min_length=1)]


class Strict(BaseModel):
    """A part of the file: no key but those below, no value of another type."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Limits(Strict):
    """How many violations are tolerated; where both are given, neither may be exceeded. None at all by default."""

    max_violations: Annotated[int, Field(ge=0, strict=True)] | None = None
    max_percent: Annotated[float, Field(ge=0, le=100)] | None = None

    def allowed(self, rows: int) -> int:
        """Violations that are tolerated among so many judged rows."""
        given = [] if self.max_violations is None else [self.max_violations]
        if self.max_percent is not None:
            given.append(int(rows * Decimal(str(self.max_percent)) / 100))
        return min(given, default=0)

    def __str__(self) -> str:
        told = {"max_violations": self.max_violations, "max_percent": self.max_percent}
        return ", ".join(f"{name} {value}" for name, value in told.items() if value is not None) or "max_violations 0"


class TopicLimits(Limits):
    """Limits of some topics; their violations are counted by themselves."""

    topic: Glob


class RulePolicy(Limits):
    """What is made of a rule: another severity, its limits, and those of some topics (the first that matches)."""

    severity: Severity | None = None
    topics: tuple[TopicLimits, ...] = ()

    def group(self, partition: Partition | None) -> TopicLimits | None:
        """The limits a partition's violations count towards; None for the rule's own."""
        if partition is None:
            return None
        return next((limits for limits in self.topics if matches(limits.topic, partition.topic)), None)


class Suppression(Strict):
    """Violations that are known of and set aside: whose, why, and until when."""

    rule: Glob
    topic: Glob | None = None
    partition: Annotated[int, Field(ge=0, strict=True)] | None = None
    reason: Annotated[str, Field(min_length=1)]
    expires: date

    @model_validator(mode="after")
    def _of_a_topic(self) -> Suppression:
        if self.partition is not None and self.topic is None:
            message = "partition without topic"
            raise ValueError(message)
        return self

    def covers(self, rule: str, partition: Partition | None) -> bool:
        """Whether a rule's violations in this partition (None: of the whole capture) are set aside."""
        if rule != self.rule:
            return False
        if partition is None or self.topic is None:
            return self.topic is None
        return matches(self.topic, partition.topic) and self.partition in (None, partition.partition)

    def __str__(self) -> str:
        where = self.topic or "all topics"
        return f"{self.rule} of {where}{'' if self.partition is None else f'-{self.partition}'}"


class Policy(Strict):
    """The whole file: by default every rule is as severe as its table says, and nothing is tolerated."""

    rules: dict[str, RulePolicy] = {}
    suppressions: tuple[Suppression, ...] = ()

    def of(self, rule: str) -> RulePolicy:
        """What is made of a rule."""
        return self.rules.get(rule, RulePolicy())

    def suppression(self, rule: str, partition: Partition | None) -> Suppression | None:
        """The suppression that covers a rule's violations in a partition."""
        return next((one for one in self.suppressions if one.covers(rule, partition)), None)

    def thresholds(self, rule: str) -> dict[str, str]:
        """The rule's limits in words, by topic; `*` is the rest."""
        made = self.of(rule)
        return {"*": str(made), **{limits.topic: str(limits) for limits in made.topics}}


def matches(glob: str, topic: str) -> bool:
    """Whether a topic is meant by a pattern such as `clicks-*`."""
    return re.match(translate(glob), topic) is not None
