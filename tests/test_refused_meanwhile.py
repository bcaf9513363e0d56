"""Fetches that are refused while a leader is not told that it leads, or not again: they tell of their senders alone."""

from __future__ import annotations

import pytest

from tests.looked_through import stories_of
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

# 2 is killed and comes back with HW 1. It is asked before it is told that it leads on.
COMES_BACK = """
    lag 10 s
    2 leads epoch 0, replicas 2 5, isr 2 5
    append 6
    5 fetches at 0, gets 3
    5 fetches at 3, gets 1                 | 2:6  5:3  hw 3
    kill 2
    restart 2 hw 1 leo 6, not told
    5 fetches at 4, at once
    time +1 s
    tell 2                                 | 2:6  5:?  hw 1
    append 1                               | 2:7  5:?  hw 1
    5 fetches at 4                         | 2:7  5:4  hw 4
"""
STORIES = {
    "comes_back": COMES_BACK,
    "before_lines_of_roles_told_the_hw": "kafka 2.3.1, protocol 2.3\n" + COMES_BACK,
    # What 2 asked before it was killed is of a log that it had no more when 3 began to lead.
    "one_restart_is_one_cut": """
        lag 10 s
        1 leads epoch 0, replicas 1 2 3, isr 1 2 3
        append 9
        2 fetches at 0
        3 fetches at 0
        2 fetches at 9
        3 fetches at 9                     | hw 9
        3 is elected epoch 1, 3 not told
        2 fetches at 9
        kill 2
        restart 2 hw 0 leo 4               | lost 2: 4 to 9
        time +5 s
        tell 3
        2 fetches at 4
        2 fetches at 9
    """,
}
OLD = "before_lines_of_roles_told_the_hw"
HW_OF_ROLES = ("became_leader_high_watermark", "became_follower_high_watermark", "leader_metadata_high_watermark")


@asked
def told() -> Logs:
    """Their logs; before 2.4.1 lines of roles have no HW."""
    stories = stories_of(STORIES)
    landing = combined(stories)
    statements = landing["broker_statements"]
    with_hws = [row for row in statements if row["cluster_id"] != OLD or row["kind"] not in HW_OF_ROLES]
    return logs_of(stories, 3, {**landing, "broker_statements": with_hws})


@pytest.mark.parametrize("story", ["comes_back", OLD])
def test_what_it_loaded_counts(story: str, rebuilt: Answers) -> None:
    """The HW of its checkpoint, whoever asked it meanwhile; as its process ended its HW may have risen."""
    found = rebuilt[told][story]
    began, *then = [row["high_watermark"] for row in found.leader[-3:]]
    own = [row for row in found.replica if row["replica_id"] == 2]

    assert (began, then) == (1, [1, 4])
    assert [(row["high_watermark"], row["exactness"]) for row in own[-5:]] == [
        (3, "exact"), (3, "bounded"), (1, "stated"), (1, "stated"), (4, "exact"),
    ]  # fmt: skip


def test_a_lost_tail_is_cut_once(rebuilt: Answers) -> None:
    """As the replica restarts, and not again with its next fetch."""
    cuts = rebuilt[told]["one_restart_is_one_cut"].truncations

    assert [(row["replica_id"], row["from_offset"], row["to_offset"], row["method"]) for row in cuts] == [
        (2, 9, 4, "restart")
    ]
