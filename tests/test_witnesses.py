"""What an acks=all success proves that no logged fetch explains: since when, of whom, and how far at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from replay.profile import Profile
from tests.engine import by_topic, each_by_its_own, replayed
from tests.literal_lines import append, at, begins, fetch
from tests.rebuilt import Logs, Rebuilt, asked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

    from tests.literal_lines import Row

pytestmark = pytest.mark.spark
EARLY, IN_TIME, BEYOND, MISSING, NEXT = "early", "in_time", "beyond", "missing", "next"


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


def of_beyond(topic: str) -> dict[str, list[Row]]:
    """Replicas 2 and 3 have 10 records and wait for more; [10, 20) is acknowledged, and no more fetches are logged.

    By then the leader had 30: they may have asked for what is at 20, or at 30.
    """
    waits = {"is_parked": True, "records_size": 0, "response_time": at(540)}
    return {
        "leader_changes": [begins(topic)],
        "produce_events": [
            append(topic, 10, 0, 10), committed(append(topic, 600, 10, 20), 650), append(topic, 640, 20, 30),
        ],
        "fetch_events": [
            fetch(topic, 20, 2, 0, 0), fetch(topic, 30, 3, 0, 0),
            fetch(topic, 40, 2, 10, 10) | waits, fetch(topic, 50, 3, 10, 10) | waits,
        ],
    }  # fmt: skip


def of_missing(topic: str, session_epoch: int) -> dict[str, list[Row]]:
    """Replica 2 fetches at 0, and when 20 records are there at 20; its session tells whether it fetched in between."""
    first = fetch(topic, 20, 2, 0, 0) | {"session_id": 7, "session_epoch": 3}
    last = fetch(topic, 80, 2, 20, 0) | {"session_id": 7, "session_epoch": session_epoch}
    return {
        "leader_changes": [begins(topic)],
        "produce_events": [append(topic, 10, 0, 10), append(topic, 50, 10, 20)],
        "fetch_events": [first, last],
    }


@asked
def proven() -> Logs:
    """All of them, a topic each."""
    in_time = (fetch(IN_TIME, 50, 2, 10, 0), fetch(IN_TIME, 55, 3, 10, 0))
    missing = (of_missing(MISSING, 5), of_missing(NEXT, 4))
    told = (of_early(EARLY), of_early(IN_TIME, *in_time), of_beyond(BEYOND), *missing)
    landing = {name: [row for one in told for row in one[name]] for name in told[0]}
    topics = {row["topic"] for row in landing["leader_changes"]}
    return Logs(landing, dict.fromkeys(topics, Profile(lag_time_ms=10_000)), 3)


def rebuilt_of(spark: SparkSession) -> tuple[Mapping[str, list[Row]], Mapping[str, list[Row]]]:
    """The timelines of leaders and of replicas, by topic, replayed alone."""
    logs = proven()
    with replayed(spark, logs.landing, logs.slots, each_by_its_own(logs.spoken)) as timelines:
        return by_topic(timelines.leader_timeline), by_topic(timelines.replica_timeline)


@pytest.fixture(scope="module")
def timelines(rebuilt: Rebuilt) -> tuple[Mapping[str, list[Row]], Mapping[str, list[Row]]]:
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

    assert own[MISSING][:2] == [(0, 0, "exact"), (0, 10, "bounded")]
    assert own[NEXT][:2] == [(0, 0, "exact"), (20, 20, "exact")]
