"""Bounds of a timeline held against what the brokers said at DEBUG and TRACE."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

Row = Mapping[str, Any]
Interval = tuple[int, int, Row]

NEAR_MS = 2
"""Two lines of a broker may be that far from what they tell of."""
STILL = 1 << 62


def _ms(time: datetime) -> int:
    return int(time.replace(tzinfo=UTC).timestamp() * 1000)


def leader_high_watermarks(truth: Iterable[Row]) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
    """Per partition and epoch, each HW its leader said it has: (milliseconds, HW)."""
    said = defaultdict(list)
    for row in truth:
        if row["kind"] in ("become_leader", "leader_hw") and row["epoch"] is not None:
            said[row["topic"], row["partition"], row["epoch"]].append((row["ts"], row["to"]))
    return said


def replica_values(truth: Iterable[Row], what: str) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
    """Per partition and replica, each LEO (or HW) it said it has: (milliseconds, offset)."""
    kinds = {
        "log_end_offset": ("append", "truncate"),
        "high_watermark": ("leader_hw", "loaded", "follower_hw"),
    }[what]
    said = defaultdict(list)
    for row in truth:
        of = row["topic"], row["partition"], row.get("replica", row["broker"])
        if row["kind"] in ("become_leader", "become_follower"):
            said[of].append((row["ts"], row["leo"] if what == "log_end_offset" else row["to"]))
        elif row["kind"] in kinds:
            said[of].append((row["ts"], row["to"]))
    return said


def leader_intervals(leader_timeline: Iterable[Row]) -> dict[tuple[Any, ...], list[Interval]]:
    """Per partition and epoch, its rows with the time from which to which each is the last one."""
    rows = defaultdict(list)
    for row in sorted(leader_timeline, key=lambda row: (row["leader_epoch"], row["event_seq"])):
        rows[row["topic"], row["partition"], row["leader_epoch"]].append(row)
    return {
        of: [
            (_ms(row["event_time"]), _ms(after["event_time"]) if after else STILL, row)
            for row, after in zip(its, [*its[1:], None], strict=True)
        ]
        for of, its in rows.items()
    }


def replica_intervals(replica_timeline: Iterable[Row]) -> dict[tuple[Any, ...], list[Interval]]:
    """Per partition and replica, its rows with the time they are valid."""
    found = defaultdict(list)
    for row in sorted(replica_timeline, key=lambda row: (row["leader_epoch"], row["event_seq"])):
        until = _ms(row["valid_to"]) if row["valid_to"] else STILL
        found[row["topic"], row["partition"], row["replica_id"]].append((_ms(row["valid_from"]), until, row))
    return found


def at_once(replica_timeline: Iterable[Row]) -> Iterator[str]:
    """Each moment at which a replica has two states: one begins where an earlier one has not ended."""
    of_replicas = defaultdict(list)
    for row in sorted(replica_timeline, key=lambda row: (row["leader_epoch"], row["event_seq"])):
        if row["valid_to"] is None or row["valid_to"] > row["valid_from"]:
            of_replicas[row["topic"], row["partition"], row["replica_id"]].append(row)
    for of, states in of_replicas.items():
        for state, then in pairwise(sorted(states, key=lambda row: row["valid_from"])):
            if state["valid_to"] is None or state["valid_to"] > then["valid_from"]:
                yield f"{of} from {state['valid_from']} until {state['valid_to']}, and from {then['valid_from']}"


def outside(
    said: Mapping[tuple[Any, ...], list[tuple[int, int]]], known: Mapping[tuple[Any, ...], list[Interval]], what: str
) -> Iterator[str]:
    """Each value said that lies between the bounds of no row in force at its time."""
    for of, values in said.items():
        intervals = sorted(known.get(of, []), key=lambda it: it[:2])
        starts = [start for start, _, _ in intervals]
        for ms, value in values:
            near = intervals[: bisect_right(starts, ms + NEAR_MS)]
            rows = [row for _, end, row in near if end >= ms - NEAR_MS]
            if rows and not any(row[f"{what}_low"] <= value <= row[f"{what}_high"] for row in rows):
                yield f"{of} {what} {value} at {ms}, not in {[(r[f'{what}_low'], r[f'{what}_high']) for r in rows]}"
