"""The benchmark's parts: its peers compute the protocol's plain case, it counts what Spark logged."""

from __future__ import annotations

import numpy as np

from bench.costs import Cost, cost_in, least
from bench.kernel import APPEND, FETCH, ISR, LEADS, UNSAID, states


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

    assert cost == Cost(2.5, 7.0, 1, exchanges=1, large_exchanges=1, shuffle_mib=1.0, spill_mib=3.0, peak_mib=5.0)
    assert least([cost, Cost(2.0, 9.0)]).wall_seconds == 9.0
