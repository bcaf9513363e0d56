"""A fetch while an append is worked on was caught up, or not: a later response tells, of this fetch and no other.

It matters for the lag time after: replica 2 leaves the ISR, and the HW waits for it, or rises.
"""

from __future__ import annotations

from typing import Any

import pytest

from replay.profile import Profile
from tests.literal_lines import append, at, begins, fetch, line, told_of_brokers
from tests.rebuilt import Answers, Logs, asked

pytestmark = pytest.mark.spark
Row = dict[str, Any]
PARKED, LAGGARD, DONE = "parked", "laggard", "done"


def leaves(topic: str, ms: float) -> Row:
    """Replica 2 is out of the ISR."""
    return line(topic, ms, change_kind="isr_updated", leader_id=1, isr=[1, 3], partition_epoch=1)


def of_parked(topic: str) -> dict[str, list[Row]]:
    """Replica 3 waits from 15,110 ms on, and is answered when 2 has fetched at 10: what it is told is of then."""
    waits = fetch(topic, 15_110, 3, 10, 10) | {"is_parked": True, "records_size": 0, "response_time": at(15_320)}
    return {
        "leader_changes": [begins(topic), leaves(topic, 15_100)],
        "produce_events": [append(topic, 14_000, 0, 10, 3_000)],
        "fetch_events": [
            fetch(topic, 15_000, 2, 0, 0), fetch(topic, 15_001, 3, 0, 0), fetch(topic, 15_010, 3, 10, 0), waits,
            fetch(topic, 15_300, 2, 10, 0),
        ],
    }  # fmt: skip


def of_laggard(topic: str) -> dict[str, list[Row]]:
    """Replica 4, far behind, fetches beside 2: it is never caught up. At last 2 is, and the HW rises."""
    everybody = {"isr": [1, 2, 3], "replicas": [1, 2, 3, 4]}
    return {
        "leader_changes": [begins(topic, **everybody), leaves(topic, 15_100)],
        "produce_events": [
            append(topic, 10, 0, 10), append(topic, 4_100, 10, 15), append(topic, 14_000, 15, 25, 3_000),
        ],
        "fetch_events": [
            fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 10, 0), fetch(topic, 4_000, 2, 10, 10),
            fetch(topic, 4_001, 3, 10, 10), fetch(topic, 4_200, 3, 15, 10), fetch(topic, 14_990, 4, 2, 10),
            fetch(topic, 15_000, 2, 15, 10), fetch(topic, 15_001, 3, 15, 15), fetch(topic, 15_010, 3, 25, 15),
            fetch(topic, 15_110, 3, 25, 15), fetch(topic, 15_200, 2, 25, 15),
        ],
    }  # fmt: skip


def of_done(topic: str) -> dict[str, list[Row]]:
    """The append is over when 2 fetches: that is behind. 3 is told the HW from just before 2 left, then the next."""
    return {
        "leader_changes": [begins(topic), leaves(topic, 15_100)],
        "produce_events": [append(topic, 10, 0, 10), append(topic, 14_000, 10, 20)],
        "fetch_events": [
            fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 10, 0),
            fetch(topic, 15_000, 2, 10, 10), fetch(topic, 15_010, 3, 20, 10), fetch(topic, 15_102, 3, 20, 10),
            fetch(topic, 15_120, 3, 20, 20),
        ],
    }  # fmt: skip


def of_left(topic: str, left_ms: int, *last: Row) -> dict[str, list[Row]]:
    """2 fetches at 10 while the append of the next ten is worked on, leaves the ISR, and the last fetches are of 3."""
    return {
        "leader_changes": [begins(topic), leaves(topic, left_ms)],
        "produce_events": [append(topic, 10, 0, 10), append(topic, 14_000, 10, 20, 3_000)],
        "fetch_events": [
            fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 10, 0),
            fetch(topic, 15_000, 2, 10, 10), fetch(topic, 15_010, 3, 20, 10), *last,
        ],
    }  # fmt: skip


def waits(topic: str, ms: float, hw: int) -> Row:
    """Replica 3 is at the end and waits for records: half a second later it is answered without any, and told `hw`."""
    parked = {"is_parked": True, "records_size": 0, "response_time": at(ms + 500)}
    return fetch(topic, ms, 3, 20, hw) | parked


AT_ONCE: dict[str, tuple[int, tuple[tuple[float, int], ...]]] = {
    "last_moment": (25_000, ((25_100, 10),)),
    "a_moment_too_late": (25_001, ((25_100, 20),)),
    "long_after": (15_100, ((26_000, 10),)),
    "rose": (15_100, ((15_200, 20),)),
    "just_then": (15_100, ((15_104, 10),)),
    "just_then_and_later": (15_100, ((15_104, 10), (15_200, 20))),
    "untold": (15_100, ()),
}
"""By topic: when 2 leaves, and when 3 asks again and what it is told at once."""
IN_PURGATORY = {"answered_with_less": 10, "answered_with_more": 20}
"""What 3 is told that asks at 15,200 ms and waits."""


def stories() -> dict[str, dict[str, list[Row]]]:
    """All of them, a topic each."""
    return {
        PARKED: of_parked(PARKED),
        LAGGARD: of_laggard(LAGGARD),
        DONE: of_done(DONE),
        **{
            topic: of_left(topic, left_ms, *[fetch(topic, ms, 3, 20, hw) for ms, hw in told])
            for topic, (left_ms, told) in AT_ONCE.items()
        },
        **{topic: of_left(topic, 15_100, waits(topic, 15_200, hw)) for topic, hw in IN_PURGATORY.items()},
    }


@asked
def races() -> Logs:
    """All of them."""
    told = stories()
    tables = ("leader_changes", "produce_events", "fetch_events")
    landing = {name: [row for one in told.values() for row in one[name]] for name in tables}
    brokers = told_of_brokers(told)
    brokers["broker_registrations"] += [
        row | {"broker_id": 4, "metadata_offset": 4} for row in brokers["broker_registrations"] if row["broker_id"] == 3
    ]
    return Logs(landing | brokers, dict.fromkeys(told, Profile(lag_time_ms=10_000)), 4)


KNOWN = {
    PARKED: (0, 0, "exact"),
    LAGGARD: (15, 15, "exact"),
    DONE: (20, 20, "exact"),
    # The lag time has passed since its fetch in the very millisecond in which 2 leaves: `<=`, so the HW waits (R:62).
    "last_moment": (10, 10, "exact"),
    "a_moment_too_late": (20, 20, "exact"),
    # What lies between the fetch and the response is no matter, but what lies between the fetch and the rise.
    "long_after": (10, 10, "exact"),
    "rose": (20, 20, "exact"),
    # 3 may have asked just before 2 left: the clock is no better.
    "just_then": (10, 20, "bounded"),
    "just_then_and_later": (20, 20, "exact"),
    "untold": (10, 20, "bounded"),
    # From purgatory 3 is told the HW of half a second later: none since then was more, some may have been less.
    "answered_with_less": (10, 10, "exact"),
    "answered_with_more": (10, 20, "bounded"),
}
"""Bounds of the HW when 2 has left the ISR, and its exactness."""


@pytest.mark.parametrize("topic", KNOWN)
def test_the_hw_waits_for_who_was_caught_up(rebuilt: Answers, topic: str) -> None:
    """What 3 was told later says so; where it says nothing, the HW is one or the other."""
    change = next(row for row in rebuilt[races][topic].leader if row["event_type"] == "ISR_CHANGE")

    assert (change["high_watermark_low"], change["high_watermark_high"], change["exactness"]) == KNOWN[topic]
    assert change["high_watermark"] == change["high_watermark_low"]


@pytest.mark.parametrize(("topic", "hw"), [("last_moment", 10), ("long_after", 10), ("rose", 20)])
def test_it_stands_until_it_is_evaluated_again(rebuilt: Answers, topic: str, hw: int) -> None:
    """The fetch that was told it changes nothing (P:943)."""
    last = rebuilt[races][topic].leader[-1]

    assert (last["event_type"], last["high_watermark"], last["exactness"]) == ("FETCH", hw, "exact")


def test_it_does_not_wait_for_who_was_behind(rebuilt: Answers) -> None:
    """Replica 4 has two records."""
    last = rebuilt[races][LAGGARD].leader[-1]

    assert (last["high_watermark"], last["remote_log_end_offset"]) == (25, {2: 25, 3: 25, 4: 2})
