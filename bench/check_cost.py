"""What the check of a timeline costs beside one aggregate pass written by hand: `python bench/check_cost.py`.

The leader timeline of a real capture is repeated under many topics until it has enough rows. Three things are timed, in
turn and each as often, and the cheapest run of each counts:

- `check`: `expectations.judging.judge` with every rule of the leader timeline, Great Expectations included;
- `by hand`: one statement that counts the violations of the same rules, a window for what lies before a row included;
- `row by row`: one statement that counts those of the rules that need no window.

Beside the seconds stand those of the JVM's processor time, which a busy machine does not change. The last line is JSON.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from expectations.invariants import INVARIANTS
from expectations.judging import judge
from jobs.commits import Transaction
from jobs.session import spark_session
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.tables import INCIDENTS, LEADER_TIMELINE, SETTINGS

RULES = [rule for rule in INVARIANTS if rule.subject.table is LEADER_TIMELINE]
BY_HAND = """
SELECT count(*), count_if(high_watermark > log_end_offset),
  count_if(NOT begins AND high_watermark < previous_hw),
  count_if(NOT begins AND log_end_offset < previous_leo),
  count_if(log_start_offset > high_watermark OR last_stable_offset > high_watermark),
  count_if(NOT begins AND is_under_min_isr AND high_watermark > previous_hw),
  count_if(NOT array_contains(isr, leader_id)),
  count_if(exists(map_values(remote_log_end_offset), leo -> leo > log_end_offset)),
  count_if(begins AND log_end_offset < highest_before),
  count_if(previous_seq >= event_seq),
  count_if(NOT begins AND high_watermark > previous_hw AND
    exists(isr, r -> r <> leader_id AND coalesce(try_element_at(remote_log_end_offset, r), -1L) < high_watermark))
FROM (
  SELECT *, previous_epoch IS NULL OR previous_epoch <> leader_epoch OR event_type = 'BECOME_LEADER' AS begins
  FROM (
    SELECT *, lag(leader_epoch) OVER w AS previous_epoch, lag(event_seq) OVER w AS previous_seq,
      lag(high_watermark) OVER w AS previous_hw, lag(log_end_offset) OVER w AS previous_leo,
      max(high_watermark) OVER (PARTITION BY cluster_id, topic, topic_id, partition ORDER BY leader_epoch, event_seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS highest_before
    FROM leader_timeline
    WINDOW w AS (PARTITION BY cluster_id, topic, topic_id, partition ORDER BY leader_epoch, event_seq)))
"""
ROW_BY_ROW = """
SELECT count(*), count_if(high_watermark > log_end_offset), count_if(NOT array_contains(isr, leader_id)),
  count_if(log_start_offset > high_watermark OR last_stable_offset > high_watermark),
  count_if(exists(map_values(remote_log_end_offset), leo -> leo > log_end_offset))
FROM leader_timeline
"""


def repeated(source: Warehouse, target: Warehouse, rows: int) -> None:
    """Write the source's timeline to the target under as many topics as it takes."""
    events = source.read(LEADER_TIMELINE)
    copies = -(-rows // events.count())
    numbered = events.crossJoin(target.spark.range(copies).withColumnRenamed("id", "copy"))
    named = numbered.withColumn(C.TOPIC, F.concat_ws("-", C.TOPIC, "copy"))
    for table, frame in (
        (LEADER_TIMELINE, named),
        (INCIDENTS, source.read(INCIDENTS)),
        (SETTINGS, source.read(SETTINGS)),
    ):
        target.create(table)
        target.append(table, frame, Transaction(f"bench {rows}", 1))


class Cost(NamedTuple):
    """What a run cost."""

    cpu_seconds: float
    seconds: float
    jobs: int


def cost(spark: SparkSession, name: str, run: Callable[[], object]) -> Cost:
    """The cost of a run."""
    group = f"{name} {time.monotonic()}"
    spark.sparkContext.setJobGroup(group, name)
    began, cpu = time.monotonic(), cpu_seconds(spark)
    run()
    jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))
    return Cost(cpu_seconds(spark) - cpu, time.monotonic() - began, jobs)


def cpu_seconds(spark: SparkSession) -> float:
    """Processor time of this process and of the JVM it started, where /proc tells it."""
    jvm = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat")  # noqa: SLF001 - there is no public way to the pid
    ticks = sum(map(int, jvm.read_text().rpartition(")")[2].split()[11:13])) if jvm.exists() else 0
    return ticks / os.sysconf("SC_CLK_TCK") + time.process_time()


@click.command()
@click.argument("warehouse")
@click.option("--rows", default=2_000_000, show_default=True)
@click.option("--runs", default=3, show_default=True)
@click.option("--into", default="build/bench/check-cost", show_default=True, help="Warehouse of the repeated timeline.")
def main(warehouse: str, rows: int, runs: int, into: str) -> None:
    """Measure the check of the timeline of WAREHOUSE, a warehouse that `tidegauge pipeline` has made."""
    spark = spark_session("bench", warehouse=into, landing=1 << 40)
    target = Warehouse(spark, f"{into}-{rows}")
    if not Path(target.place.location(INCIDENTS)).exists():
        repeated(Warehouse(spark, warehouse), target, rows)
    tables: dict[str, DataFrame] = {t.name: target.read(t) for t in (LEADER_TIMELINE, INCIDENTS, SETTINGS)}
    tables[LEADER_TIMELINE.name].createOrReplaceTempView(LEADER_TIMELINE.name)
    measured = {
        "check": lambda: judge(tables, RULES),
        "by hand": lambda: spark.sql(BY_HAND).collect(),
        "row by row": lambda: spark.sql(ROW_BY_ROW).collect(),
    }
    judge({**tables, LEADER_TIMELINE.name: tables[LEADER_TIMELINE.name].limit(1000)}, RULES)  # imports, and warms up
    found: dict[str, list[Cost]] = {name: [] for name in measured}
    for _ in range(runs):
        for name, run in measured.items():
            found[name].append(cost(spark, name, run))
            click.echo(f"{name}: {found[name][-1]}", err=True)
    report(found, target.read(LEADER_TIMELINE).count())


def report(found: dict[str, list[Cost]], rows: int) -> None:
    """Print the cheapest run of each, and the whole as JSON."""
    best = {name.replace(" ", "_"): min(runs) for name, runs in found.items()}
    for name, spent in best.items():
        print(f"{name:<12}{spent.cpu_seconds:8.1f} s CPU {spent.seconds:8.1f} s {spent.jobs:4} Spark jobs")
    check = best["check"]
    others = {name: other for name, other in best.items() if other is not check}
    print(json.dumps({
        "rows": rows, "rules": len(RULES),
        **{name: {key: round(value, 2) for key, value in spent._asdict().items()} for name, spent in best.items()},
        **{f"ratio_to_{name}": round(check.seconds / other.seconds, 2) for name, other in others.items()},
        **{f"cpu_ratio_to_{name}": round(check.cpu_seconds / other.cpu_seconds, 2) for name, other in others.items()},
    }))  # fmt: skip


if __name__ == "__main__":
    main()
