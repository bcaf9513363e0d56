"""Brokers are fenced by a controller whose clock is another's: what a leader had applied by then, offsets tell."""

from __future__ import annotations

from datetime import timedelta

import pytest

from replay.releases import profile_for
from tests.rebuilt import Answers, Logs, asked
from tests.story import tell

pytestmark = pytest.mark.spark

FENCED = """# 3 is fenced, and so leaves the ISR: though it was caught up a moment ago, the HW does not wait for it.
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 4                                   | 1:4  2:?  3:?  hw 0
2 fetches at 4, at once                    | 1:4  2:4  3:?  hw 0
3 fetches at 4, at once                    | 1:4  2:4  3:4  hw 4
append 2                                   | 1:6  2:4  3:4  hw 4
2 fetches at 4                             | 1:6  2:4  3:4  hw 4
2 fetches at 6, at once                    | 1:6  2:6  3:4  hw 4
fence 3                                    | 1:6  2:6  3:4  hw 6  isr 1 2
time +300 ms                               | hw 6
2 fetches at 6                             | 1:6  2:6  3:4  hw 6
append 1                                   | 1:7  2:6  3:4  hw 6
"""

ASKED_FOR = """# The ISR changed by the leader's wish, before 3 was fenced: it is told of that again, as it restarts.
1 leads epoch 0, replicas 1 2 3, isr 1     | 1:0  2:?  3:?  hw 0
append 4                                   | 1:4  2:?  3:?  hw 4
2 fetches at 0, at once                    | 1:4  2:0  3:?  hw 4
3 fetches at 0, at once                    | 1:4  2:0  3:0  hw 4
2 fetches at 4                             | 1:4  2:4  3:0  hw 4  maximal isr 1 2
3 fetches at 4                             | 1:4  2:4  3:4  hw 4  maximal isr 1 2
isr 1 2                                    | 1:4  2:4  3:4  hw 4  isr 1 2
fence 3                                    | 1:4  2:4  3:4  hw 4  isr 1 2
append 2                                   | 1:6  2:4  3:4  hw 4
2 fetches at 6, at once                    | 1:6  2:6  3:4  hw 6  isr 1 2
kill 1                                     | no leader
restart 1                                  | 1:6  2:?  3:?  hw 6  isr 1 2
"""


def controller_ahead_by(ms: int) -> Logs:
    """The story, told by a controller whose clock is ahead."""
    story = tell("fenced", FENCED)
    assert story.disputes == []
    told = story.landing["broker_registrations"]
    moved = [row | {"event_time": row["event_time"] + timedelta(milliseconds=ms)} for row in told]
    return Logs({**story.landing, "broker_registrations": moved}, {story.name: profile_for("4.1.0")}, 3)


@asked
def behind() -> Logs:
    """10 ms behind."""
    return controller_ahead_by(-10)


@asked
def together() -> Logs:
    """The same clock."""
    return controller_ahead_by(0)


@asked
def ahead() -> Logs:
    """10 ms ahead."""
    return controller_ahead_by(10)


@asked
def asked_for() -> Logs:
    """A leader that is told again of what it had asked for."""
    story = tell("asked for", ASKED_FOR)
    assert story.disputes == []
    return Logs(story.landing, {story.name: profile_for("4.1.0")}, 3)


@pytest.mark.parametrize("logs", [behind, together, ahead], ids=["behind", "together", "ahead"])
def test_who_left_the_isr_for_being_fenced_is_fenced_by_then(logs: object, rebuilt: Answers) -> None:
    """Its record lies before that of the ISR, whatever the clocks say."""
    change = next(row for row in rebuilt[logs]["fenced"].leader if row["event_type"] == "ISR_CHANGE")

    assert (change["isr"], change["high_watermark"], change["exactness"]) == ([1, 2], 6, "exact")


def test_a_change_that_the_leader_asked_for_is_not_as_late_as_it_is_told_again(rebuilt: Answers) -> None:
    """What its metadata says after it may be as early as it says."""
    fetch = [row for row in rebuilt[asked_for]["asked for"].leader if row["event_type"] == "FETCH"][-1]

    assert (fetch["remote_log_end_offset"], fetch["high_watermark"]) == ({2: 6, 3: 4}, 6)
