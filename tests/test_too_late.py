"""A response that a leader builds when its follower leads already, or is none any more: nobody waits for it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import Story, tell
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

STORY = """# 1 is frozen with two fetches parked; 2 is elected. 1 thaws, and answers with the HW that 3's fetch made.
kafka 4.1.0, protocol 4.1
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 3                                   | 1:3  2:?  3:?  hw 0
2 fetches at 3, at once                    | 1:3  2:3  3:?  hw 0
3 fetches at 3, at once                    | 1:3  2:3  3:3  hw 3
append 4                                   | 1:7  2:3  3:3  hw 3
3 fetches at 3                             | 1:7  2:3  3:3  hw 3
2 fetches at 3                             | 1:7  2:3  3:3  hw 3  replica 2: leo 7 hw 3
2 fetches at 7, parked                     | 1:7  2:7  3:3  hw 3
3 fetches at 7, parked                     | 1:7  2:7  3:7  hw 7
2 is elected epoch 1, 1 not told           | 2:7  1:?  3:?  hw 3
time +{wait} ms                            | 2:7  1:?  3:?  hw 3
response to 2                              | 2:7  1:?  3:?  hw 3
append 1                                   | 2:8  1:?  3:?  hw 3
"""
DELETED = """# The topic is deleted with a fetch of 2 parked; the leader, frozen, answers it long after, with its HW.
kafka 4.1.0, protocol 4.1
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 3                                   | 1:3  2:?  3:?  hw 0
2 fetches at 3, at once                    | 1:3  2:3  3:?  hw 0
3 fetches at 3, at once                    | 1:3  2:3  3:3  hw 3
append 4                                   | 1:7  2:3  3:3  hw 3
2 fetches at 3                             | 1:7  2:3  3:3  hw 3  replica 2: leo 7 hw 3
2 fetches at 7, parked                     | 1:7  2:7  3:3  hw 3
3 fetches at 3                             | 1:7  2:7  3:3  hw 3
3 fetches at 7, parked                     | 1:7  2:7  3:7  hw 7
time +400 ms                               | 1:7  2:7  3:7  hw 7
response to 2                              | 1:7  2:7  3:7  hw 7
"""
"""What the twin plays is 2 with its log; the test says that it was deleted."""

WAITS = {"late": 400, "near": 20, "near_and_stated": 20}
KNOWN = {"late": (3, 7, "bounded"), "near": (7, 7, "exact"), "near_and_stated": (3, 7, "bounded")}


BOUNDS = ("high_watermark_low", "high_watermark_high", "exactness")


def waiting() -> list[Story]:
    """2 leads for so long before 1 answers it."""
    return [tell(name, STORY.format(wait=wait)) for name, wait in WAITS.items()]


@asked
def too_late() -> Logs:
    """The HW in the line of 2's election is left to one of them."""
    landing = dict(combined(waiting()))
    landing["broker_statements"] = [
        row
        for row in landing["broker_statements"]
        if row["cluster_id"] == "near_and_stated" or not row["kind"].endswith("_high_watermark")
    ]
    return logs_of(waiting(), 3, landing)


def test_what_is_answered_too_late_may_not_have_come(rebuilt: Answers) -> None:
    """Two brokers' clocks tell it where they are far enough apart; nearer, the HW in the line of 2's election does.

    Where that states none (before 2.4) the answer is taken for one that came.
    """
    assert [story.disputes for story in waiting()] == [[], [], []]
    stated = [(row["cluster_id"], row["kind"]) for row in combined(waiting())["broker_statements"]]
    assert ("near", "became_leader_high_watermark") in stated
    of_2 = {
        name: [row for row in told.replica if (row["replica_id"], row["leader_epoch"]) == (2, 0)]
        for name, told in rebuilt[too_late].items()
    }

    assert {name: tuple(rows[-1][c] for c in BOUNDS) for name, rows in of_2.items()} == KNOWN


NO_ROLE = "deleted_without_a_role"
DELETED_AFTER = {"deleted_before": -380, "deleted_soon_after": 20, "deleted_long_after": 200, NO_ROLE: -380}
"""By topic: milliseconds from the last response to the line of the deletion."""


def deleted() -> list[Story]:
    """All alike, of which one is kept."""
    return [tell(topic, DELETED) for topic in ("kept", *DELETED_AFTER)]


@asked
def as_it_is_deleted() -> Logs:
    """In the others 2 tells when it gives up its log; in one of them it told of no role, as before 2.6."""
    landing = dict(combined(deleted()))
    statements = list(landing["broker_statements"])
    for topic, milliseconds in DELETED_AFTER.items():
        last = max(row["response_time"] for row in landing["fetch_events"] if row["cluster_id"] == topic)
        role = next(row for row in statements if (row["cluster_id"], row["broker_id"]) == (topic, 2))
        line = {"kind": "log_deleted", "offset": -1, "leader_epoch": 0 if topic == NO_ROLE else -1, "source_line": 999}
        statements.append(role | line | {"event_time": last + timedelta(milliseconds=milliseconds)})
    statements = [row for row in statements if row["cluster_id"] != NO_ROLE or not row["kind"].startswith("became_f")]
    return logs_of(deleted(), 3, landing | {"broker_statements": statements})


def test_what_is_answered_when_the_log_is_deleted_may_not_have_come(rebuilt: Answers) -> None:
    """The follower's own line tells when it gave up its log ("is scheduled for deletion"): its fetcher went before."""
    assert [story.disputes for story in deleted()] == [[]] * 5
    ends = {
        name: [row for row in told.replica if row["replica_id"] == 2][-1]
        for name, told in rebuilt[as_it_is_deleted].items()
    }

    assert {name: tuple(row[c] for c in BOUNDS) for name, row in ends.items()} == {
        "kept": (7, 7, "exact"),
        "deleted_before": (3, 7, "bounded"),
        "deleted_soon_after": (3, 7, "bounded"),
        "deleted_long_after": (7, 7, "exact"),
        NO_ROLE: (3, 7, "bounded"),
    }
