"""A response that tells of divergence: up to 3.3 its follower took the HW in it, and cut its log after that."""

from __future__ import annotations

from itertools import groupby

import pytest

from schemas.kinds import Role
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import Story, tell

pytestmark = pytest.mark.spark

STORY = """# A follower whose log parts from the leader's asks, cuts, and asks again.
kafka {version}, protocol {protocol}
1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
append 5                               | 1:5  2:?  hw 0
2 fetches at 3, dropped                | 1:5  2:3  hw 3
2 is elected epoch 1, isr 2            | 2:3  1:?  hw 3
append 4                               | 2:7  1:?  hw 7
1 fetches at 5                         | 2:7  1:?  hw 7  diverges 0 at 3  replica 1: leo 3 hw 3
1 fetches at 3                         | 2:7  1:3  hw 7  replica 1: leo 7 hw 7
1 fetches at 7, at once                | 2:7  1:7  hw 7
"""


CUT_FIRST = [(5, 3), (3, 3), (7, 7)]
HEEDED_FIRST = [(5, 3), (5, 5), (3, 3), (7, 7)]
STEPS = {"3.4.1": CUT_FIRST, "3.3.2": HEEDED_FIRST, "2.8.2": HEEDED_FIRST}


def stories() -> list[Story]:
    """One of each release."""
    return [tell(version, STORY.format(version=version, protocol=version[:3])) for version in STEPS]


@asked
def of_each_release() -> Logs:
    """Their logs."""
    return logs_of(stories(), 2)


def test_a_follower_heeds_the_hw_before_it_truncates(rebuilt: Answers) -> None:
    """As far as its log reaches: offsets that the leader never had are below its HW for that moment."""
    assert [story.disputes for story in stories()] == [[], [], []]
    of_1 = {
        version: [row for row in told.replica if row["replica_id"] == 1 and row["role"] == Role.FOLLOWER.value]
        for version, told in rebuilt[of_each_release].items()
    }
    steps = {
        version: [(row["log_end_offset"], row["high_watermark"]) for row in rows] for version, rows in of_1.items()
    }
    assert {version: [step for step, _ in groupby(each)] for version, each in steps.items()} == STEPS
