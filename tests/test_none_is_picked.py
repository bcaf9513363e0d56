"""What lines contradict, or tell of nobody, or do not tell: the HW is bounded, and nothing is picked silently."""

from __future__ import annotations

from typing import Any

import pytest

from replay.profile import Profile
from schemas.columns import NO_BOUND
from tests.literal_lines import append, begins, fetch, line, told_of_brokers
from tests.rebuilt import Answers, Logs, asked

pytestmark = pytest.mark.spark
Row = dict[str, Any]


def requests(topic: str) -> list[Row]:
    """Ten records, which both followers then have."""
    return [append(topic, 10, 0, 10), fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 10, 0)]


def of_two_leaders(topic: str) -> list[Row]:
    """The same at broker 1; then broker 2 says that it leads the epoch."""
    return [begins(topic), *requests(topic), begins(topic, ms=100, broker_id=2, leader_id=2)]


def of_a_stranger(topic: str) -> list[Row]:
    """The ISR is said to hold broker 7, which is no replica."""
    return [begins(topic, isr=[1, 2, 3, 7]), *requests(topic)]


def of_no_log(topic: str) -> list[Row]:
    """No line states where the log of the leader ends, and nobody appends: followers fetch, and are told the HW."""
    asked_for = ((20, 2, 10, 8), (30, 3, 12, 8), (40, 2, 14, 10))
    return [begins(topic), *[fetch(topic, ms, replica, offset, hw) for ms, replica, offset, hw in asked_for]]


def of_one_line_lost(topic: str) -> list[Row]:
    """The last fetch of 2 has no line: that it was there the HW says which 3 is told."""
    return [
        begins(topic), append(topic, 10, 0, 10), fetch(topic, 20, 2, 0, 0), fetch(topic, 30, 3, 10, 0),
        fetch(topic, 500, 3, 10, 10), fetch(topic, 900, 3, 10, 10),
    ]  # fmt: skip


def of_a_hw_not_stated(topic: str) -> list[Row]:
    """The log is 10 long at the begin, and the HW not told; then 3, not 2, takes ten more, and is told a HW of 15."""
    end = line(topic, 0, kind="became_leader_log_end_offset", offset=10)
    return [
        begins(topic), end, append(topic, 10, 10, 20), fetch(topic, 30, 3, 20, 10), fetch(topic, 500, 3, 20, 15),
        fetch(topic, 900, 3, 20, 15),
    ]  # fmt: skip


def of_a_log_given_up(topic: str) -> list[Row]:
    """3 has ten records, all committed; then 2 is elected, whose log is empty, and 3 asks it for everything."""
    waits = {"is_parked": True, "records_size": 0}
    epoch = {"leader_epoch": 1, "broker_id": 2}
    return [
        begins(topic), *requests(topic), fetch(topic, 500, 3, 10, 10) | waits,
        begins(topic, 1, 1_000, broker_id=2, leader_id=2, isr=[2]),
        line(topic, 1_000, kind="became_leader_log_end_offset", offset=0, **epoch),
        line(topic, 1_000, kind="became_leader_high_watermark", offset=0, **epoch),
        fetch(topic, 2_000, 3, 0, 0) | waits | epoch | {"current_leader_epoch": 1},
    ]  # fmt: skip


STORIES = {
    "two_leaders": of_two_leaders, "stranger": of_a_stranger, "no_log": of_no_log, "one_line_lost": of_one_line_lost,
    "hw_not_stated": of_a_hw_not_stated, "log_given_up": of_a_log_given_up,
    "as_it_should_be": lambda topic: [begins(topic), *requests(topic)],
}  # fmt: skip


@asked
def stories() -> Logs:
    """All of them, a topic each."""
    rows = [row for topic, of in STORIES.items() for row in of(topic)]
    landing = {
        "leader_changes": [row for row in rows if "change_kind" in row],
        "broker_statements": [row for row in rows if "kind" in row],
        "produce_events": [row for row in rows if "base_offset" in row],
        "fetch_events": [row for row in rows if "fetch_offset" in row],
    }
    return Logs(landing | told_of_brokers(STORIES), dict.fromkeys(STORIES, Profile(lag_time_ms=10_000)), 4)


KNOWN = {
    "as_it_should_be": [(0, 0, "exact"), (0, 0, "exact"), (0, 0, "exact"), (10, 10, "exact")],
    "two_leaders": [(0, 0, "bounded"), (0, 0, "bounded"), (0, 0, "bounded"), (10, 10, "bounded"), (0, 0, "bounded")],
    "stranger": [(0, 0, "bounded"), (0, 0, "bounded"), (0, 0, "bounded"), (10, 10, "bounded")],
    # Of a log whose end nobody knows the HW may be anything from what was told.
    "no_log": [(-1, -1, "bounded"), (-1, -1, "bounded"), (8, NO_BOUND, "bounded"), (8, NO_BOUND, "bounded")],
    # The HW that 3 was told is all of the log: that is what the leader said, and no event explains.
    "one_line_lost": [*[(0, 0, "exact")] * 5, (10, 10, "stated")],
    # Up to the end of the log: that nobody but 3 was heard of bounds nothing.
    "hw_not_stated": [*[(-1, 10, "bounded")] * 3, (10, 20, "bounded"), (15, 20, "bounded")],
}
"""Bounds of the HW and exactness, by topic, event by event."""


@pytest.mark.parametrize("topic", KNOWN)
def test_no_hw_is_exact_where_lines_are_at_odds(rebuilt: Answers, topic: str) -> None:
    """It is bounded, or what a response stated."""
    rows = rebuilt[stories][topic].leader

    assert [(row["high_watermark_low"], row["high_watermark_high"], row["exactness"]) for row in rows] == KNOWN[topic]


def test_a_follower_without_a_record_has_no_hw_beyond_its_log(rebuilt: Answers) -> None:
    """It has given up its log when it asks from 0, and its HW with it (UL:2234), before any response tells it one."""
    rows = [row for row in rebuilt[stories]["log_given_up"].replica if row["replica_id"] == 3]

    assert [(row["log_end_offset"], row["high_watermark"]) for row in rows if row["leader_epoch"] == 1] == [
        (10, 10), (0, 0),
    ]  # fmt: skip
