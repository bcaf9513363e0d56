"""A fetch that its follower had given up, and that the leader finds in a socket later, tells nothing of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pyspark.sql import SparkSession

from replay.events.overtaken import without_overtaken
from schemas import tables as T
from tests.frames import rows
from tests.literal_lines import fetch
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import tell
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

STORY = """# 1 comes back and leads again; 2 knows it, and takes what 1 has.
kafka 3.3.2
1 leads epoch 0, replicas 1 2 3, isr 1 2 3
append 5
2 fetches at 5, at once
3 fetches at 5, at once
2 fetches at 5, at once
3 fetches at 5, at once                     | 1:5  2:5  3:5  hw 5
append 3                                    | 1:8  2:5  3:5  hw 5
kill 1
no leader epoch 1
restart 1 hw 5 leo 8
1 is elected epoch 2                        | 1:8  2:?  3:?
2 fetches at 5, at once
2 fetches at 8, at once                     | 1:8  2:8  3:?
3 fetches at 5, at once
3 fetches at 8, at once                     | 1:8  2:8  3:8  hw 8
"""
CASES = {"as_it_was": None, "overtaken": 0, "of_an_epoch_that_it_never_left": 2}
"""By topic: the epoch that a refused fetch names which comes right after the first one in epoch 2."""


@asked
def answered() -> Logs:
    """The story, and with a fetch between the two of the new epoch, refused as one of an older epoch."""
    stories = [tell(name, STORY) for name in CASES]
    landing = combined(stories)
    fetches = landing[T.FETCH_EVENTS.name]
    for name, epoch in CASES.items():
        if epoch is None:
            continue
        first = next(f for f in fetches if (f["cluster_id"], f["replica_id"], f["leader_epoch"]) == (name, 2, 2))
        later = {time: first[time] + timedelta(microseconds=400) for time in ("event_time", "response_time")}
        refused = {"error_code": 74, "current_leader_epoch": epoch, "records_size": 0, "response_high_watermark": -1}
        new = {"session_id": 0, "session_epoch": 0, "source_line": 999}
        fetches.append(first | later | refused | new)
    return logs_of(stories, 3, landing)


def states(rebuilt: Answers, name: str) -> list[tuple[int, int, str]]:
    """What replica 2 had in epoch 2, one state after the other."""
    own = [row for row in rebuilt[answered][name].replica if (row["replica_id"], row["leader_epoch"]) == (2, 2)]
    return [(row["log_end_offset"], row["high_watermark"], row["exactness"]) for row in own]


def test_an_overtaken_fetch_tells_nothing(rebuilt: Answers) -> None:
    """The follower took the response that came before it, and its HW with that."""
    assert states(rebuilt, "overtaken") == states(rebuilt, "as_it_was")
    assert (8, 5, "exact") in states(rebuilt, "overtaken")


def test_a_late_fetch_tells_where_its_follower_is(rebuilt: Answers) -> None:
    """One that names no older epoch than before: the follower had not taken the response."""
    assert states(rebuilt, "of_an_epoch_that_it_never_left") != states(rebuilt, "as_it_was")


ASKED = {
    # By line: milliseconds, the leader's broker, the replica, the epoch that it names, the error it is answered with.
    "the first in epoch 2": (10, 1, 2, 2, 0),
    "not told of epoch 2 yet": (5, 1, 2, 0, 74),
    "in the same moment": (10, 1, 2, 0, 74),
    "overtaken": (20, 1, 2, 0, 74),
    "its session forgot the epoch (before 2.5)": (30, 1, 2, 0, 0),
    "names no epoch": (40, 1, 2, -1, 74),
    "not told of epoch 3 yet": (50, 1, 2, 2, 74),
    "of a replica that was never told of epoch 2": (60, 1, 3, 0, 74),
    "at another broker, by another clock": (70, 3, 2, 0, 74),
}


def test_only_what_names_an_older_epoch_than_before_was_overtaken(spark: SparkSession) -> None:
    """And is refused for it, by the same broker."""
    asked = [
        fetch("t", ms, replica, 5, 0)
        | {"source_file": name, "broker_id": broker, "current_leader_epoch": epoch, "error_code": error}
        for name, (ms, broker, replica, epoch, error) in ASKED.items()
    ]
    left = without_overtaken(rows(spark, T.FETCH_EVENTS, *asked)).collect()

    assert {row["source_file"] for row in left} == ASKED.keys() - {"overtaken"}
