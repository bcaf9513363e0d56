"""A verdict per partition: the worst of the rules that spoke of it; unknown where the whole capture has a hole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from expectations.counts import Count, Failure, Measure, Partition
from expectations.policy import Policy
from expectations.tally import tally_of
from expectations.verdict import PartitionVerdict, Verdict, merge
from schemas.kinds import Severity, Status
from schemas.tables import LEADER_TIMELINE

_SEVEREST_FIRST = tuple(Severity)


class _Word(NamedTuple):
    """What is said of a partition: a status, why, and how severe the rule is that is broken."""

    status: Status
    reason: str = ""
    severity: Severity | None = None


def partition_verdicts(
    measured: Sequence[Measure | Failure], verdicts: Mapping[str, Verdict], broken: set[str], policy: Policy
) -> list[PartitionVerdict]:
    """One verdict per partition that any rule spoke of, in order; `broken` are names of tallies."""
    measures = [found for found in measured if isinstance(found, Measure)]
    partitions = sorted({key for found in measures for key, count in found.counts.items() if key and any(count)})
    holes = list(_holes(measured, verdicts))
    return [_verdict(partition, measures, holes, broken, policy) for partition in partitions]


def _holes(measured: Iterable[Measure | Failure], verdicts: Mapping[str, Verdict]) -> Iterable[_Word]:
    """What keeps each partition from being valid: rules nobody could judge, or that the whole capture breaks."""
    for found in measured:
        verdict = verdicts[found.rule.name]
        if verdict.status is Status.ERROR:
            yield _Word(Status.UNKNOWN, f"{verdict.rule} could not be judged: {verdict.reason}")
        elif isinstance(found, Measure) and None in found.counts and verdict.status is Status.INVALID:
            yield _Word(Status.UNKNOWN, f"the capture breaks {verdict.rule}")


def _verdict(
    partition: Partition, measures: Iterable[Measure], holes: Sequence[_Word], broken: set[str], policy: Policy
) -> PartitionVerdict:
    """The worst word on a partition; the reason is all words of that kind."""
    spoken = [(found, found.counts[partition]) for found in measures if partition in found.counts]
    words = [*holes, *[_word(found, count, partition, broken, policy) for found, count in spoken if any(count)]]
    if not any(found.rule.subject.table is LEADER_TIMELINE for found, _ in spoken):
        words.append(_Word(Status.UNKNOWN, "the capture has no event of its leader"))
    status = merge(word.status for word in words)
    severities = {word.severity for word in words if word.severity}
    return PartitionVerdict(
        partition,
        status,
        min(severities, key=_SEVEREST_FIRST.index, default=None),
        sum(count.rows for _, count in spoken),
        sum(count.violations for _, count in spoken),
        "; ".join(dict.fromkeys(word.reason for word in words if word.status is status and word.reason)),
    )


def _word(found: Measure, count: Count, partition: Partition, broken: set[str], policy: Policy) -> _Word:
    """What a rule says of a partition it has rows of."""
    rule = found.rule
    aside = policy.suppression(rule.name, partition)
    if count.violations and aside is None and tally_of(rule, policy.of(rule.name).group(partition)) in broken:
        severity = policy.of(rule.name).severity or rule.severity
        return _Word(Status.INVALID, f"{rule.name}: {count.violations:,} of {count.rows:,} rows", severity)
    if count.unknown:
        return _Word(Status.UNKNOWN, f"{rule.name}: too little is known of {count.unknown:,} rows")
    if not count.violations:
        return _Word(Status.VALID)
    why = "tolerated" if aside is None else f"suppressed until {aside.expires}: {aside.reason}"
    return _Word(Status.VALID, f"{rule.name}: {count.violations:,} rows, {why}")
