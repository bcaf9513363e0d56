"""A response proves the HW it tells, also where nothing else in the log explains it."""

from __future__ import annotations

import pytest

from replay.releases import profile_for
from schemas.columns import NO_BOUND
from tests.literal_lines import begins, begins_with, fetch, told_of_brokers
from tests.rebuilt import Answers, Logs, asked
from tests.story import tell
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

STORY = """# A leader of 3.6 among newer ones: its HW goes with it, the only member of the ISR, though min ISR is 2.
kafka 3.6.1, protocol 3.6
min isr 2
1 leads epoch 0, replicas 1 2, isr 1 | 1:0  2:?  hw 0
append 4                             | 1:4  2:?  hw 4
2 fetches at 0, at once              | 1:4  2:0  hw 4
append 3                             | 1:7  2:0  hw 7
2 fetches at 4, at once              | 1:7  2:4  hw 7
"""


UNLOGGED = "unlogged"
"""A leader alone in the ISR, of whose 4,900 appends none is logged (acks=0, no dump); 2 comes back, far behind."""


@asked
def of_unlogged_appends() -> Logs:
    """Its log began at 100, and its responses tell a HW of 5,000."""
    asks = [fetch(UNLOGGED, ms, 2, offset, 5_000) for ms, offset in ((1_000, 100), (1_100, 2_000), (1_200, 3_000))]
    landing = {
        "leader_changes": [begins(UNLOGGED, isr=[1], replicas=[1, 2])],
        "broker_statements": [begins_with(UNLOGGED, 100)], "fetch_events": asks,
    } | told_of_brokers([UNLOGGED])  # fmt: skip
    return Logs(landing, {UNLOGGED: profile_for("4.1.0", "4.1", 10_000)}, 2)


def test_what_is_committed_is_in_the_log(rebuilt: Answers) -> None:
    """No HW is above the LEO: that is at least as far, and nobody knows how much farther."""
    rows = [row for row in rebuilt[of_unlogged_appends][UNLOGGED].leader if row["event_type"] == "FETCH"]

    assert all(row["high_watermark_low"] <= row["log_end_offset_low"] for row in rows)
    assert [(row["log_end_offset"], row["log_end_offset_high"], row["exactness"]) for row in rows[1:]] == [
        (5_000, NO_BOUND, "bounded"),
        (5_000, NO_BOUND, "bounded"),
    ]


@asked
def older_than_its_cluster() -> Logs:
    """The story by the rules of a newer release than its leader's."""
    story = tell("older", STORY)
    return Logs(combined([story]), {story.name: profile_for("4.1.0", "4.1", 30_000)}, 2)


def test_what_a_response_told_the_leader_had(rebuilt: Answers) -> None:
    """By the rules of 3.7 its HW would have stood at 0: from the first response on it is between that and the LEO."""
    found = [
        (row["event_type"], row["high_watermark_low"], row["high_watermark_high"], row["exactness"])
        for row in rebuilt[older_than_its_cluster]["older"].leader
        if row["event_type"] in ("APPEND", "FETCH")
    ]

    assert found[2:] == [("APPEND", 4, 7, "bounded"), ("FETCH", 4, 7, "bounded")]
