"""A fetch while an append is worked on was caught up, or not: a later response tells, of this fetch and no other.

It matters for the lag time after: replica 2 leaves the ISR, and the HW waits for it, or rises.
"""

from __future__ import annotations

from typing import Any

import pytest

from replay.profile import Profile
from tests.literal_lines import append, at, begins, fetch, line, told_of_brokers
from tests.rebuilt import Logs, Rebuilt, asked

pytestmark = pytest.mark.spark
Row = dict[str, Any]
PARKED, LAGGARD, DONE, LAST_MOMENT = "parked", "laggard", "done", "last_moment"


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


def of_last_moment(topic: str) -> dict[str, list[Row]]:
    """2 leaves in the very millisecond in which the lag time has passed since its fetch: `<=`, so the HW waits."""
    return {
        "leader_changes": [begins(topic), leaves(topic, 25_000)],
        "produce_events": [append(topic, 10, 0, 10), append(topic, 14_000, 10, 20, 3_000)],
        "fetch_events": [
            fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 10, 0),
            fetch(topic, 15_000, 2, 10, 10), fetch(topic, 15_010, 3, 20, 10), fetch(topic, 25_000.5, 3, 20, 10),
        ],
    }  # fmt: skip


@asked
def races() -> Logs:
    """All of them, a topic each."""
    told = (of_parked(PARKED), of_laggard(LAGGARD), of_done(DONE), of_last_moment(LAST_MOMENT))
    landing = {name: [row for one in told for row in one[name]] for name in told[0]}
    topics = [PARKED, LAGGARD, DONE, LAST_MOMENT]
    brokers = told_of_brokers(topics)
    brokers["broker_registrations"] += [
        row | {"broker_id": 4, "metadata_offset": 4} for row in brokers["broker_registrations"] if row["broker_id"] == 3
    ]
    return Logs(landing | brokers, dict.fromkeys(topics, Profile(lag_time_ms=10_000)), 4)


def when_it_leaves(rows: list[Row]) -> tuple[int, str]:
    """The HW when 2 has left the ISR."""
    change = next(row for row in rows if row["event_type"] == "ISR_CHANGE")
    return change["high_watermark"], change["exactness"]


@pytest.mark.parametrize(("topic", "hw"), [(PARKED, 0), (LAGGARD, 15), (DONE, 20), (LAST_MOMENT, 10)])
def test_the_hw_waits_for_who_was_caught_up(rebuilt: Rebuilt, topic: str, hw: int) -> None:
    """What 3 was told at once says so."""
    assert when_it_leaves(rebuilt[races][topic].leader) == (hw, "exact")


def test_it_does_not_wait_for_who_was_behind(rebuilt: Rebuilt) -> None:
    """Replica 4 has two records."""
    last = rebuilt[races][LAGGARD].leader[-1]

    assert (last["high_watermark"], last["remote_log_end_offset"]) == (25, {2: 25, 3: 25, 4: 2})
