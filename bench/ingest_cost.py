"""What the ingest of a request log costs beside `spark.read.json` of the same lines: `python -m bench.ingest_cost`.

A bundled broker's request log is told again until it is large (bench/request_log.py). Three things are run, in turn and
each as often, and the cheapest run of each counts:

- `ingest`: `tidegauge ingest` of a capture that holds the log: digest, parse, and every landing table written;
- `read_json`: `spark.read.json` of what is JSON of the same lines, and what it read written as Delta;
- `read_json_schema`: the same with the schema given, so that Spark reads the lines once and not twice.

CPU is that of Spark's tasks, by its event log, and of this process; beside it all that the JVM took, its compiler and
its planner included. The last line is JSON.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from bench.check_cost import cpu_seconds
from bench.costs import EventLog
from bench.inputs import bench_session
from bench.request_log import JSON_LINES, large_log
from jobs.delivery import delivery_of
from jobs.ingest_delivery import ingest_delivery
from jobs.progress import print_table, say
from jobs.warehouse import Warehouse
from sources.redaction import Redaction

COLUMNS = ("what", "CPU s", "of read_json", "MB a CPU s", "wall s", "MB a s", "JVM CPU s", "jobs", "shuffle MiB")
BASE = "read_json"
MEGABYTE = 1e6


class Spent(NamedTuple):
    """What a run took; the least of several is the one that took the least CPU."""

    cpu_seconds: float
    seconds: float
    jvm_seconds: float
    jobs: int
    shuffle_mib: float


def ingest(spark: SparkSession, capture: Path, into: Path) -> None:
    """The capture into a new warehouse, as `tidegauge ingest` does it."""
    delivery = delivery_of(
        capture, cluster_id=None, capture_id=None, timezone="UTC", layout=None, redact=Redaction().what,
        redact_key_file=None,
    )  # fmt: skip
    ingest_delivery(Warehouse(spark, str(into)), delivery)


def read_json(spark: SparkSession, file: Path, into: Path, schema: StructType | None = None) -> None:
    """The JSON lines as Spark reads them, written as Delta."""
    spark.read.json(str(file), schema=schema).write.format("delta").save(str(into))


def spent_by(spark: SparkSession, log: EventLog, work: Callable[[Path], None], into: Path) -> Spent:
    """The cost of a piece of work that writes into a folder of its own."""
    shutil.rmtree(into, ignore_errors=True)
    ours, all_of_it = time.process_time(), cpu_seconds(spark)
    cost = log.cost_of(lambda: work(into), events=1 << 40)
    ours, all_of_it = time.process_time() - ours, cpu_seconds(spark) - all_of_it
    return Spent(cost.cpu_seconds + ours, cost.wall_seconds, all_of_it - ours, cost.jobs, cost.shuffle_mib)


def measured(
    spark: SparkSession, log: EventLog, works: Mapping[str, Callable[[Path], None]], scratch: Path, rounds: int
) -> dict[str, list[Spent]]:
    """What each run took, one after the other in every round."""
    found: dict[str, list[Spent]] = {name: [] for name in works}
    for number in range(rounds):
        for name, work in works.items():
            found[name].append(spent_by(spark, log, work, scratch / name))
            took = found[name][-1]
            say(f"  round {number + 1}: {name:<16} {took.cpu_seconds:8.1f} s of CPU {took.seconds:8.1f} s")
    return found


def line_of(name: str, spent: Spent, base: Spent, megabytes: float) -> Sequence[str]:
    """A line of the table."""
    return (
        name, f"{spent.cpu_seconds:.1f}", f"{spent.cpu_seconds / base.cpu_seconds:.2f}",
        f"{megabytes / spent.cpu_seconds:.1f}", f"{spent.seconds:.1f}", f"{megabytes / spent.seconds:.1f}",
        f"{spent.jvm_seconds:.1f}", str(spent.jobs), f"{spent.shuffle_mib:.0f}",
    )  # fmt: skip


def figures_of(found: Mapping[str, list[Spent]], megabytes: float) -> dict[str, object]:
    """The ratios and speeds; seconds are the least of their own, whichever run took the least CPU."""
    cpu = {name: min(spent.cpu_seconds for spent in runs) for name, runs in found.items()}
    seconds = {name: min(spent.seconds for spent in runs) for name, runs in found.items()}
    others = [name for name in found if name != "ingest"]
    return {
        "mb": round(megabytes, 1),
        **{f"ratio_to_{name}": round(cpu["ingest"] / cpu[name], 3) for name in others},
        **{f"ratio_to_{name}_seconds": round(seconds["ingest"] / seconds[name], 3) for name in others},
        **{f"{name}_mb_a_cpu_s": round(megabytes / cpu[name], 2) for name in found},
        **{f"{name}_mb_a_s": round(megabytes / seconds[name], 2) for name in found},
    }


@click.command("ingest-cost")
@click.option("--megabytes", type=int, default=200, show_default=True, help="Of the request log.")
@click.option("--rounds", type=int, default=2, show_default=True, help="Runs of each; the cheapest counts.")
@click.option("--work", type=click.Path(path_type=Path), default=Path("build/bench"), show_default=True)
def main(megabytes: int, rounds: int, work: Path) -> None:
    """Measure the ingest of a large request log beside Spark's own JSON reader."""
    made = large_log(work.absolute(), megabytes)
    small = large_log(work.absolute(), 5)
    scratch = work.absolute() / "ingest"
    shutil.rmtree(scratch, ignore_errors=True)
    spark = bench_session(scratch)
    log = EventLog(spark, scratch / "events")
    works: dict[str, Callable[[Path], None]] = {}
    for of in (small, made):  # the small one to warm up: what is compiled once is no cost of a megabyte
        schema = spark.read.json(str(of / JSON_LINES)).schema
        works = {
            "ingest": partial(ingest, spark, of / "capture"),
            BASE: partial(read_json, spark, of / JSON_LINES),
            f"{BASE}_schema": partial(read_json, spark, of / JSON_LINES, schema=schema),
        }
        found = measured(spark, log, works, scratch, rounds if of is made else 1)
    size = sum(file.stat().st_size for file in (made / "capture").rglob("*.log")) / MEGABYTE
    best = {name: min(runs) for name, runs in found.items()}
    print_table(COLUMNS, [line_of(name, spent, best[BASE], size) for name, spent in best.items()])
    spark.stop()
    print(json.dumps(figures_of(found, size)))


if __name__ == "__main__":
    main()
