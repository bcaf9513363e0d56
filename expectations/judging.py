"""How rules are judged: counts in one pass per subject, Great Expectations' word on them, details of what is broken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from expectations.counts import Failure, Measure
from expectations.each import Each
from expectations.earlier import Earlier, with_news
from expectations.invariant import Invariant
from expectations.invariants import INVARIANTS
from expectations.measuring import first_line, measure
from expectations.partition_verdicts import partition_verdicts
from expectations.policy import Policy
from expectations.subject import Tables
from expectations.tally import Tally, suppressed, tallies, tolerated
from expectations.verdict import Judgement, Verdict, Violation
from expectations.versions import is_at_least, lowest_version
from expectations.witness import broken_rows, violations
from schemas.kinds import Status


def judge(
    tables: Tables,
    rules: Sequence[Invariant] = INVARIANTS,
    policy: Policy | None = None,
    earlier: Mapping[str, Earlier] | None = None,
    each: Each = map,
) -> Judgement:
    """One verdict per rule, in the rules' order, and one per partition.

    Nothing raises: what cannot be judged is an error of its rule. With the verdicts of an `earlier` run, violations
    that it had are told from new ones. `each` is how the subjects of rules are measured.
    """
    policy = policy or Policy()
    version = lowest_version(tables)
    too_old = {rule.name: _too_old(rule, version) for rule in rules if not is_at_least(version, rule.since)}
    measured = measure(tables, [rule for rule in rules if rule.name not in too_old], each)
    counted = {name: tallies(found, policy) for name, found in measured.items() if isinstance(found, Measure)}
    measured, broken = _decided(tables, measured, counted)
    examples = _examples(tables, measured, counted, broken, policy)
    verdicts = dict(too_old)
    for name, found in measured.items():
        verdict = _verdict(found, counted.get(name, []), broken, policy)
        if name in examples:
            verdict = _with_examples(verdict, examples[name])
        verdicts[name] = verdict if earlier is None else with_news(verdict, found.rule, earlier.get(name))
    partitions = partition_verdicts(list(measured.values()), verdicts, broken, policy)
    asked = [tally for of_rule in counted.values() for tally in of_rule]
    return Judgement([_as_severe(verdicts[rule.name], policy) for rule in rules], partitions, asked)


def _decided(
    tables: Tables, measured: Mapping[str, Measure | Failure], counted: Mapping[str, list[Tally]]
) -> tuple[dict[str, Measure | Failure], set[str]]:
    """What Great Expectations finds broken; where it cannot tell, every rule it was asked about is a failure."""
    from expectations import suites  # noqa: PLC0415 - it takes seconds, and `--help` needs none of it

    asked = [tally for of_rule in counted.values() for tally in of_rule]
    if not asked:
        return dict(measured), set()
    try:
        spark = next(iter(tables.values())).sparkSession
        return dict(measured), suites.broken_tallies(suites.counted(spark, asked), asked)
    except Exception as error:  # noqa: BLE001 - what it cannot validate has not passed
        return {name: Failure(found.rule, first_line(error)) for name, found in measured.items()}, set()


Found = tuple[Violation, ...] | str
"""Violations of a rule, or why they could not be looked up."""


def _examples(
    tables: Tables,
    measured: Mapping[str, Measure | Failure],
    counted: Mapping[str, list[Tally]],
    broken: set[str],
    policy: Policy,
) -> dict[str, Found]:
    """The violations of each broken rule, subject by subject."""
    of_subject: dict[str, list[Measure]] = defaultdict(list)
    for name, found in measured.items():
        if isinstance(found, Measure) and any(tally.name in broken for tally in counted[name]):
            of_subject[found.rule.subject.name].append(found)
    examples: dict[str, Found] = {}
    for group in of_subject.values():
        try:
            with broken_rows(tables, [found.rule for found in group]) as rows:
                for found in group:
                    set_aside = [*suppressed(found, policy), *tolerated(counted[found.rule.name], broken)]
                    examples[found.rule.name] = violations(tables, rows, found.rule, set_aside)
        except Exception as error:  # noqa: BLE001 - the rules are broken all the same
            examples |= {found.rule.name: first_line(error) for found in group if found.rule.name not in examples}
    return examples


def _verdict(found: Measure | Failure, counted: Sequence[Tally], broken: set[str], policy: Policy) -> Verdict:
    """The rule's verdict over all rows of its subject."""
    rule = found.rule
    if isinstance(found, Failure):
        return Verdict(rule.name, rule.severity, Status.ERROR, reason=found.reason)
    total, aside = found.total, sum(count.violations for count in suppressed(found, policy).values())
    verdict = Verdict(rule.name, rule.severity, Status.VALID, total.rows, total.violations, suppressed=aside)
    if any(tally.name in broken for tally in counted):
        # What other topics may have is no news, however many there are: only what breaks the rule is compared.
        aside += sum(tolerated(counted, broken).values())
        return replace(verdict, status=Status.INVALID, suppressed=aside)
    if not found.subject_rows and not rule.subject.empty_holds:
        table = rule.subject.table.name
        if rule.subject.may_be_empty:
            return replace(verdict, status=Status.UNKNOWN, reason=f"no line of the capture tells, table {table}")
        return replace(verdict, status=Status.ERROR, reason=f"table {table} is empty")
    if total.unknown:
        reason = f"too little is known of {total.unknown:,} rows; the rest hold"
        return replace(verdict, status=Status.UNKNOWN, reason=reason)
    return replace(
        verdict, reason=_tolerated(verdict, counted) or ("" if total.rows else "the capture has no case of it")
    )


def _tolerated(verdict: Verdict, counted: Sequence[Tally]) -> str:
    """Why a rule with violations is not broken."""
    reasons = [f"{tally.total:,} of at most {tally.allowed:,} are tolerated" for tally in counted if tally.total]
    return "; ".join([*reasons, *([f"{verdict.suppressed:,} are suppressed"] if verdict.suppressed else [])])


def _with_examples(verdict: Verdict, found: Found) -> Verdict:
    """The verdict of a broken rule with its violations, the first of them in its reason."""
    if isinstance(found, str):
        return replace(verdict, reason=f"its rows could not be looked up: {found}")
    if not found:
        reason = "Great Expectations finds the rule broken, but no row breaks it"
        return replace(verdict, status=Status.ERROR, reason=reason)
    return replace(verdict, examples=found, reason=f"first: {found[0]}")


def _too_old(rule: Invariant, version: str | None) -> Verdict:
    """Unknown: the rule is of a later Kafka than the one that ran, or no line tells which ran."""
    ran = f"Kafka {version} ran" if version else "no line tells Kafka's version"
    return Verdict(rule.name, rule.severity, Status.UNKNOWN, reason=f"true from Kafka {rule.since} on; {ran}")


def _as_severe(verdict: Verdict, policy: Policy) -> Verdict:
    """The verdict with the severity a policy gives its rule."""
    severity = policy.of(verdict.rule).severity
    return verdict if severity is None else replace(verdict, severity=severity)
