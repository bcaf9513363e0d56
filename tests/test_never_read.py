"""A partition of a fetch that the broker never read moves no remote LEO: its metadata did not have the topic."""

from __future__ import annotations

from datetime import timedelta

import pytest

from schemas import tables as T
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import tell
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

STORY = """# A follower asks before its leader's metadata has the topic: this partition is parked with the others.
kafka 4.1.0, protocol 4.1
min isr 1
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
2 fetches at 0, parked                     | 1:0  2:0  3:?  hw 0
append 3                                   | 1:3  2:0  3:?  hw 0
3 fetches at 0, at once                    | 1:3  2:0  3:0  hw 0
"""


CASES = {
    "answered": (0, None, 0),
    "no_longer_the_leader": (6, None, 0),
    "topic_id_unknown": (100, None, -1),
    "not_authorized": (29, None, -1),
    "not_in_the_metadata_yet": (3, None, -1),
    "the_log_is_deleted_which_ends_the_wait": (3, timedelta(milliseconds=20), 0),
    "gone_from_the_metadata_before_the_log": (3, timedelta(milliseconds=-430), -1),
}
"""By topic: the error in the response to the parked fetch, how much later its log is deleted, the remote LEO then."""


@asked
def answered() -> Logs:
    """The story with the parked fetch answered by each of the errors, and the lines of the deletions."""
    stories = [tell(name, STORY) for name in CASES]
    landing = combined(stories)
    statements = landing[T.BROKER_STATEMENTS.name]
    for parked in (row for row in landing[T.FETCH_EVENTS.name] if row["is_parked"]):
        parked["error_code"], deleted_after, _ = CASES[parked["cluster_id"]]
        if deleted_after is not None:
            of_leader = (parked["cluster_id"], 1)
            line = next(row for row in statements if (row["cluster_id"], row["broker_id"]) == of_leader)
            deleted = {"kind": "log_deleted", "offset": -1, "leader_epoch": -1, "source_line": 999}
            statements.append(line | deleted | {"event_time": parked["response_time"] + deleted_after})
    return logs_of(stories, 3, landing)


@pytest.mark.parametrize("name", CASES)
def test_a_parked_fetch_was_accepted_if_it_was_read(name: str, rebuilt: Answers) -> None:
    """An error of the read at the end comes after a first one that was accepted; one of the request's handling not."""
    *_, remote_leo = CASES[name]
    found = rebuilt[answered][name].leader

    assert [row["remote_log_end_offset"][2] for row in found if row["event_type"] == "APPEND"] == [remote_leo]
