"""A log is cut as often as its broker says, each time for the reason that it gives there."""

from __future__ import annotations

import pytest

from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import Story, tell

pytestmark = pytest.mark.spark

STORIES = {
    # 1 cuts to its HW. What it then asks for its leader has deleted, and it begins anew at 6: that is no other cut.
    "begins_farther_on": """
        kafka 2.8.2, protocol 0.10.2
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 3
        2 fetches at 0, gets 3, at once
        2 fetches at 3, at once             | hw 3
        append 4
        kill 1
        2 is elected epoch 1
        append 5                            | hw 8
        log start 6                         | log start 6
        restart 1 hw 1 leo 7                | lost 1: 1 to 7
        1 fetches at 1                      | error 1
        1 fetches at 6, at once             | 1:6
    """,
    # 2 is ahead of 3, which is elected all the same: out of its range. Told of another epoch it cuts to its HW.
    "to_the_same_offset_again": """
        kafka 2.8.2, protocol 0.10.2
        1 leads epoch 0, replicas 1 2 3, isr 1 2
        append 4
        2 fetches at 0, gets 4, at once
        2 fetches at 4, at once             | hw 4
        3 fetches at 0, gets 2, at once     | replica 3: leo 2 hw 2
        2 fetches at 4, at once             | replica 2: leo 4 hw 4
        kill 1
        3 is elected epoch 1, unclean       | 3:2
        2 fetches at 4, at once             | lost 2: 2 to 4
        2 fetches at 2, at once             | isr 2 3
        append 2
        2 fetches at 2, gets 2, at once     | replica 2: leo 4 hw 2
        3 is elected epoch 2                | lost 2: 2 to 4
        2 fetches at 2, at once
    """,
}
CUTS = {
    "begins_farther_on": [(1, 7, 1, "high_watermark")],
    "to_the_same_offset_again": [(2, 4, 2, "out_of_range"), (2, 4, 2, "high_watermark")],
}
"""Replica, from where, to where, and why."""


def told() -> list[Story]:
    """All of them."""
    return [tell(name, text) for name, text in STORIES.items()]


@asked
def cut() -> Logs:
    """Their logs."""
    return logs_of(told(), 3)


def test_each_story_is_as_it_is_told() -> None:
    """By the twin, step by step."""
    assert [dispute for story in told() for dispute in story.disputes] == []


@pytest.mark.parametrize("story", STORIES)
def test_a_log_is_cut_once_for_a_line(rebuilt: Answers, story: str) -> None:
    """In the order of time."""
    found = [
        tuple(row[c] for c in ("replica_id", "from_offset", "to_offset", "method"))
        for row in sorted(rebuilt[cut][story].truncations, key=lambda row: row["event_time"])
    ]

    assert found == CUTS[story]
