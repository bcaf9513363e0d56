"""What a check tells: a table for people, JSON for programs, JUnit XML for build servers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import click

from expectations.results import RULES
from expectations.verdict import Verdict
from jobs.check_run import WARN, CheckRun
from jobs.errors import ExitCode
from jobs.progress import print_table, say
from schemas import columns as C
from schemas.kinds import Severity, Status
from schemas.tables import CHECK_RESULTS, PARTITION_VERDICTS

MOST_PARTITIONS = 20
"""Partitions that are not valid, listed on a terminal."""
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def print_verdicts(done: CheckRun) -> None:
    """Print the verdicts as tables, and on stderr what to do about rules that are broken or could not be judged."""
    click.echo(f"check of cluster {done.cluster_id}, run {done.run_id}")
    is_compared = any(verdict.new_violations is not None for verdict in done.verdicts)
    columns = (
        C.RULE,
        C.STATUS,
        C.SEVERITY,
        C.ROWS,
        C.VIOLATIONS,
        *([C.NEW_VIOLATIONS] if is_compared else []),
        C.REASON,
    )
    print_table(columns, [_line(verdict, is_compared=is_compared) for verdict in done.verdicts])
    _print_partitions(done)
    shown: set[tuple[str, ...]] = set()
    for verdict in (verdict for verdict in done.verdicts if verdict.is_broken):
        say(f"  {verdict.rule}: {RULES[verdict.rule].what_to_do}")
        around = next((violation.events_around for violation in verdict.examples if violation.events_around), ())
        if around and around not in shown:
            shown.add(around)
            say("\n".join(f"    {event}" for event in around))
    failed = Counter(verdict.reason for verdict in done.verdicts if verdict.status is Status.ERROR)
    for reason, count in failed.items():
        say(f"tidegauge: {count} of {len(done.verdicts)} rules could not be judged: {reason}")


def as_json(runs: Sequence[CheckRun], code: ExitCode) -> str:
    """The runs as a JSON document; its names are columns of the tables of the check."""
    documents = [
        {
            C.RUN_ID: done.run_id,
            C.CLUSTER_ID: done.cluster_id,
            CHECK_RESULTS.name: [
                {C.RULE: v.rule, C.STATUS: v.status, C.SEVERITY: v.severity, C.ROWS: v.rows, C.VIOLATIONS: v.violations,
                 C.SUPPRESSED: v.suppressed, C.NEW_VIOLATIONS: v.new_violations, C.REASON: v.reason}
                for v in done.verdicts
            ],
            PARTITION_VERDICTS.name: [
                {**v.partition._asdict(), C.STATUS: v.status, C.SEVERITY: v.severity, C.ROWS: v.rows,
                 C.VIOLATIONS: v.violations, C.REASON: v.reason}
                for v in done.judgement.partitions
            ],
        }
        for done in runs
    ]  # fmt: skip
    return json.dumps({"exit_code": code, "runs": documents}, indent=2)


def write_junit(runs: Sequence[CheckRun], file: Path, fail_on: str | None) -> None:
    """Write the runs as JUnit XML: a suite per cluster, a case per rule, a failure where the exit code says so."""
    root = ET.Element("testsuites", name="tidegauge check")
    for done in runs:
        cases = [_case(verdict, fail_on) for verdict in done.verdicts]
        suite = ET.SubElement(root, "testsuite", name=done.cluster_id, id=done.run_id, tests=str(len(cases)))
        for counted, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(counted, str(sum(case.find(kind) is not None for case in cases)))
        suite.extend(cases)
    ET.indent(root)
    file.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)


def _line(verdict: Verdict, *, is_compared: bool) -> tuple[str, ...]:
    """A verdict as texts."""
    new = "" if verdict.new_violations is None else f"{verdict.new_violations:,}"
    return (
        verdict.rule, verdict.status.value, verdict.severity.value, f"{verdict.rows:,}", f"{verdict.violations:,}",
        *([new] if is_compared else []), verdict.reason,
    )  # fmt: skip


def _print_partitions(done: CheckRun) -> None:
    """Print how many partitions are what, and those that are not valid, the worst first."""
    order = (Status.INVALID, Status.UNKNOWN)
    found = Counter(verdict.status for verdict in done.judgement.partitions)
    click.echo("partitions: " + ", ".join(f"{found[status]} {status.value}" for status in (Status.VALID, *order)))
    shown = sorted((v for v in done.judgement.partitions if v.status in order), key=lambda v: order.index(v.status))
    if shown:
        rows = [(str(v.partition), v.status.value, v.reason) for v in shown[:MOST_PARTITIONS]]
        print_table((C.PARTITION, C.STATUS, C.REASON), rows)
    if len(shown) > MOST_PARTITIONS:
        say(f"  first {MOST_PARTITIONS} of {len(shown)}; the rest are in {PARTITION_VERDICTS.name}")


def _case(verdict: Verdict, fail_on: str | None) -> ET.Element:
    """A verdict as a test case."""
    case = ET.Element("testcase", name=verdict.rule, classname=RULES[verdict.rule].subject.table.name)
    reason = _NO_XML.sub("?", verdict.reason)
    counts = verdict.severity is Severity.CRITICAL or (verdict.severity is Severity.WARNING and fail_on == WARN)
    if verdict.is_broken and counts:
        failure = ET.SubElement(case, "failure", message=reason, type=verdict.severity.value)
        failure.text = RULES[verdict.rule].what_to_do
    elif verdict.status is Status.ERROR:
        ET.SubElement(case, "error", message=reason, type=verdict.severity.value)
    elif verdict.status is Status.UNKNOWN:
        ET.SubElement(case, "skipped", message=reason)
    elif reason:
        ET.SubElement(case, "system-out").text = f"{verdict.status.value}: {reason}"
    return case
