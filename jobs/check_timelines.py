"""`tidegauge check`: judge the tables of a cluster by the protocol's rules; the exit code is the verdict."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import click

from expectations.invariants import INVARIANTS
from expectations.judging import judge
from expectations.record_rules import is_fresh
from expectations.results import RULES, in_order, result_rows, violation_rows
from expectations.verdict import Verdict
from jobs import __version__
from jobs.command import cluster_option, debug_option, options, run, warehouse_option
from jobs.deliveries import landed_clusters
from jobs.errors import ExitCode
from jobs.progress import print_table, say, step
from jobs.session import describe, spark_session
from jobs.warehouse import Transaction, Warehouse
from schemas import columns as C
from schemas.kinds import Severity, Status
from schemas.tables import ALL_TABLES, CHECK_RESULTS, CHECK_VIOLATIONS, SETTINGS

WARN = "warn"
JUDGED = {name for rule in INVARIANTS for name in rule.subject.reads} | {SETTINGS.name}

fail_on_option = click.option("--fail-on", type=click.Choice([WARN]), help="Exit with 1 if only warnings are broken.")


@dataclass(frozen=True)
class CheckRun:
    """A run of the check on a cluster, as it was kept, and what it means to a scheduler."""

    run_id: str
    cluster_id: str
    verdicts: list[Verdict]
    exit_code: ExitCode


def exit_code(verdicts: Sequence[Verdict], fail_on: str | None) -> ExitCode:
    """What a scheduler is told. A broken rule is certain whatever else failed; nothing judged is no pass."""
    broken = {verdict.severity for verdict in verdicts if verdict.status is Status.INVALID}
    statuses = {verdict.status for verdict in verdicts}
    if Severity.CRITICAL in broken:
        return ExitCode.RULE_BROKEN
    if Status.ERROR in statuses or not statuses & {Status.VALID, Status.INVALID}:
        return ExitCode.COULD_NOT_RUN
    return ExitCode.WARNINGS if broken and fail_on == WARN else ExitCode.OK


def worst(codes: Sequence[ExitCode]) -> ExitCode:
    """The exit code of several clusters."""
    return min(codes, key=(ExitCode.RULE_BROKEN, ExitCode.COULD_NOT_RUN, ExitCode.WARNINGS, ExitCode.OK).index)


def max_age(_context: click.Context, _option: click.Parameter, text: str | None) -> timedelta | None:
    """A time such as 26h, 90m or 2d."""
    match = re.fullmatch(r"(\d+)([mhd])", text or "")
    if text is not None and match is None:
        message = f"{text!r} is no time: say for example 90m, 26h or 2d."
        raise click.BadParameter(message)
    return None if match is None else timedelta(minutes=int(match[1]) * {"m": 1, "h": 60, "d": 1440}[match[2]])


def check_cluster(warehouse: Warehouse, cluster_id: str, fail_on: str | None = None) -> ExitCode:
    """Judge a cluster's tables, keep the verdicts and print them; the exit code."""
    done = judge_cluster(warehouse, cluster_id, fail_on)
    print_verdicts(done)
    return done.exit_code


def judge_cluster(
    warehouse: Warehouse, cluster_id: str, fail_on: str | None = None, oldest: timedelta | None = None
) -> CheckRun:
    """Judge a cluster's tables, each read at the version that is kept with the verdicts."""
    rules = INVARIANTS if oldest is None else (*INVARIANTS, is_fresh(datetime.now(tz=UTC) - oldest))
    identity = {C.RUN_ID: uuid.uuid4().hex, C.RUN_AT: datetime.now(tz=UTC), C.CLUSTER_ID: cluster_id}
    present = [table for table in ALL_TABLES if table.name in JUDGED and warehouse.has(table)]
    describe(warehouse.spark, "check")
    with step("check the rules") as judging:
        versions = {table.name: warehouse.commits(table, limit=1)[0].version for table in present}
        tables = {t.name: warehouse.read(t, cluster_id=cluster_id, version=versions[t.name]) for t in present}
        verdicts = judge(tables, rules)
        judging.note = f"{len(verdicts)} rules"
    rows = {
        CHECK_VIOLATIONS: violation_rows(verdicts, identity),
        CHECK_RESULTS: result_rows(verdicts, {**identity, C.ENGINE_VERSION: __version__}, versions),  # marks the end
    }
    for table, values in rows.items():
        warehouse.create(table)
        if values:
            frame = warehouse.spark.createDataFrame(in_order(table, values), table.schema)
            warehouse.append(table, frame, Transaction(f"check {identity[C.RUN_ID]}", 1))
    return CheckRun(str(identity[C.RUN_ID]), cluster_id, verdicts, exit_code(verdicts, fail_on))


def print_verdicts(done: CheckRun) -> None:
    """Print the verdicts as a table, and on stderr what to do about the rules that are broken."""
    lines = [
        (v.rule, v.status.value, v.severity.value, f"{v.rows:,}", f"{v.violations:,}", v.reason) for v in done.verdicts
    ]
    click.echo(f"check of cluster {done.cluster_id}, run {done.run_id}")
    print_table((C.RULE, C.STATUS, C.SEVERITY, C.ROWS, C.VIOLATIONS, C.REASON), lines)
    for verdict in done.verdicts:
        if verdict.status is Status.INVALID:
            say(f"  {verdict.rule}: {RULES[verdict.rule].what_to_do}")


def as_json(runs: Sequence[CheckRun], code: ExitCode) -> str:
    """The runs as a JSON document; its names are columns of `check_results`."""
    documents = [
        {
            C.RUN_ID: done.run_id,
            C.CLUSTER_ID: done.cluster_id,
            CHECK_RESULTS.name: [
                {C.RULE: v.rule, C.STATUS: v.status, C.SEVERITY: v.severity, C.ROWS: v.rows, C.VIOLATIONS: v.violations,
                 C.REASON: v.reason}
                for v in done.verdicts
            ],
        }
        for done in runs
    ]  # fmt: skip
    return json.dumps({"exit_code": code, "runs": documents}, indent=2)


@click.command("check", epilog="Example: tidegauge check --warehouse /tmp/lake || page-somebody")
@options(warehouse_option, cluster_option, fail_on_option, debug_option)
@click.option(
    "--max-age", "oldest", callback=max_age, metavar="TIME", help="A rule more: the last event is no older (26h, 2d)."
)
@click.option("--json", "wants_json", is_flag=True, help="Print the verdicts as JSON, for programs.")
def check(
    warehouse: str, cluster_id: str | None, fail_on: str | None, oldest: timedelta | None, wants_json: bool
) -> int:
    """Judge the timelines by the protocol's rules and keep every verdict.

    Without --cluster-id every cluster of the warehouse is judged. Verdicts go to the table check_results, the rows that
    break a rule (at most 100 a rule) to check_violations. A rule about which the capture tells too little is unknown:
    neither a pass nor a violation.

    Exit codes: 0 all rules hold, 1 only warnings (with --fail-on warn), 2 a rule is broken, 3 could not run, 64 usage.
    """
    target = Warehouse(spark_session("check", warehouse=warehouse), warehouse)
    runs = [judge_cluster(target, cluster, fail_on, oldest) for cluster in landed_clusters(target, cluster_id)]
    code = worst([done.exit_code for done in runs])
    if wants_json:
        click.echo(as_json(runs, code))
    else:
        for done in runs:
            print_verdicts(done)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(check, argv)


if __name__ == "__main__":
    raise SystemExit(main())
