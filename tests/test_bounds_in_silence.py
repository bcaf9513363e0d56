"""What a leader's HW and LEO may have been while its request log was silent: between what is known before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from replay.profile import Profile
from schemas.columns import NO_BOUND
from tests.rebuilt import Answers, Logs, asked
from tests.silent_leaders import landed

pytestmark = pytest.mark.spark
Row = dict[str, Any]
OPEN = NO_BOUND


@asked
def silent() -> Logs:
    """The logs of all of them."""
    clusters = {row["cluster_id"] for rows in landed().values() for row in rows}
    return Logs(landed(), dict.fromkeys(clusters, Profile(lag_time_ms=10_000, has_silence=True)), 3)


@pytest.fixture(scope="module")
def leaders(rebuilt: Answers) -> Mapping[str, list[Row]]:
    """Their leader timelines."""
    return {topic: told.leader for topic, told in rebuilt[silent].items()}


KNOWN = {
    "alone": [("BECOME_LEADER", 5, 7, 7, 7, "bounded"), ("WITNESS", 5, OPEN, 7, OPEN, "bounded")],
    "alone_and_heard": [("BECOME_LEADER", 7, 7, 7, 7, "exact"), ("APPEND", 10, 10, 10, 10, "exact")],
    "no_log_stated": [("BECOME_LEADER", -1, OPEN, -1, OPEN, "bounded"), ("WITNESS", -1, OPEN, -1, OPEN, "bounded")],
    "of_an_empty_log": [
        ("BECOME_LEADER", 0, 0, 0, 0, "exact"),
        ("WITNESS", 0, 0, 0, 10, "stated"),
        ("APPEND", 0, 0, 10, 10, "stated"),
        ("FETCH", 0, 0, 10, 10, "stated"),
        ("FETCH", 0, 0, 10, 10, "exact"),
    ],
    "segment_after_requests": [
        ("BECOME_LEADER", 0, 0, 0, 0, "exact"),
        ("APPEND", 0, 0, 10, 10, "exact"),
        ("FETCH", 0, 0, 10, 10, "exact"),
        ("FETCH", 10, 10, 10, 10, "exact"),
        ("WITNESS", 10, 40, 40, 40, "bounded"),
        ("WITNESS", 10, OPEN, 40, OPEN, "bounded"),
    ],
    "nothing_stated": [("BECOME_LEADER", -1, 7, 7, 7, "bounded"), ("WITNESS", -1, OPEN, 7, OPEN, "bounded")],
    "lines_alone": [
        ("BECOME_LEADER", 5, 5, 7, 7, "stated"),
        ("WITNESS", 5, 20, 7, 30, "bounded"),
        ("WITNESS", 20, 20, 30, 30, "stated"),
        ("WITNESS", 20, 50, 30, 90, "bounded"),
        ("ISR_CHANGE", 20, 50, 30, 90, "bounded"),
        ("WITNESS", 50, 50, 50, 90, "stated"),
        ("WITNESS", 50, 80, 50, 90, "bounded"),
        ("ISR_CHANGE", 50, 80, 50, 90, "bounded"),
        ("WITNESS", 80, 80, 90, 90, "stated"),
        ("WITNESS", 80, OPEN, 90, OPEN, "bounded"),
        # Nobody but the follower tells that 2 leads then.
        ("BECOME_LEADER", -1, OPEN, -1, OPEN, "bounded"),
        ("WITNESS", -1, OPEN, -1, OPEN, "bounded"),
    ],
    "requests_later": [
        ("BECOME_LEADER", 5, 5, 7, 20, "stated"),
        ("WITNESS", 5, 25, 7, 30, "bounded"),
        ("APPEND", 5, 25, 30, 30, "bounded"),
        ("FETCH", 5, 25, 30, 30, "bounded"),
        ("FETCH", 25, 25, 30, 30, "exact"),
        ("FETCH", 30, 30, 30, 30, "exact"),
    ],
    "requests_of_members": [
        ("BECOME_LEADER", 5, 5, 7, 20, "stated"),
        ("WITNESS", 5, 12, 7, 12, "bounded"),
        ("WITNESS", 5, 12, 12, 12, "bounded"),
        ("WITNESS", 5, 25, 12, 30, "bounded"),
        ("APPEND", 5, 25, 30, 30, "bounded"),
        ("FETCH", 5, 25, 30, 30, "bounded"),
        ("FETCH", 30, 30, 30, 30, "exact"),
    ],
    "fetches_later": [
        ("BECOME_LEADER", 5, 5, 7, 7, "stated"),
        ("WITNESS", 5, OPEN, 7, OPEN, "bounded"),
        ("FETCH", 5, OPEN, 7, OPEN, "bounded"),
        ("FETCH", 7, OPEN, 7, OPEN, "bounded"),
    ],
    "requests_before": [
        ("BECOME_LEADER", 0, 0, 0, 0, "exact"),
        ("APPEND", 0, 0, 10, 10, "exact"),
        ("FETCH", 0, 0, 10, 10, "exact"),
        ("FETCH", 10, 10, 10, 10, "exact"),
        ("FETCH", 10, 10, 10, 10, "exact"),
        ("WITNESS", 10, 60, 10, 60, "bounded"),
        ("ISR_CHANGE", 10, 60, 10, 60, "bounded"),
    ],
    # What is before the silence is as known as ever.
    "requests_before_of_a_log": [
        ("BECOME_LEADER", 5, 5, 7, 7, "stated"),
        ("APPEND", 5, 5, 10, 10, "stated"),
        ("FETCH", 5, 5, 10, 10, "stated"),
        ("FETCH", 10, 10, 10, 10, "exact"),
        ("WITNESS", 10, OPEN, 10, OPEN, "bounded"),
        ("ISR_CHANGE", 10, OPEN, 10, OPEN, "bounded"),
    ],
    # When 3 is heard its leader may have 40 records already: what bounds the rows before is the append after that.
    "append_lost_after_silence": [
        ("BECOME_LEADER", 5, 5, 7, 20, "stated"),
        ("WITNESS", 5, 25, 7, 50, "bounded"),
        ("APPEND", 5, 25, 30, 50, "bounded"),
        ("FETCH", 5, 25, 30, 50, "bounded"),
        ("FETCH", 25, 25, 30, 40, "exact"),
        ("APPEND", 25, 25, 50, 50, "exact"),
    ],
    "appends_alone": [
        ("BECOME_LEADER", 5, 5, 7, 7, "stated"),
        ("WITNESS", 5, OPEN, 7, OPEN, "bounded"),
        ("APPEND", 5, OPEN, 10, OPEN, "bounded"),
        ("APPEND", 5, OPEN, 12, OPEN, "bounded"),
    ],
}
"""By topic, each event with the bounds of the HW, those of the LEO, and exactness."""
SEEN = (
    "event_type", "high_watermark_low", "high_watermark_high", "log_end_offset_low", "log_end_offset_high", "exactness",
)  # fmt: skip


@pytest.mark.parametrize("topic", KNOWN)
def test_a_silent_leader_is_bounded(leaders: Mapping[str, list[Row]], topic: str) -> None:
    """From what it is last known to have had up to what it is next; then exact, as soon as all that counts is heard."""
    assert [tuple(row[name] for name in SEEN) for row in leaders[topic]] == KNOWN[topic]


def test_the_value_is_the_lower_bound(leaders: Mapping[str, list[Row]]) -> None:
    """Of HW and LEO; where the log is silent the LSO is unknown."""
    rows = [row for told in leaders.values() for row in told]

    for name in ("high_watermark", "log_end_offset"):
        assert [row[name] for row in rows] == [row[f"{name}_low"] for row in rows]
    silent = [row for row in leaders["lines_alone"] if row["event_type"] != "BECOME_LEADER"]
    assert {row["last_stable_offset"] for row in silent} == {-1}


def test_a_line_alone_states_remote_leos(leaders: Mapping[str, list[Row]]) -> None:
    """At its time, and of whom it tells."""
    told = [row["remote_log_end_offset"] for row in leaders["lines_alone"]]

    assert told == [{2: -1, 3: -1}] * 2 + [{2: 18, 3: -1}] + [{2: -1, 3: -1}] * 7 + [{1: -1, 3: -1}] * 2
