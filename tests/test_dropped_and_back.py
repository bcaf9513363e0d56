"""A replica that is dropped has no state until it is assigned again, with a new log: its old one was not truncated."""

from __future__ import annotations

import itertools

import pytest

from replay.releases import profile_for
from tests.rebuilt import Answers, Logs, asked
from tests.story import tell

pytestmark = pytest.mark.spark

BACK = """# 3 has restarted with a shorter log, is dropped, and comes back with none.
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 4                                   | 1:4  2:?  3:?  hw 0
2 fetches at 0, at once                    | 1:4  2:0  3:?  hw 0
3 fetches at 0, at once                    | 1:4  2:0  3:0  hw 0
2 fetches at 4, at once                    | 1:4  2:4  3:0  hw 0
3 fetches at 4, at once                    | 1:4  2:4  3:4  hw 4
kill 3                                     | 1:4  2:4  3:4  hw 4
restart 3 leo 2                            | 1:4  2:4  3:4  hw 4
3 fetches at 2, at once                    | 1:4  2:4  3:2  hw 4
3 fetches at 4, at once                    | 1:4  2:4  3:4  hw 4
replicas 1 2, epoch 1                      | 1:4  2:4  hw 4
append 2                                   | 1:6  2:4  hw 4
2 fetches at 4, at once                    | 1:6  2:4  hw 4
time +1 s                                  | 1:6  2:4  hw 4
replicas 1 2 3                             | 1:6  2:4  3:?  hw 4
3 fetches at 0, at once                    | 1:6  2:4  3:0  hw 4
3 fetches at 6, at once                    | 1:6  2:4  3:6  hw 4
"""
UNTOLD = ("replicas", "adding_replicas", "removing_replicas")


@asked
def whole() -> Logs:
    """The story, with its metadata log."""
    story = tell("back", BACK)
    assert story.disputes == []
    return Logs(story.landing, {story.name: profile_for("4.1.0")}, 3)


@asked
def without_metadata() -> Logs:
    """Of who is a replica no line tells, as from 3.3 on where the metadata log is not captured."""
    told = whole()
    changes = [row | dict.fromkeys(UNTOLD) for row in told.landing["leader_changes"]]
    return Logs({**told.landing, "metadata_changes": [], "leader_changes": changes}, told.spoken, told.slots)


@pytest.mark.parametrize("logs", [whole, without_metadata], ids=["whole", "without_metadata"])
def test_a_deleted_log_is_not_truncated(logs: object, rebuilt: Answers) -> None:
    """What its restart lost it has lost, and that alone."""
    cuts = rebuilt[logs]["back"].truncations

    assert [(cut["replica_id"], cut["from_offset"], cut["to_offset"], cut["method"]) for cut in cuts] == [
        (3, 4, 2, "restart")
    ]


def test_a_new_log_is_empty_whatever_was_loaded_before(rebuilt: Answers) -> None:
    """2 was the LEO of the log that was deleted."""
    of_three = [row for row in rebuilt[whole]["back"].replica if row["replica_id"] == 3]
    ends = [row["log_end_offset"] for row in of_three if row["leader_epoch"] == 1]

    assert [end for end, before in zip(ends, [None, *ends], strict=False) if end != before] == [-1, 0, 6]


def test_it_has_no_state_while_it_is_no_replica(rebuilt: Answers) -> None:
    """Its last one ends with the leadership in which it is none, and the next begins when it is assigned again."""
    back = rebuilt[whole]["back"]
    elected = [row["event_time"] for row in back.leader if row["event_type"] == "BECOME_LEADER"]
    assigned = [row["event_time"] for row in back.leader if row["event_type"] == "ISR_CHANGE"]
    of_three = sorted((row["valid_from"], row["valid_to"]) for row in back.replica if row["replica_id"] == 3)

    assert [(ended, begun) for (_, ended), (begun, _) in itertools.pairwise(of_three) if ended != begun] == [
        (elected[-1], assigned[-1])
    ]
