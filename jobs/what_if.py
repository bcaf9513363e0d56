"""`tidegauge what-if`: the events of a warehouse under other rules, beside what happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import click
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.alone import alone
from jobs.clocks import clocks_ahead
from jobs.command import EVERY_CLUSTER, debug_option, options, run
from jobs.continuing import written_timelines
from jobs.deliveries import landed_clusters, landed_events
from jobs.keeping import keeping
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table
from jobs.reconstruct_timelines import write_table
from jobs.replay_inputs import made_whole, profile_of, slots_of
from jobs.run_config import Configured
from jobs.warehouse import Warehouse
from replay.assignment import assignments
from replay.clocks.one_clock import on_leaders_clocks, on_one_clock, timelines_on_one_clock
from replay.profile import Truncation
from replay.what_if.high_watermark import differences, would_be
from replay.what_if.outcomes import what_if as truncated_by
from replay.what_if.steps import steps
from schemas import columns as C
from schemas.tables import LEADER_TIMELINE, WHAT_IF_OUTCOMES, WHAT_IF_TIMELINE

RULES = (Truncation.HIGH_WATERMARK, Truncation.LEADER_EPOCH)
"""The third, fetch_divergence, finds the same place by other requests: its outcomes are those of leader_epoch."""


@dataclass(frozen=True)
class Otherwise:
    """What is taken to be otherwise; None: as it was."""

    min_isr: int | None = None
    lag_time_ms: int | None = None
    min_isr_gate: bool | None = None

    def __str__(self) -> str:
        """As the options that say so."""
        return " ".join(f"{name}={value}" for name, value in vars(self).items() if value is not None)

    @property
    def profile_changes(self) -> dict[str, object]:
        """The rules of a profile that change."""
        given = {"lag_time_ms": self.lag_time_ms, "min_isr_gate": self.min_isr_gate}
        return {name: value for name, value in given.items() if value is not None}


def replay_truncations(warehouse: Warehouse, cluster_id: str, rules: Sequence[Truncation]) -> DataFrame:
    """The outcomes of a cluster's history under each rule, written, and counted by rule, outcome and partition."""
    told = landed_events(warehouse, cluster_id)
    ahead = clocks_ahead(told)
    landed = on_one_clock(told, ahead)
    seen = timelines_on_one_clock(written_timelines(warehouse, cluster_id), told, ahead)
    with keeping() as keep:
        assigned = keep(assignments(landed))
        happened = keep(steps(landed, seen.leader_timeline, seen.replica_timeline, assigned))
        outcomes = reduce(DataFrame.unionByName, [truncated_by(happened, rule) for rule in rules])
        write_table(warehouse, WHAT_IF_OUTCOMES, on_leaders_clocks(outcomes, (C.EVENT_TIME,), told, ahead), cluster_id)
    of_range = F.col(C.TO_OFFSET) - F.col(C.FROM_OFFSET)
    written = warehouse.read(WHAT_IF_OUTCOMES, cluster_id=cluster_id).where(~F.startswith(C.TOPIC, F.lit("__")))
    figures = (F.sum(of_range).alias("records"), F.count(F.lit(1)).alias("ranges"))
    return written.groupBy(C.TOPIC, C.PARTITION, C.METHOD, C.OUTCOME).agg(*figures)


def replay_high_watermark(warehouse: Warehouse, cluster_id: str, otherwise: Otherwise) -> int:
    """Events of a cluster after which the HW would have been another; they are written side by side."""
    told = landed_events(warehouse, cluster_id)
    ahead = clocks_ahead(told)
    with keeping() as keep:
        landed = made_whole(on_one_clock(told, ahead), keep)
        assigned = keep(assignments(landed))
        spoken = profile_of(landed, assigned)
        changed = spoken.with_changes(**otherwise.profile_changes)
        other = would_be(landed, assigned, slots_of(assigned), spoken, changed, otherwise.min_isr, keep)
        was = warehouse.read(LEADER_TIMELINE, cluster_id=cluster_id)
        found = differences(was, on_leaders_clocks(other, (C.EVENT_TIME,), told, ahead), str(otherwise))
        return write_table(warehouse, WHAT_IF_TIMELINE, found, cluster_id)


@click.command("what-if", cls=Configured, epilog="Example: tidegauge what-if --warehouse /tmp/lake --min-isr 1")
@options(
    warehouse_option,
    EVERY_CLUSTER,
    click.option(
        "--truncation",
        "rules",
        multiple=True,
        type=click.Choice([str(rule.value) for rule in RULES]),
        help="Rule by which followers cut their logs. Default: each of them, to compare.",
    ),
    click.option("--min-isr", type=click.IntRange(1), help="min.insync.replicas of every topic."),
    click.option("--lag-time-ms", type=click.IntRange(1), help="replica.lag.time.max.ms; ISR changes stay as logged."),
    click.option("--min-isr-gate/--no-min-isr-gate", default=None, help="The HW stands under min ISR (3.7+), or not."),
    debug_option,
)
def what_if(
    warehouse: Home,
    cluster_id: str | None,
    rules: tuple[str, ...],
    min_isr: int | None,
    lag_time_ms: int | None,
    min_isr_gate: bool | None,
) -> None:
    """Replay a reconstructed warehouse under other rules and print what would have been otherwise.

    Elections, restarts, appends and fetches are taken as they were: it tells what the rules do to the same events, not
    what brokers and clients would have done next.
    """
    target = open_warehouse("what-if", warehouse)
    otherwise = Otherwise(min_isr, lag_time_ms, min_isr_gate)
    with alone(target.path):
        clusters = landed_clusters(target, cluster_id)
        for cluster in clusters:
            if len(clusters) > 1:
                click.echo(f"cluster {cluster}")
            outcomes = replay_truncations(target, cluster, [Truncation(rule) for rule in rules] or RULES)
            rows = outcomes.orderBy(*outcomes.columns).collect()
            print_table(outcomes.columns, [[str(value) for value in row] for row in rows])
            if str(otherwise):
                events = replay_high_watermark(target, cluster, otherwise)
                print_table(("what if", "events with another HW"), [(str(otherwise), f"{events:,}")])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(what_if, argv)


if __name__ == "__main__":
    raise SystemExit(main())
