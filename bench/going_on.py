"""What a replay of the last delivery costs beside one of everything: `make bench-going-on`.

A synthetic cluster lands in three deliveries, the last two of which have a small share of its time each. Measured are a
replay that goes on from that of the first, which copies the files that a replay of everything wrote, one that goes on
from that, as each day's does, and one of everything; the last two must write the same timelines. Incidents are found
anew in whole timelines each time: what that costs stands beside. The last line is JSON.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from bench.costs import Cost, EventLog
from bench.inputs import CLUSTER, SCENARIO, SIZES, bench_session, scenario_of
from jobs.continuing import AFTER
from jobs.deliveries import landed_events
from jobs.generate_events import generate_cluster
from jobs.progress import print_table
from jobs.reconstruct_timelines import write_incidents, write_timelines
from jobs.replay_marks import landed_until
from jobs.shuffles import few_tasks, tasks_of
from jobs.warehouse import Warehouse
from jobs.whole_replay import Replay
from schemas.tables import FETCH_EVENTS, PRODUCE_EVENTS, Table
from sources.synthetic.forms import Forms, forms_of
from sources.synthetic.part import Part

FIRST = "the first time"
"""Name of the going on from a replay of everything."""


def sums_of(warehouse: Warehouse) -> dict[str, object]:
    """Rows and a checksum of each timeline table."""
    return {table.name: _sum_of(table, warehouse.read(table)) for table in AFTER}


def _sum_of(table: Table, rows: DataFrame) -> object:
    """Rows and their checksum; a map is no value, its sorted entries are."""
    is_map = {name for name, kind in rows.dtypes if kind.startswith("map")}
    values = [F.array_sort(F.map_entries(c)) if c in is_map else F.col(c) for c in table.columns]
    found = rows.agg(F.count("*"), F.sum(F.xxhash64(*values).cast("decimal(20,0)"))).first()
    return tuple(map(str, found)) if found else None


def measured(warehouse: Warehouse, log: EventLog, forms: Forms, share: float) -> tuple[dict[str, Cost], bool, int]:
    """The cost of each replay, whether going on and everything wrote the same, and how many events there are."""

    def replay(*, all_anew: bool) -> Replay:
        landed = landed_events(warehouse, CLUSTER)
        with few_tasks(warehouse.spark, tasks_of(landed)):
            return write_timelines(warehouse, CLUSTER, landed, landed_until(warehouse), all_anew=all_anew)[1]

    def find_incidents(last: Replay) -> int:
        landed = landed_events(warehouse, CLUSTER)
        with few_tasks(warehouse.spark, tasks_of(landed)):
            return write_incidents(warehouse, CLUSTER, landed, last, "")

    def land(capture: str, begins: float, ends: float) -> int:
        generate_cluster(warehouse, forms, cluster_id=CLUSTER, capture_id=capture, part=Part(begins, ends))
        return sum(warehouse.read(table).count() for table in (PRODUCE_EVENTS, FETCH_EVENTS))

    land("first", 0, 1 - 2 * share)
    last = replay(all_anew=True)  # what is gone on from; and it warms up
    events = land("second", 1 - 2 * share, 1 - share)
    costs = {FIRST: log.cost_of(lambda: replay(all_anew=False), events)}
    events = land("third", 1 - share, 1)
    costs["going on"] = log.cost_of(lambda: replay(all_anew=False), events)
    gone_on = sums_of(warehouse)
    costs["everything"] = log.cost_of(lambda: replay(all_anew=True), events)
    is_equal = sums_of(warehouse) == gone_on
    costs["incidents"] = log.cost_of(lambda: find_incidents(last), events)
    return costs, is_equal, events


def line_of(name: str, cost: Cost) -> tuple[str, ...]:
    """A line of the table."""
    return name, f"{cost.cpu_seconds:.1f}", f"{cost.wall_seconds:.1f}", str(cost.jobs), f"{cost.spill_mib:.0f}"


@click.command("going-on")
@click.option("--size", type=click.Choice(list(SIZES)), default="small", show_default=True)
@click.option("--share", type=float, default=0.01, show_default=True, help="Of the time, in the last delivery.")
@click.option("--work", type=click.Path(path_type=Path), default=Path("build/bench/going-on"), show_default=True)
def main(size: str, share: float, work: Path) -> None:
    """Measure a replay that goes on from the last one; the exit code is 1 where its tables are not those of all."""
    scratch = work.absolute()
    shutil.rmtree(scratch, ignore_errors=True)
    spark = bench_session(scratch)
    forms = forms_of(scenario_of(SCENARIO, size, 0.0))
    log = EventLog(spark, scratch / "events")
    costs, is_equal, events = measured(Warehouse(spark, str(scratch / "lake")), log, forms, share)
    columns = ("replay", "CPU s", "s", "jobs", "spill MiB")
    print_table(columns, [line_of(name, cost) for name, cost in costs.items()])
    first, ours, whole = costs[FIRST], costs["going on"], costs["everything"]
    print(json.dumps({
        "events": events, "share": share, "same_output": is_equal,
        "cpu_ratio_to_everything": round(ours.cpu_seconds / whole.cpu_seconds, 3),
        "ratio_to_everything": round(ours.wall_seconds / whole.wall_seconds, 3),
        "cpu_ratio_the_first_time": round(first.cpu_seconds / whole.cpu_seconds, 3),
    }))  # fmt: skip
    spark.stop()
    raise SystemExit(0 if is_equal else 1)


if __name__ == "__main__":
    main()
