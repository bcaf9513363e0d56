"""Where the log leaves the order open: bounds, unless a later response tells."""

from __future__ import annotations

from typing import Any

import pytest

from replay.profile import Profile
from tests.literal_lines import append, at, begins, fetch, line, told_of_brokers
from tests.rebuilt import Answers, Logs, asked

Row = dict[str, Any]

RACE, RACE_LOST, OVERLAP, APART = "race", "race_lost", "overlap", "apart"
KILLED, KILLED_BEHIND = "killed", "behind"
LOST, LOST_ALONE = "lost", "lost_alone"
BEFORE, DURING, FROM_THEN_ON, AFTER, HELD_UP = "before", "during", "from_then_on", "after", "held_up"


def of_race(topic: str, told: int) -> dict[str, list[Row]]:
    """Replica 2 fetches at 10 while an append of [10, 20) is worked on for three seconds, and leaves the ISR then.

    If it was caught up, the HW waits for it for ten seconds more; a response to replica 3 tells.
    """
    alone = {"change_kind": "isr_updated", "leader_id": 1, "isr": [1, 3], "partition_epoch": 1}
    return {
        "leader_changes": [begins(topic), line(topic, 15_100, **alone)],
        "produce_events": [
            append(topic, 10, 0, 10), append(topic, 14_000, 10, 20, 3_000), append(topic, 15_150, 20, 30),
        ],
        "fetch_events": [
            fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 10, 0),
            fetch(topic, 15_000, 2, 10, 10), fetch(topic, 15_001, 3, 10, 10), fetch(topic, 15_010, 3, 20, 10),
            fetch(topic, 15_200, 3, 20, told), fetch(topic, 15_210, 3, 30, told),
        ],
    }  # fmt: skip


def of_neighbours(topic: str, apart_ms: int) -> dict[str, list[Row]]:
    """Both followers fetch at the end, each worked on for 50 ms: in one order the HW passes 10, in the other not.

    Both are parked, so that their responses carry the HW of later.
    """
    first = [fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 0, 0)]
    last = [fetch(topic, 100, 3, 20, 20, 50), fetch(topic, 100 + apart_ms, 2, 20, 20, 50)]
    for row in last:
        row |= {"is_parked": True, "records_size": 0, "response_time": at(600)}
    return {
        "leader_changes": [begins(topic)],
        "produce_events": [append(topic, 10, 0, 20)],
        "fetch_events": [*first, *last],
    }


def of_killed(topic: str, reached: int) -> dict[str, list[Row]]:
    """Leader 1 is killed after its followers were sent [0, 10); both begin the next epoch at `reached`."""
    followers = [
        line(topic, 6_000, broker_id=2, kind="became_leader_log_end_offset", offset=reached, leader_epoch=1),
        line(topic, 6_001, broker_id=3, kind="became_follower_log_end_offset", offset=reached, leader_epoch=1),
    ]
    restarted = {"change_kind": "become_follower", "leader_id": 2}
    return {
        "leader_changes": [
            begins(topic),
            begins(topic, 1, 6_000, broker_id=2, leader_id=2, isr=[2, 3]),
            line(topic, 7_010, leader_epoch=1, partition_epoch=1, isr=None, replicas=None, **restarted),
        ],
        "produce_events": [append(topic, 10, 0, 10)],
        "fetch_events": [fetch(topic, 20, 2, 0, 0), fetch(topic, 21, 3, 0, 0)],
        "broker_statements": [*followers, line(topic, 7_000, kind="loaded_high_watermark", offset=0)],
    }


def of_lost(topic: str, isr: list[int]) -> dict[str, list[Row]]:
    """The line of an append of [10, 20) is lost, and no dump has it; the followers ask for what comes after it."""
    asked = ((20, 2, 10), (30, 3, 10), (60, 2, 20), (70, 3, 20))
    parked = {"is_parked": True, "response_high_watermark": -1}
    return {
        "leader_changes": [begins(topic, isr=isr)],
        "produce_events": [append(topic, 10, 0, 10), append(topic, 100, 20, 30)],
        "fetch_events": [fetch(topic, ms, replica, offset, 0) | parked for ms, replica, offset in asked],
    }


def of_shrink(topic: str, ms: float, work_ms: int = 10) -> dict[str, list[Row]]:
    """The ISR shrinks to the leader 15 s after its followers fetched at 10; an append of [20, 30) is at work by then.

    If the ISR shrank first, the HW passes 20; if the append came first, it goes from 10 to 30.
    """
    alone = {"change_kind": "isr_updated", "leader_id": 1, "isr": [1], "partition_epoch": 1}
    return {
        "leader_changes": [begins(topic), line(topic, 15_100, **alone)],
        "produce_events": [append(topic, 10, 0, 10), append(topic, 40, 10, 20), append(topic, ms, 20, 30, work_ms)],
        "fetch_events": [fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 10, 0)],
    }


@asked
def undecided() -> Logs:
    """All of them, a topic each."""
    told = (
        of_race(RACE, 10), of_race(RACE_LOST, 20), of_neighbours(OVERLAP, 9), of_neighbours(APART, 40),
        of_killed(KILLED, 10), of_killed(KILLED_BEHIND, 0),
        of_lost(LOST, [1, 2, 3]), of_lost(LOST_ALONE, [1]),
        of_shrink(BEFORE, 15_090), of_shrink(DURING, 15_095), of_shrink(FROM_THEN_ON, 15_100),
        of_shrink(AFTER, 15_105), of_shrink(HELD_UP, 15_005, 100),
    )  # fmt: skip
    tables = {name for one in told for name in one}
    landing = {name: [row for one in told for row in one.get(name, ())] for name in tables}
    topics = sorted({row["topic"] for row in landing["leader_changes"]})
    rules = dict.fromkeys(topics, Profile(lag_time_ms=10_000))
    return Logs(landing | told_of_brokers(topics), rules, 3)


@pytest.fixture(scope="module")
def leaders(rebuilt: Answers) -> dict[str, list[Row]]:
    """Their leader timelines, by topic."""
    return {topic: told.leader for topic, told in rebuilt[undecided].items()}


@pytest.mark.spark
@pytest.mark.parametrize(("topic", "hw"), [(RACE, 10), (RACE_LOST, 20)])
def test_a_response_tells_who_was_caught_up(leaders: dict[str, list[Row]], topic: str, hw: int) -> None:
    """When replica 2 has left the ISR the HW waits for it, or not: as the next response says."""
    change = next(row for row in leaders[topic] if row["event_type"] == "ISR_CHANGE")

    assert (change["isr"], change["high_watermark"], change["exactness"]) == ([1, 3], hw, "exact")


@pytest.mark.spark
def test_neighbours_worked_on_at_once_are_undecided(leaders: dict[str, list[Row]]) -> None:
    """9 ms apart and 50 ms of work: bounded; 40 ms apart: the clock says."""
    last = {topic: leaders[topic][-2] for topic in (OVERLAP, APART)}
    told = {
        topic: (row["high_watermark_low"], row["high_watermark_high"], row["exactness"]) for topic, row in last.items()
    }

    assert told == {OVERLAP: (0, 10, "bounded"), APART: (10, 10, "exact")}
    assert {leaders[topic][-1]["high_watermark"] for topic in (OVERLAP, APART)} == {20}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("topic", "first", "bounds"),
    [
        (BEFORE, "APPEND", (10, 10, "exact")),
        (DURING, "APPEND", (10, 20, "bounded")),
        (HELD_UP, "APPEND", (10, 20, "bounded")),
        (FROM_THEN_ON, "ISR_CHANGE", (10, 20, "bounded")),
        (AFTER, "ISR_CHANGE", (20, 20, "exact")),
    ],
)
def test_an_append_while_the_isr_shrinks_is_undecided(
    leaders: dict[str, list[Row]], topic: str, first: str, bounds: tuple[int, int, str]
) -> None:
    """Either waited for the other's lock; the HW in between is one of two, and 30 after both."""
    one, other = leaders[topic][-2:]

    assert {one["event_type"], other["event_type"]} == {"APPEND", "ISR_CHANGE"}
    assert one["event_type"] == first
    assert (one["high_watermark_low"], one["high_watermark_high"], one["exactness"]) == bounds
    assert (other["high_watermark"], other["exactness"]) == (30, "exact")


@pytest.mark.spark
@pytest.mark.parametrize(("topic", "high", "exactness"), [(KILLED, 10, "bounded"), (KILLED_BEHIND, 0, "exact")])
def test_a_killed_leader_ends_with_bounds(leaders: dict[str, list[Row]], topic: str, high: int, exactness: str) -> None:
    """Its followers may have asked for more before it died; if they held no more, they did not."""
    ended = next(row for row in leaders[topic] if row["event_type"] == "RESTART")

    assert (ended["leader_epoch"], ended["leader_id"], ended["replica_id"]) == (0, 1, 1)
    assert (ended["high_watermark"], ended["high_watermark_high"], ended["exactness"]) == (0, high, exactness)
    assert ended["remote_log_end_offset"] == {2: 0, 3: 0}


@pytest.mark.spark
def test_an_append_whose_line_is_lost_shows_by_the_fetch_that_follows_it(leaders: dict[str, list[Row]]) -> None:
    """From the last append on the LEO may have been 20; the fetch at 20 proves it, and the HW follows."""
    told = [(r["log_end_offset"], r["log_end_offset_high"], r["high_watermark"]) for r in leaders[LOST]]

    assert told == [(0, 0, 0), (10, 20, 0), (10, 20, 0), (10, 20, 10), (20, 20, 10), (20, 20, 20), (30, 30, 20)]
    assert {row["exactness"] for row in leaders[LOST]} == {"exact"}


@pytest.mark.spark
def test_a_leader_alone_commits_what_it_may_have_appended(leaders: dict[str, list[Row]]) -> None:
    """With nobody else in the ISR the HW is the LEO, and as little known; a follower that may join is waited for."""
    told = [(r["high_watermark"], r["high_watermark_high"], r["exactness"]) for r in leaders[LOST_ALONE]]

    assert told[1:3] == [(10, 20, "bounded"), (10, 10, "exact")]
