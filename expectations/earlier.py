"""New violations told from those an earlier run had: what a scheduler pages on with `--since last`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from expectations.invariant import Invariant
from expectations.verdict import Verdict


@dataclass(frozen=True)
class Earlier:
    """What an earlier run said of a rule: what the rule demanded then, its violations, and the ids of those kept."""

    fingerprint: str
    violations: int
    kept: frozenset[str]


def with_news(verdict: Verdict, rule: Invariant, before: Earlier | None) -> Verdict:
    """The verdict with its violations compared; all are new where the rule is, or demands something else now.

    So are those of a rule that has the moment of the run in it: yesterday's run did not say that no event came today.
    Runs keep so many violations of a rule and no more. Where one of the two had more, which are new cannot be told;
    how many is then by how much the number has grown.
    """
    now = verdict.violations - verdict.suppressed
    if before is None or before.fingerprint != rule.fingerprint or rule.demands:
        told = tuple(replace(example, is_new=True) for example in verdict.examples)
        return replace(verdict, new_violations=now, examples=told)
    if now > len(verdict.examples) or before.violations > len(before.kept):
        return replace(verdict, new_violations=max(0, now - before.violations))
    told = tuple(replace(one, is_new=one.violation_id not in before.kept) for one in verdict.examples)
    return replace(verdict, new_violations=sum(bool(one.is_new) for one in told), examples=told)
