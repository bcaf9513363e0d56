"""What a stretch of work cost Spark, by its own event log: task CPU, shuffles, spill, memory, jobs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

from bench.workers import worker_cpu_seconds

MIB = 1 << 20


@dataclass(frozen=True)
class Cost:
    """What was spent between two moments."""

    cpu_seconds: float
    """CPU of all tasks and their Python workers; of another engine than Spark, of its process."""
    wall_seconds: float
    jobs: int = 0
    exchanges: int = 0
    """Stages that wrote a shuffle."""
    large_exchanges: int = 0
    """Those of them that wrote at least as many rows as there are events."""
    shuffle_mib: float = 0.0
    spill_mib: float = 0.0
    peak_mib: float = 0.0
    """The most memory one task held for sorts, windows and aggregations."""
    longest_seconds: float = 0.0
    """CPU of the longest task: with cores to spare the work lasts no less."""


class EventLog:
    """A session's event log, read on from where it was last read."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._read = 0

    def cost_of(self, work: Callable[[], object], events: int) -> Cost:
        """Do the work; what it cost."""
        self._new_lines()
        began, of_workers = time.monotonic(), worker_cpu_seconds()
        work()
        took, of_workers = time.monotonic() - began, worker_cpu_seconds() - of_workers
        cost = cost_in(map(json.loads, self._new_lines()), took, events)
        return replace(cost, cpu_seconds=cost.cpu_seconds + of_workers)

    def _new_lines(self) -> list[str]:
        bus = self._spark.sparkContext._jsc.sc().listenerBus()  # noqa: SLF001 - the log is complete when it is empty
        bus.waitUntilEmpty()
        (file,) = self._folder.iterdir()
        with file.open(encoding="utf-8") as log:
            log.seek(self._read)
            lines = log.readlines()
            self._read = log.tell()
        return lines


def cost_in(entries: Iterable[dict[str, object]], wall_seconds: float, events: int) -> Cost:
    """The sum of the tasks in some lines of a log."""
    cpu_ns = jobs = shuffled = spilled = peak = longest = 0
    rows_of_stage: dict[int, int] = {}
    for entry in entries:
        jobs += entry["Event"] == "SparkListenerJobStart"
        metrics = entry.get("Task Metrics") if entry["Event"] == "SparkListenerTaskEnd" else None
        if not isinstance(metrics, dict):
            continue
        written = metrics["Shuffle Write Metrics"]
        cpu_ns += metrics["Executor CPU Time"]
        longest = max(longest, metrics["Executor CPU Time"])
        spilled += metrics["Memory Bytes Spilled"]
        peak = max(peak, metrics["Peak Execution Memory"])
        shuffled += written["Shuffle Bytes Written"]
        stage = int(str(entry["Stage ID"]))
        rows_of_stage[stage] = rows_of_stage.get(stage, 0) + written["Shuffle Records Written"]
    exchanged = [rows for rows in rows_of_stage.values() if rows]
    return Cost(
        cpu_ns / 1e9, wall_seconds, jobs, len(exchanged), sum(rows >= events for rows in exchanged),
        shuffled / MIB, spilled / MIB, peak / MIB, longest / 1e9,
    )  # fmt: skip


def least(costs: Iterable[Cost]) -> Cost:
    """The run that took the least CPU: what another one took more is the machine's."""
    return min(costs, key=lambda cost: cost.cpu_seconds)
