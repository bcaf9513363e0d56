"""The benchmark's parts: its peers compute the protocol's plain case, it counts what Spark logged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.costs import Cost, cost_in, least
from bench.ingest_cost import BASE, Spent, figures_of
from bench.kernel import APPEND, FETCH, ISR, LEADS, UNSAID, states
from bench.request_log import JSON_LINES, REQUEST_LOG, large_log
from tests.conftest import FIRST_COMPILER_ONLY


def test_the_kernel_computes_a_worked_example() -> None:
    """A leader and two followers: the HW waits for the slower one, and no more once that has left the ISR."""
    #        kind    slot  leo     asked   mask
    events = [
        (LEADS,  -1,   0,      UNSAID, 0b111),
        (APPEND, -1,   10,     UNSAID, UNSAID),
        (FETCH,  1,    UNSAID, 0,      UNSAID),
        (FETCH,  2,    UNSAID, 0,      UNSAID),
        (FETCH,  1,    UNSAID, 10,     UNSAID),
        (ISR,    -1,   UNSAID, UNSAID, 0b011),
    ]  # fmt: skip
    given = dict(zip(("kind", "slot", "leo", "asked", "mask"), np.array(events, dtype=np.int64).T, strict=True))
    same = {
        name: np.zeros(len(events), dtype=np.int64) for name in ("partition", "epoch", "leader", "start_hw", "told")
    }
    made = states({**given, **same, "us": np.arange(len(events))}, slots=3)

    assert made["log_end"].tolist() == [0, 10, 10, 10, 10, 10]
    assert made["leo_1"].tolist() == [-1, -1, 0, 0, 10, 10]
    assert made["hw"].tolist() == [0, 0, 0, 0, 0, 10]
    assert made["next"][2] == 10


def test_costs_are_sums_of_the_tasks_in_an_event_log() -> None:
    """CPU, shuffle and spill add up, memory is the most of one task, an exchange is a stage that wrote rows."""

    def task(stage: int, cpu_ns: int, rows: int, peak: int) -> dict[str, object]:
        written = {"Shuffle Bytes Written": rows << 10, "Shuffle Records Written": rows}
        metrics = {
            "Executor CPU Time": cpu_ns, "Memory Bytes Spilled": 1 << 20, "Peak Execution Memory": peak << 20,
            "Shuffle Write Metrics": written,
        }  # fmt: skip
        return {"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Task Metrics": metrics}

    log = [{"Event": "SparkListenerJobStart"}, task(1, 10**9, 512, 3), task(1, 10**9, 512, 5), task(2, 5 * 10**8, 0, 1)]
    cost = cost_in(log, 7.0, events=1000)

    assert cost == Cost(
        2.5, 7.0, 1, exchanges=1, large_exchanges=1, shuffle_mib=1.0, spill_mib=3.0, peak_mib=5.0, longest_seconds=1
    )
    assert least([cost, Cost(2.0, 9.0)]).wall_seconds == 9.0


def test_a_large_request_log_is_one_story_told_on(tmp_path: Path) -> None:
    """Each line is another one, and each session's epochs follow each other through all copies."""
    made = large_log(tmp_path, 6)
    lines = (made / "capture" / "broker-1" / REQUEST_LOG).read_text(encoding="utf-8").splitlines()
    requests = [json.loads(text) for text in (made / JSON_LINES).read_text(encoding="utf-8").splitlines()]
    epochs: dict[int, list[int]] = {}
    for asked, answered in ((request["request"], request["response"]) for request in requests):
        if asked.get("sessionEpoch", -1) >= 0:
            epochs.setdefault(answered["sessionId"], []).append(asked["sessionEpoch"])

    assert len(set(lines)) == len(lines) == len(requests) > 6000
    assert len(epochs) == 2
    assert all(sorted(turns) == list(range(len(turns))) and len(turns) > 1000 for turns in epochs.values())


def test_ratios_are_of_the_cheapest_runs() -> None:
    """CPU and seconds each by their own least: a run with little of the one may have waited for the other."""
    found = {
        "ingest": [Spent(30.0, 90.0, 80.0, 9, 1.0), Spent(40.0, 60.0, 80.0, 9, 1.0)],
        BASE: [Spent(10.0, 20.0, 15.0, 3, 0.0)],
    }
    figures = figures_of(found, 200.0)

    assert (figures["ratio_to_read_json"], figures["ratio_to_read_json_seconds"]) == (3.0, 3.0)
    assert (figures["ingest_mb_a_cpu_s"], figures["read_json_mb_a_s"]) == (6.67, 10.0)


@pytest.mark.submit
@pytest.mark.long
@pytest.mark.parametrize("size", ["tiny", "small"])
def test_all_engines_write_the_same(size: str, tmp_path: Path) -> None:
    """Ours, NumPy through Arrow and pandas, DuckDB, Polars and a loop rebuild the same of a synthetic cluster.

    The tiny one's appends are of transactions: of those the peers know nothing, and the HW does not depend on them.
    """
    words = [sys.executable, "-m", "bench.run", "--size", size, "--rounds", "1", "--work", str(tmp_path)]
    as_a_user = {name: value for name, value in os.environ.items() if name != "TIDEGAUGE_SPARK_CONF"}
    if size == "tiny":
        words += ["--transactions"]
        as_a_user |= FIRST_COMPILER_ONLY
    root = Path(__file__).parent.parent
    ran = subprocess.run(words, cwd=root, env=as_a_user, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr[-2000:]
    figures = json.loads(ran.stdout.splitlines()[-1])
    assert figures["same_output"] is True
    assert all(figures[f"ratio_to_{name}"] > 0 for name in ("floor", "apply_in_arrow", "apply_in_pandas", "duckdb"))
