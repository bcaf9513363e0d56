"""`make bench`: events into both timelines, against the floor and other engines, interleaved; a table, then JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from bench.costs import Cost, EventLog, least
from bench.inputs import SIZES, bench_session, landed, scenario_of
from bench.spark_variants import engine, floor
from jobs.progress import print_table, say
from jobs.warehouse import Warehouse
from schemas.tables import LEADER_TIMELINE, REPLICA_TIMELINE

COLUMNS = (
    "what", "CPU s", "of floor", "µs an event", "wall s", "jobs", "exchanges", "of all rows", "shuffle MiB",
    "spill MiB", "peak MiB",
)  # fmt: skip


def measured(log: EventLog, variants: dict[str, Callable[[], None]], rounds: int, events: int) -> dict[str, list[Cost]]:
    """What each variant cost, round by round, one after the other in each."""
    costs: dict[str, list[Cost]] = {name: [] for name in variants}
    for number in range(rounds):
        for name, run in variants.items():
            costs[name].append(log.cost_of(run, events))
            say(f"  round {number + 1}: {name:<12} {costs[name][-1].cpu_seconds:8.1f} s of CPU")
    return costs


def rows_of(spark: SparkSession, folder: Path) -> tuple[int, int]:
    """Rows of both timelines below a folder."""
    tables = (DeltaTable.forPath(spark, str(folder / table.name)) for table in (LEADER_TIMELINE, REPLICA_TIMELINE))
    leaders, replicas = (table.toDF().count() for table in tables)
    return leaders, replicas


def line_of(name: str, cost: Cost, base: float, events: int) -> Sequence[str]:
    """A line of the table."""
    return (
        name, f"{cost.cpu_seconds:.1f}", f"{cost.cpu_seconds / base:.2f}", f"{cost.cpu_seconds / events * 1e6:.2f}",
        f"{cost.wall_seconds:.1f}", str(cost.jobs), str(cost.exchanges), str(cost.large_exchanges),
        f"{cost.shuffle_mib:.0f}", f"{cost.spill_mib:.0f}", f"{cost.peak_mib:.0f}",
    )  # fmt: skip


def bench(warehouse: Warehouse, log: EventLog, work: Path, events: int, rounds: int) -> dict[str, Cost]:
    """The cheapest run of each variant; the first run of the engine is to warm up, and says how many rows there are."""
    out = work / "engine"
    engine(warehouse, out)
    leaders, replicas = rows_of(warehouse.spark, out)
    say(f"  {events:,} events, {leaders:,} rows of leader_timeline, {replicas:,} of replica_timeline")

    def anew(folder: Path, run: Callable[[], None]) -> Callable[[], None]:
        def clean() -> None:
            shutil.rmtree(folder, ignore_errors=True)
            run()

        return clean

    variants = {
        "floor": anew(work / "floor", lambda: floor(warehouse, work / "floor", replicas / events)),
        "engine": anew(out, lambda: engine(warehouse, out)),
    }
    return {name: least(costs) for name, costs in measured(log, variants, rounds, events).items()}


@click.command("bench")
@click.option("--size", type=click.Choice(list(SIZES)), default="medium", show_default=True)
@click.option("--rounds", type=int, default=2, show_default=True, help="Runs of each variant; the cheapest counts.")
@click.option("--hot-share", type=float, default=0.0, help="Share of all events that one partition has.")
@click.option("--work", type=click.Path(path_type=Path), default=Path("build/bench"), show_default=True)
def main(size: str, rounds: int, hot_share: float, work: Path) -> None:
    """Measure task CPU: of events into both timelines, and of what Spark takes to write as much."""
    scratch = work.absolute() / "run"
    shutil.rmtree(scratch, ignore_errors=True)
    spark = bench_session(scratch)
    name = f"{size}-{hot_share}"
    warehouse, events = landed(spark, work.absolute() / name, scenario_of(size, hot_share))
    log = EventLog(spark, scratch / "events")
    costs = bench(warehouse, log, scratch, events, rounds)
    base = costs["floor"].cpu_seconds
    print_table(COLUMNS, [line_of(each, cost, base, events) for each, cost in costs.items()])
    spark.stop()
    print(json.dumps({"size": size, "events": events, "ratio_to_floor": round(costs["engine"].cpu_seconds / base, 3)}))


if __name__ == "__main__":
    main()
