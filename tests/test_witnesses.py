"""What an acks=all success proves that no logged fetch explains: since when, of whom, and how far at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from replay.profile import Profile
from tests.engine import by_topic, each_by_its_own, replayed
from tests.literal_lines import append, at, begins, fetch, told_of_brokers
from tests.rebuilt import Answers, Logs, asked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

    from tests.literal_lines import Row

pytestmark = pytest.mark.spark
EARLY, IN_TIME, BEYOND, GAP, MISSING, NEXT = "early", "in_time", "beyond", "gap", "missing", "next"
ALONE, BURST = "alone", "burst"
OTHER, MEMBER, TOO_FEW = "other", "member", "too_few"


def committed(row: Row, ms: int) -> Row:
    """The append, of all acknowledged by `ms`."""
    return row | {"acks": -1, "response_time": at(ms)}


def of_early(topic: str, *more: Row) -> dict[str, list[Row]]:
    """The fetches at 10 are in no log, nor does a session tell that they are missing; [0, 10) is acknowledged by 60 ms.

    The HW rises in the same leadership, five seconds later.
    """
    asked = [fetch(topic, 20, 2, 0, 0), fetch(topic, 30, 3, 0, 0)]
    later = [fetch(topic, 5_050, 2, 20, 10), fetch(topic, 5_060, 3, 20, 10)]
    return {
        "leader_changes": [begins(topic)],
        "produce_events": [committed(append(topic, 10, 0, 10), 60), append(topic, 5_000, 10, 20)],
        "fetch_events": [*asked, *more, *later],
    }


def of_beyond(topic: str, *more: Row) -> dict[str, list[Row]]:
    """Replicas 2 and 3 have 10 records and wait for more; [10, 20) is acknowledged, and no more fetches are logged.

    By then the leader had 30: they may have asked for what is at 20, or at 30.
    """
    waits = {"is_parked": True, "records_size": 0, "response_time": at(540)}
    return {
        "leader_changes": [begins(topic)],
        "produce_events": [
            append(topic, 10, 0, 10), committed(append(topic, 600, 10, 20), 650), append(topic, 640, 20, 30), *more,
        ],
        "fetch_events": [
            fetch(topic, 20, 2, 0, 0), fetch(topic, 30, 3, 0, 0),
            fetch(topic, 40, 2, 10, 10) | waits, fetch(topic, 50, 3, 10, 10) | waits,
        ],
    }  # fmt: skip


def of_missing(topic: str, session_epoch: int, session_id: int = 7, **begin: list[int]) -> dict[str, list[Row]]:
    """Replica 2 fetches at 0, and when 20 records are there at 20; its session tells whether it fetched in between."""
    first = fetch(topic, 20, 2, 0, 0) | {"session_id": 7, "session_epoch": 3}
    last = fetch(topic, 80, 2, 20, 0) | {"session_id": session_id, "session_epoch": session_epoch}
    return {
        "leader_changes": [begins(topic, **begin)],
        "produce_events": [append(topic, 10, 0, 10), append(topic, 50, 10, 20)],
        "fetch_events": [first, last],
    }


def of_alone(topic: str) -> dict[str, list[Row]]:
    """A leader alone in its ISR commits what it appends; the second time a producer repeats the first one's batch."""
    times = ((10, 0, 10), (1_000, 0, 10), (5_000, 10, 20))
    return {
        "leader_changes": [begins(topic, isr=[1])],
        "produce_events": [committed(append(topic, ms, base, end), ms + 1) for ms, base, end in times],
        "fetch_events": [],
    }


def of_burst(topic: str) -> dict[str, list[Row]]:
    """The clock has two appends just after the fetch at their end, which was accepted: they came before it."""
    parked = {"is_parked": True, "response_high_watermark": -1, "records_size": 0}
    return {
        "leader_changes": [begins(topic)],
        "produce_events": [append(topic, 100, 0, 10), append(topic, 201, 10, 20), append(topic, 202, 20, 30)],
        "fetch_events": [fetch(topic, 110, 2, 10, 0) | parked, fetch(topic, 200, 2, 30, 0) | parked],
    }


@asked
def proven() -> Logs:
    """All of them, a topic each."""
    in_time = (fetch(IN_TIME, 50, 2, 10, 0), fetch(IN_TIME, 55, 3, 10, 0))
    told = (
        of_early(EARLY), of_early(IN_TIME, *in_time), of_beyond(BEYOND), of_missing(MISSING, 5), of_missing(NEXT, 4),
        of_beyond(GAP, append(GAP, 700, 40, 50)), of_alone(ALONE), of_burst(BURST), of_missing(OTHER, 9, 8, isr=[1, 2]),
        of_missing(MEMBER, 5, isr=[1, 2]), of_missing(TOO_FEW, 5, isr=[1, 2]),
    )  # fmt: skip
    landing = {name: [row for one in told for row in one[name]] for name in told[0]}
    topics = sorted({row["topic"] for row in landing["leader_changes"]})
    brokers = told_of_brokers(topics)
    too_few = {"value": "3"}
    brokers["settings"] = [row | (too_few if row["cluster_id"] == TOO_FEW else {}) for row in brokers["settings"]]
    return Logs(landing | brokers, dict.fromkeys(topics, Profile(lag_time_ms=10_000)), 3)


def rebuilt_of(spark: SparkSession) -> tuple[Mapping[str, list[Row]], Mapping[str, list[Row]]]:
    """The timelines of leaders and of replicas, by topic, replayed alone."""
    logs = proven()
    with replayed(spark, logs.landing, logs.slots, each_by_its_own(logs.spoken)) as timelines:
        return by_topic(timelines.leader_timeline), by_topic(timelines.replica_timeline)


@pytest.fixture(scope="module")
def timelines(rebuilt: Answers) -> tuple[Mapping[str, list[Row]], Mapping[str, list[Row]]]:
    """The timelines of leaders and of replicas, by topic."""
    told = rebuilt[proven]
    return {topic: one.leader for topic, one in told.items()}, {topic: one.replica for topic, one in told.items()}


def known(rows: Iterable[Row]) -> list[tuple[Any, ...]]:
    """Type, bounds of the HW and exactness of each."""
    return [(r["event_type"], r["high_watermark_low"], r["high_watermark_high"], r["exactness"]) for r in rows]


def test_a_success_is_a_witness_where_the_high_watermark_rises_much_later(timelines: Any) -> None:
    """From its response on the HW is 10, not from the next fetch on."""
    leaders, _ = timelines

    assert known(leaders[EARLY])[4:] == [
        ("WITNESS", 10, 10, "stated"), ("APPEND", 10, 10, "exact"), ("FETCH", 10, 10, "exact"),
        ("FETCH", 20, 20, "exact"),
    ]  # fmt: skip
    assert [row["event_type"] for row in leaders[IN_TIME]] == [
        "BECOME_LEADER", "APPEND", "FETCH", "FETCH", "FETCH", "FETCH", "APPEND", "FETCH", "FETCH",
    ]  # fmt: skip


def test_a_witness_tells_the_least_that_was_asked_for(timelines: Any) -> None:
    """The HW is 20 at least, and the LEO of that time at most; so is what its followers have."""
    leaders, replicas = timelines
    last = [row for row in replicas[BEYOND] if row["replica_id"] in (2, 3)][-2:]

    assert known(leaders[BEYOND])[-1] == ("WITNESS", 20, 30, "bounded")
    assert leaders[BEYOND][-1]["remote_log_end_offset"] == {2: 20, 3: 20}
    assert {(r["log_end_offset"], r["log_end_offset_high"], r["exactness"]) for r in last} == {(20, 30, "bounded")}


def test_what_the_leader_commits_by_itself_needs_no_witness(timelines: Any) -> None:
    """Though the HW rises long after that, for the next append."""
    leaders, _ = timelines

    assert known(leaders[ALONE])[1:] == [("APPEND", hw, hw, "exact") for hw in (10, 10, 20)]


def test_an_accepted_fetch_lies_within_the_log(timelines: Any) -> None:
    """However many appends the clock has after it: a remote LEO beyond the log would be a broken rule."""
    leaders, _ = timelines

    assert [(row["log_end_offset"], row["remote_log_end_offset"][2]) for row in leaders[BURST]] == [
        (0, -1), (10, -1), (10, 10), (30, 30), (30, 30), (30, 30),
    ]  # fmt: skip


def test_a_witness_does_not_end_a_gap_between_appends(timelines: Any) -> None:
    """[30, 40) is in no line, and may have been there by the witness."""
    leaders, _ = timelines
    leo = [(row["log_end_offset"], row["log_end_offset_high"]) for row in leaders[GAP]]

    assert leo[-3:] == [(30, 40), (30, 40), (50, 50)]
    assert known(leaders[GAP])[-2:] == [("WITNESS", 20, 40, "bounded"), ("APPEND", 20, 40, "bounded")]


def test_what_a_missing_fetch_brought_the_response_before_it_did_not(timelines: Any) -> None:
    """At 20 ms the leader had 10 records. Where no fetch is missing the response came later than the clock says."""
    _, replicas = timelines
    own = {
        topic: [
            (row["log_end_offset"], row["log_end_offset_high"], row["exactness"])
            for row in replicas[topic]
            if row["replica_id"] == 2 and row["remote_log_end_offset"] >= 0
        ]
        for topic in (MISSING, NEXT)
    }

    # Before its first response nothing tells its HW.
    assert own[MISSING][:2] == [(0, 0, "bounded"), (0, 10, "bounded")]
    assert own[NEXT][:2] == [(0, 0, "bounded"), (20, 20, "exact")]


def test_a_missing_fetch_may_have_raised_the_high_watermark(timelines: Any) -> None:
    """To where the log ended. Not one of another session, or while the ISR is too small, or 3 has not been heard of."""
    leaders, _ = timelines
    told = {topic: known(leaders[topic])[2:4] for topic in (MEMBER, OTHER, TOO_FEW, MISSING)}
    still = [("FETCH", 0, 0, "exact"), ("APPEND", 0, 0, "exact")]

    assert told == {
        MEMBER: [("FETCH", 0, 10, "bounded"), ("APPEND", 0, 20, "bounded")],
        OTHER: still, TOO_FEW: still, MISSING: still,
    }  # fmt: skip
