"""Two requests so near that the clock tells no order: the HW after the first is bounded, if it would be another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from replay.profile import Profile
from tests.literal_lines import append, at, begins, fetch, line, omitted, told_of_brokers
from tests.rebuilt import Answers, Logs, asked

pytestmark = pytest.mark.spark
Row = dict[str, Any]
FOUR = [1, 2, 3, 4]
WORK_MS = 50
"""The leader works on each neighbour for so long, if not said otherwise: 9 ms apart they are undecided."""


def parked(topic: str, ms: float, replica: int, offset: int, hw: int, work_ms: int = WORK_MS) -> Row:
    """A fetch that waits, and is told the HW of when both were there."""
    waits = {"is_parked": True, "records_size": 0, "response_time": at(30_000)}
    return fetch(topic, ms, replica, offset, hw, work_ms) | waits


def at_once(row: Row, hw: int) -> Row:
    """The fetch, told the HW from before its own update; -1 if its response leaves the partition out."""
    return row | {"is_parked": False, "response_time": row["event_time"], "response_high_watermark": hw}


def of(topic: str, rows: Iterable[Row], **begin: Any) -> dict[str, list[Row]]:
    """The rows of a partition by their table."""
    each = list(rows)
    return {
        "leader_changes": [begins(topic, **begin), *[row for row in each if "change_kind" in row]],
        "broker_statements": [row for row in each if "kind" in row],
        "produce_events": [row for row in each if "base_offset" in row],
        "fetch_events": [row for row in each if "replica_id" in row],
    }


def pair(
    topic: str,
    remote: dict[int, int],
    *last: tuple[int, int],
    ms: Sequence[float] = (100, 109),
    work: Sequence[int] = (WORK_MS, WORK_MS),
    told: int | None = None,
    **begin: Any,
) -> dict[str, list[Row]]:
    """A log of 20 records, followers at `remote`, and their last two fetches: replica and offset.

    Both were parked; if `told` is given, the second was answered at once with that HW.
    """
    before = [
        fetch(topic, 20 + i, replica, offset, 0 if i < 2 else 5) for i, (replica, offset) in enumerate(remote.items())
    ]
    end = min((remote | dict(last))[member] for member in (2, 3))
    first, second = (
        parked(topic, when, *asked_for, end, work_ms) for when, asked_for, work_ms in zip(ms, last, work, strict=True)
    )
    return of(
        topic, [append(topic, 10, 0, 20), *before, first, second if told is None else at_once(second, told)], **begin
    )


def omitting_the_last(rows: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The same, but that the last response leaves the partition out: its session had been told that HW."""
    *others, last = rows["fetch_events"]
    return rows | {"fetch_events": [*others, omitted(last)]}


def of_elected(topic: str) -> dict[str, list[Row]]:
    """A leader begins with 20 records and a HW of 10, and has heard from nobody."""
    stated = {"became_leader_log_end_offset": 20, "became_leader_high_watermark": 10}
    lines = [line(topic, 0, kind=kind, offset=offset) for kind, offset in stated.items()]
    return of(topic, [*lines, *[parked(topic, ms, replica, 20, 20) for ms, replica in ((100, 2), (109, 3))]])


def of_too_small_isr(topic: str) -> dict[str, list[Row]]:
    """min.insync.replicas is 3, and the ISR 1 and 2: an append, and the fetch of 2 at the end before it."""
    rows = [append(topic, 10, 0, 20), fetch(topic, 20, 2, 0, 0), append(topic, 100, 20, 30, WORK_MS)]
    return of(topic, [*rows, parked(topic, 104, 2, 20, 0)], isr=[1, 2])


def of_let_go(topic: str) -> dict[str, list[Row]]:
    """2 has left the ISR, and the HW waited for it for the lag time; who asks first lets it go, 3 or a producer."""
    left = line(topic, 9_100, change_kind="isr_updated", leader_id=1, isr=[1], partition_epoch=1)
    rows = [
        append(topic, 10, 0, 10), fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 0, 10),
        fetch(topic, 8_990, 2, 10, 10), append(topic, 9_000, 10, 20), left,
        parked(topic, 19_100, 3, 5, 30), append(topic, 19_109, 20, 30, WORK_MS),
    ]  # fmt: skip
    return of(topic, rows, isr=[1, 2])


def of_both_let_go(topic: str) -> dict[str, list[Row]]:
    """4 has left the ISR, and the HW waited for it at 5; whoever asks first now, it rises to 10."""
    left = line(topic, 9_000, change_kind="isr_updated", leader_id=1, isr=[1, 2, 3], partition_epoch=1)
    rows = [
        append(topic, 10, 0, 5), *[fetch(topic, 20 + replica, replica, 5, 0) for replica in (2, 3, 4)],
        append(topic, 8_000, 5, 20), fetch(topic, 8_010, 2, 10, 5), fetch(topic, 8_011, 3, 10, 5), left,
        *[parked(topic, 11_000 + 9 * i, replica, 15, 15) for i, replica in enumerate((2, 3))],
    ]  # fmt: skip
    return of(topic, rows, isr=FOUR, replicas=FOUR)


BEHIND = {2: 10, 3: 5}
"""Where they are before: the HW is 5. Both then fetch at 20: if 3 is the first of them the HW passes 10."""


def told() -> dict[str, dict[str, list[Row]]]:
    """By topic."""
    far = {"isr": [1, 2, 3], "replicas": FOUR}
    return {
        "second_would_raise": pair("second_would_raise", BEHIND | {4: 2}, (2, 20), (3, 20), **far),
        "first_did": pair("first_did", BEHIND, (3, 20), (2, 20)),
        "is_told": pair("is_told", BEHIND, (3, 20), (2, 20), told=10),
        "is_told_what_was": pair("is_told_what_was", BEHIND, (2, 20), (3, 20), told=5),
        "session_was_told": omitting_the_last(pair("session_was_told", BEHIND, (3, 20), (2, 20), told=10)),
        "is_told_nothing": pair("is_told_nothing", BEHIND, (3, 20), (2, 20), told=-1),
        "exact_times": pair("exact_times", BEHIND, (3, 20), (2, 20), ms=(100, 100.2), work=(0, 0)),
        "first_is_exact": pair("first_is_exact", BEHIND, (3, 20), (2, 20), ms=(100, 96.2), work=(0, WORK_MS)),
        "second_is_exact": pair("second_is_exact", BEHIND, (3, 20), (2, 20), ms=(96, 100.2), work=(WORK_MS, 0)),
        "of_one_replica": pair("of_one_replica", {2: 5, 3: 20}, (2, 10), (2, 20)),
        "second_changes_nothing": pair("second_changes_nothing", BEHIND, (3, 20), (2, 10)),
        "first_changes_nothing": pair("first_changes_nothing", BEHIND, (2, 15), (3, 10)),
        "elected": of_elected("elected"),
        "too_small_isr": of_too_small_isr("too_small_isr"),
        "let_go": of_let_go("let_go"),
        "both_let_go": of_both_let_go("both_let_go"),
    }


KNOWN = {
    "second_would_raise": (5, 10, "bounded"),
    "first_did": (5, 10, "bounded"),
    "is_told": (10, 10, "exact"),
    "is_told_what_was": (5, 10, "bounded"),
    "session_was_told": (10, 10, "exact"),
    "is_told_nothing": (5, 10, "bounded"),
    "exact_times": (10, 10, "exact"),
    "first_is_exact": (10, 10, "exact"),
    "second_is_exact": (10, 10, "exact"),
    "of_one_replica": (10, 10, "exact"),
    "second_changes_nothing": (10, 10, "exact"),
    "first_changes_nothing": (5, 5, "exact"),
    "elected": (10, 10, "stated"),
    "too_small_isr": (0, 0, "exact"),
    "let_go": (20, 30, "bounded"),
    "both_let_go": (10, 10, "exact"),
}
"""Bounds of the HW after the first of the two, and its exactness; of the two bounds the HW is the lower one."""


@asked
def neighbours() -> Logs:
    """All of them, a topic each; all brokers are registered, and min.insync.replicas is 1 but in one."""
    each = told()
    tables = {name for one in each.values() for name in one}
    landing = {name: [row for one in each.values() for row in one[name]] for name in tables}
    brokers = told_of_brokers(each)
    brokers["settings"] = [
        row | ({"value": "3"} if row["cluster_id"] == "too_small_isr" else {}) for row in brokers["settings"]
    ]
    registered = [row for row in brokers["broker_registrations"] if row["broker_id"] == 3]
    brokers["broker_registrations"] += [row | {"broker_id": 4, "metadata_offset": 4} for row in registered]
    return Logs(landing | brokers, dict.fromkeys(each, Profile(lag_time_ms=10_000)), 4)


@pytest.mark.parametrize("topic", KNOWN)
def test_the_hw_after_the_first_is_bounded_if_nothing_decides(rebuilt: Answers, topic: str) -> None:
    """It would be another one the other way round, on the way to the same; and no response tells which."""
    first, _ = [row for row in rebuilt[neighbours][topic].leader if row["event_type"] in ("APPEND", "FETCH")][-2:]

    assert (first["high_watermark_low"], first["high_watermark_high"], first["exactness"]) == KNOWN[topic]
    assert first["high_watermark"] == first["high_watermark_low"]
