"""What a leader's HW and LEO may have been while its request log was silent: between what is known before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pyspark.sql import SparkSession

from replay.profile import Profile
from schemas.columns import NO_BOUND
from tests.engine import by_topic, replayed
from tests.literal_lines import append, begins, fetch, line, told_of_brokers
from tests.silent_lines import becomes, begun, follows, said

pytestmark = pytest.mark.spark
Row = dict[str, Any]
S = 1000
"""Milliseconds of a second."""
OPEN = NO_BOUND


def of_lines_alone(topic: str) -> list[Row]:
    """No request at all: a line of a shrinking ISR, one of newer metadata, and that of its next role tell."""
    remote = {"kind": "shrinking_remote_log_end_offset", "offset": 18, "replica_id": 2}
    newer = said(topic, 20 * S, leader_metadata_high_watermark=50)
    of_newer = {name: newer[0][name] for name in ("source_file", "source_line")}
    shrinking = said(topic, 10 * S, shrinking_high_watermark=20, shrinking_log_end_offset=30)
    return [
        *begun(topic, 7, 5), *shrinking, shrinking[0] | remote, becomes(topic, 10.1 * S, [1, 3]),
        *newer, becomes(topic, 20 * S, [1, 3], "leader_metadata", 2) | of_newer, *follows(topic, 30 * S, 90, 80),
    ]  # fmt: skip


def of_requests_later(topic: str) -> list[Row]:
    """Requests are logged from 100 s on: first an append, then a fetch of 2, then one of 3."""
    return [
        *begun(topic, 7, 5), append(topic, 100 * S, 20, 30), fetch(topic, 100.1 * S, 2, 25, 18),
        fetch(topic, 100.2 * S, 3, 30, 18), fetch(topic, 100.3 * S, 2, 30, 25),
    ]  # fmt: skip


def of_requests_of_members(topic: str) -> list[Row]:
    """The same, with 3 outside the ISR: it is not waited for. A segment is rolled at 12."""
    return [
        *begun(topic, 7, 5, isr=[1, 2]), *said(topic, 30 * S, segment_rolled=12), append(topic, 100 * S, 20, 30),
        fetch(topic, 100.2 * S, 2, 25, 18),
    ]  # fmt: skip


def of_fetches_later(topic: str) -> list[Row]:
    """Fetches alone, and no append: where the log ends nobody tells."""
    return [*begun(topic, 7, 5), fetch(topic, 100.1 * S, 2, 7, 5), fetch(topic, 100.2 * S, 3, 7, 5)]


def of_requests_before(topic: str) -> list[Row]:
    """Requests are logged up to 50 s; of a change at 200 s it is told alone, and a dump has the log up to 60."""
    return [
        *begun(topic, 0, 0), append(topic, 1 * S, 0, 10), fetch(topic, 2 * S, 2, 10, 0), fetch(topic, 3 * S, 3, 10, 0),
        fetch(topic, 50 * S, 2, 10, 10), becomes(topic, 200 * S, [1, 2]),
        line(topic, 0, batch_last_offset=59),
    ]  # fmt: skip


def of_a_segment_after_requests(topic: str) -> list[Row]:
    """Requests are logged up to 3 s; a segment is rolled at 40 when none is any more."""
    return [
        *begun(topic, 0, 0), append(topic, 1 * S, 0, 10), fetch(topic, 2 * S, 2, 10, 0), fetch(topic, 3 * S, 3, 10, 0),
        *said(topic, 150 * S, segment_rolled=40),
    ]  # fmt: skip


def of_an_empty_log(topic: str) -> list[Row]:
    """No line states the HW of an empty log, which is 0; much later followers ask for what is appended."""
    return [
        *begun(topic, 0, None), append(topic, 100 * S, 0, 10), fetch(topic, 100.1 * S, 2, 0, 0),
        fetch(topic, 100.2 * S, 3, 0, 0),
    ]  # fmt: skip


def of_requests_before_of_a_log(topic: str) -> list[Row]:
    """The leader begins with 7 records, and requests are logged up to 3 s; then a change at 200 s is told alone."""
    return [
        *begun(topic, 7, 5), append(topic, 1 * S, 7, 10), fetch(topic, 2 * S, 2, 10, 5), fetch(topic, 3 * S, 3, 10, 5),
        becomes(topic, 200 * S, [1, 2]),
    ]  # fmt: skip


def of_an_append_lost_after_silence(topic: str) -> list[Row]:
    """Requests are logged from 100 s on, but not the append of [30, 40): when it came nobody knows."""
    return [
        *begun(topic, 7, 5), append(topic, 100 * S, 20, 30), fetch(topic, 100.1 * S, 2, 25, 18),
        fetch(topic, 100.2 * S, 3, 30, 18), append(topic, 100.3 * S, 40, 50),
    ]  # fmt: skip


TOPICS = {
    "lines_alone": of_lines_alone,
    "requests_later": of_requests_later,
    "requests_of_members": of_requests_of_members,
    "fetches_later": of_fetches_later,
    "requests_before": of_requests_before,
    "requests_before_of_a_log": of_requests_before_of_a_log,
    "append_lost_after_silence": of_an_append_lost_after_silence,
    "alone": lambda topic: begun(topic, 7, 5, isr=[1]),
    "alone_and_heard": lambda topic: [*begun(topic, 7, 5, isr=[1]), append(topic, 100, 7, 10)],
    "of_an_empty_log": of_an_empty_log,
    "segment_after_requests": of_a_segment_after_requests,
    "no_log_stated": lambda topic: [begins(topic)],
    "nothing_stated": lambda topic: begun(topic, 7, None),
}


def landed() -> dict[str, list[Row]]:
    """All of them, a topic each."""
    rows = [row for topic, told in TOPICS.items() for row in told(topic)]
    return {
        "leader_changes": [row for row in rows if "change_kind" in row],
        "broker_statements": [row for row in rows if "kind" in row],
        "produce_events": [row for row in rows if "base_offset" in row],
        "fetch_events": [row for row in rows if "fetch_offset" in row],
        "segment_batches": [
            row | {"base_offset": 0, "last_offset": row["batch_last_offset"]}
            for row in rows
            if "batch_last_offset" in row
        ],
    } | told_of_brokers(TOPICS)


@pytest.fixture(scope="module")
def leaders(spark: SparkSession) -> Iterator[Mapping[str, list[Row]]]:
    """Their leader timelines."""
    with replayed(spark, landed(), 3, Profile(lag_time_ms=10_000, has_silence=True)) as timelines:
        yield by_topic(timelines.leader_timeline)


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
        ("FETCH", 25, 25, 30, 30, "exact"),
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

    assert told == [{2: -1, 3: -1}] * 2 + [{2: 18, 3: -1}] + [{2: -1, 3: -1}] * 7
