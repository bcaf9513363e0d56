"""`tidegauge check`: judge the tables of a cluster by the protocol's rules; the exit code is the verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click

from expectations.policy import Policy
from expectations.policy_file import read_policy
from expectations.results import RULES
from jobs.alone import alone
from jobs.check_formats import print_verdicts
from jobs.check_outputs import Outputs, is_done, tell
from jobs.check_run import WARN, Asked, CheckRun, judge_cluster, keep, worst
from jobs.command import EVERY_CLUSTER, debug_option, options, run, say_error
from jobs.deliveries import landed_clusters
from jobs.errors import CouldNotRunError, ExitCode
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.run_config import Configured
from jobs.warehouse import Warehouse

LAST = "last"
LONGEST = timedelta(days=36_500)
"""An age that no log has: that long ago there may be no date."""


def max_age(_context: click.Context, _option: click.Parameter, text: str | None) -> timedelta | None:
    """A time such as 26h, 90m or 2d."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,7})([mhd])", text)
    age = match and timedelta(minutes=int(match[1]) * {"m": 1, "h": 60, "d": 1440}[match[2]])
    if age is None or age > LONGEST:
        message = f"{text!r} is no time: say for example 90m, 26h or 2d."
        raise click.BadParameter(message)
    return age


fail_on_option = click.option("--fail-on", type=click.Choice([WARN]), help="Exit with 1 if only warnings are broken.")
config_option = click.option(
    "--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="Severities, thresholds and suppressions, as YAML: conf/check-example.yaml.",
)  # fmt: skip


def policy_of(config: Path | None) -> Policy:
    """The policy of a configuration file; without one every rule is as its table says."""
    if config is None:
        return Policy()
    text = config.read_text(encoding="utf-8", errors="replace")
    return read_policy(text, str(config), RULES, datetime.now(tz=UTC).date())


def check_cluster(warehouse: Warehouse, cluster_id: str, asked: Asked | None = None) -> ExitCode:
    """Judge a cluster's tables, keep the verdicts and print them; the exit code."""
    asked = asked or Asked()
    done = judge_cluster(warehouse, cluster_id, asked)
    is_kept = is_done(partial(keep, warehouse, done, asked.policy))
    print_verdicts(done)
    return done.exit_code if is_kept else worst([done.exit_code, ExitCode.COULD_NOT_RUN])


def judge_clusters(warehouse: Warehouse, clusters: Iterable[str], asked: Asked) -> list[CheckRun]:
    """A run of each cluster that can be judged. One that cannot is told, and hides no other."""
    runs = []
    for cluster in clusters:
        try:
            runs.append(judge_cluster(warehouse, cluster, asked))
        except CouldNotRunError as error:
            say_error(error)
    return runs


@click.command("check", cls=Configured, epilog="Example: tidegauge check --warehouse /tmp/lake || page-somebody")
@options(warehouse_option, EVERY_CLUSTER, config_option, fail_on_option)
@click.option(
    "--max-age", "oldest", callback=max_age, metavar="TIME", help="A rule more: the last event is no older (26h, 2d)."
)
@click.option("--since", type=click.Choice([LAST]), help="Report, and exit for, violations the last run had not.")
@click.option("--json", "wants_json", is_flag=True, help="Print the verdicts as JSON, for programs.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write JUnit XML.")
@click.option(
    "--data-docs", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write Great Expectations' own pages.",
)  # fmt: skip
@debug_option
def check(
    warehouse: Home,
    cluster_id: str | None,
    config: Path | None,
    fail_on: str | None,
    oldest: timedelta | None,
    since: str | None,
    **outputs: Any,
) -> int:
    """Judge the timelines by the protocol's rules and keep every verdict.

    Without --cluster-id every cluster of the warehouse is judged. Verdicts go to the tables check_results and
    partition_verdicts, the rows that break a rule (at most 1000 a rule) to check_violations. A rule about which the
    capture tells too little is unknown: neither a pass nor a violation. A cluster of which a delivery has landed since
    its timelines were made is not judged: its tables are of two moments.

    Exit codes: 0 no critical rule is broken, 1 only warnings (with --fail-on warn), 2 one is, 3 could not run, 64
    usage.
    """
    asked = Asked(policy_of(config), fail_on, oldest, since_last=since == LAST)
    target = open_warehouse("check", warehouse)
    with alone(target.path):
        clusters = landed_clusters(target, cluster_id)
        runs = judge_clusters(target, clusters, asked)
        not_kept = [done for done in runs if not is_done(partial(keep, target, done, asked.policy))]
    if not runs:
        return ExitCode.COULD_NOT_RUN
    codes = [done.exit_code for done in runs]
    if len(runs) < len(clusters) or not_kept:
        codes.append(ExitCode.COULD_NOT_RUN)
    return tell(target, runs, worst(codes), Outputs(**outputs), fail_on)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(check, argv)


if __name__ == "__main__":
    raise SystemExit(main())
