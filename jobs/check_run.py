"""A run of the check on a cluster: what is read, judged and kept, and what it tells a scheduler."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from pyspark.sql import functions as F

from expectations.capture_rules import is_fresh
from expectations.earlier import Earlier
from expectations.invariants import INVARIANTS
from expectations.judging import judge
from expectations.policy import Policy
from expectations.results import in_order, partition_rows, result_rows, violation_rows
from expectations.verdict import Judgement, Verdict
from jobs import __version__
from jobs.at_once import at_once
from jobs.commits import Transaction
from jobs.errors import ExitCode
from jobs.progress import step
from jobs.replay_marks import require_all_replayed
from jobs.session import describe
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.kinds import Severity, Status
from schemas.tables import ALL_TABLES, CHECK_RESULTS, CHECK_VIOLATIONS, PARTITION_VERDICTS, SETTINGS

WARN = "warn"
JUDGED = {name for rule in INVARIANTS for name in rule.subject.reads} | {SETTINGS.name}


@dataclass(frozen=True)
class Asked:
    """What a check is asked for besides the rules."""

    policy: Policy = field(default_factory=Policy)
    fail_on: str | None = None
    oldest: timedelta | None = None
    """A rule more: the last event is no older."""
    since_last: bool = False
    """Violations that the run before had too are no news."""


@dataclass(frozen=True)
class CheckRun:
    """A run of the check on a cluster, as it is kept, and what it means to a scheduler."""

    run_id: str
    run_at: datetime
    cluster_id: str
    judgement: Judgement
    versions: Mapping[str, int]
    """Delta version of each table that was judged."""
    exit_code: ExitCode

    @property
    def verdicts(self) -> list[Verdict]:
        """A verdict per rule."""
        return self.judgement.verdicts


def exit_code(verdicts: Sequence[Verdict], fail_on: str | None) -> ExitCode:
    """What a scheduler is told. A broken rule is certain whatever else failed; nothing judged is no pass."""
    broken = {verdict.severity for verdict in verdicts if verdict.is_broken}
    statuses = {verdict.status for verdict in verdicts}
    if Severity.CRITICAL in broken:
        return ExitCode.RULE_BROKEN
    if Status.ERROR in statuses or not statuses & {Status.VALID, Status.INVALID}:
        return ExitCode.COULD_NOT_RUN
    return ExitCode.WARNINGS if Severity.WARNING in broken and fail_on == WARN else ExitCode.OK


def worst(codes: Sequence[ExitCode]) -> ExitCode:
    """The exit code of several clusters."""
    return min(codes, key=(ExitCode.RULE_BROKEN, ExitCode.COULD_NOT_RUN, ExitCode.WARNINGS, ExitCode.OK).index)


def judge_cluster(warehouse: Warehouse, cluster_id: str, asked: Asked) -> CheckRun:
    """Judge a cluster's tables, each read at the version that is kept with the verdicts (`keep`)."""
    require_all_replayed(warehouse, cluster_id)
    now = datetime.now(tz=UTC)
    rules = INVARIANTS if asked.oldest is None else (*INVARIANTS, is_fresh(now - asked.oldest))
    present = [table for table in ALL_TABLES if table.name in JUDGED and warehouse.has(table)]
    describe(warehouse.spark, "check")
    each = at_once(warehouse.spark)
    with step("check the rules") as judging:
        newest = each(partial(warehouse.commits, limit=1), present)
        versions = {table.name: commit.version for table, [commit] in zip(present, newest, strict=True)}
        tables = {t.name: warehouse.read(t, cluster_id=cluster_id, version=versions[t.name]) for t in present}
        earlier = _last_run(warehouse, cluster_id) if asked.since_last else None
        judgement = judge(tables, rules, asked.policy, earlier, each)
        judging.note = f"{len(judgement.verdicts)} rules, {len(judgement.partitions)} partitions"
    code = exit_code(judgement.verdicts, asked.fail_on)
    return CheckRun(uuid.uuid4().hex, now, cluster_id, judgement, versions, code)


def keep(warehouse: Warehouse, run: CheckRun, policy: Policy) -> None:
    """Append the run to the history; `check_results` last, as the mark that it is complete."""
    identity = {C.RUN_ID: run.run_id, C.RUN_AT: run.run_at, C.CLUSTER_ID: run.cluster_id}
    told = {**identity, C.ENGINE_VERSION: __version__}
    rows = {
        CHECK_VIOLATIONS: violation_rows(run.verdicts, identity),
        PARTITION_VERDICTS: partition_rows(run.judgement.partitions, told),
        CHECK_RESULTS: result_rows(run.verdicts, told, run.versions, policy),
    }
    for table, values in rows.items():
        warehouse.create(table)
        if values:
            frame = warehouse.spark.createDataFrame(in_order(table, values), table.schema)
            warehouse.append(table, frame, Transaction(f"check {run.run_id}", 1))


def _last_run(warehouse: Warehouse, cluster_id: str) -> dict[str, Earlier]:
    """What the cluster's last run said, by rule; nothing where there is none, so that all is news.

    Of a rule that was not broken nobody was told: what it had was tolerated, or could not be judged.
    """
    if not warehouse.has(CHECK_RESULTS):
        return {}
    results = warehouse.read(CHECK_RESULTS, cluster_id=cluster_id)
    last = results.select(F.max_by(C.RUN_ID, C.RUN_AT).alias(C.RUN_ID))
    said = results.join(F.broadcast(last), str(C.RUN_ID)).collect()
    kept = warehouse.read(CHECK_VIOLATIONS, cluster_id=cluster_id).join(F.broadcast(last), str(C.RUN_ID))
    ids = {row[C.RULE]: row[-1] for row in kept.groupBy(C.RULE).agg(F.collect_set(C.VIOLATION_ID)).collect()}
    told = {row[C.RULE]: row[C.VIOLATIONS] - row[C.SUPPRESSED] for row in said if row[C.STATUS] == Status.INVALID.value}
    return {
        row[C.RULE]: Earlier(row[C.RULE_FINGERPRINT], told.get(row[C.RULE], 0), frozenset(ids.get(row[C.RULE], ())))
        for row in said
    }
