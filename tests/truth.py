"""What the brokers of a bundled capture said at DEBUG and TRACE, held against the rebuilt timelines."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
Leadership = tuple[str, int, int]


def truth_of(capture: Path) -> list[dict[str, Any]]:
    """The brokers' statements, in the order each broker wrote them."""
    with gzip.open(capture / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [statement for line in lines if not (statement := json.loads(line))["topic"].startswith("__")]


@dataclass(frozen=True)
class Agreement:
    """Values the brokers said (`stated`), how many of them were rebuilt, how many were rebuilt and never said."""

    stated: int
    found: int
    extra: int


def _agreement(
    stated: Mapping[Any, set[Any]], rebuilt: Mapping[Any, set[Any]], allowed: Mapping[Any, set[Any]]
) -> Agreement:
    return Agreement(
        sum(map(len, stated.values())),
        sum(len(values & rebuilt.get(key, set())) for key, values in stated.items()),
        sum(len(values - stated.get(key, set()) - allowed.get(key, set())) for key, values in rebuilt.items()),
    )


def stated_steps(truth: Iterable[Row]) -> dict[Leadership, list[tuple[int, int]]]:
    """Per leadership, each rise of the leader's HW: (milliseconds, the HW it rose to)."""
    steps = defaultdict(list)
    for row in truth:
        if row["kind"] == "leader_hw" and row["epoch"] is not None and row["to"] > row["from"]:
            steps[row["topic"], row["partition"], row["epoch"]].append((row["ts"], row["to"]))
    return steps


def starts(truth: Iterable[Row]) -> dict[Leadership, int]:
    """The HW each leadership began with; the election itself may raise it."""
    return {(r["topic"], r["partition"], r["epoch"]): r["to"] for r in truth if r["kind"] == "become_leader"}


def rebuilt_steps(
    leader_timeline: Iterable[Row], begun: Mapping[Leadership, int]
) -> dict[Leadership, list[tuple[int, int]]]:
    """The same of a leader timeline, in the order of `event_seq`; what is bounded is no step."""
    steps: dict[Leadership, list[tuple[int, int]]] = defaultdict(list)
    last = dict(begun)
    for row in sorted(leader_timeline, key=lambda row: (row["leader_epoch"], row["event_seq"])):
        key = (row["topic"], row["partition"], row["leader_epoch"])
        if row["exactness"] == "bounded":
            continue
        if key in last and row["high_watermark"] > last[key]:
            steps[key].append((row["event_time"].replace(tzinfo=UTC).timestamp() * 1000, row["high_watermark"]))
        last[key] = row["high_watermark"]
    return steps


def remote_leos(truth: Iterable[Row], leader_timeline: Iterable[Row]) -> Agreement:
    """Remote LEOs per leadership and replica. One a re-elected leader kept it did not say again."""
    stated, rebuilt, leads = defaultdict(set), defaultdict(set), {}
    for row in truth:
        if row["kind"] == "remote_leo" and row["epoch"] is not None:
            stated[row["topic"], row["partition"], row["epoch"], row["replica"]].add(row["to"])
    for row in leader_timeline:
        leads[row["topic"], row["partition"], row["leader_epoch"]] = row["leader_id"]
        for replica, leo in row["remote_log_end_offset"].items():
            if leo >= 0:
                rebuilt[row["topic"], row["partition"], row["leader_epoch"], replica].add(leo)
    kept = {
        (topic, partition, epoch, replica): stated.get((topic, partition, epoch - 1, replica), set())
        for topic, partition, epoch, replica in rebuilt
        if leads[topic, partition, epoch] == leads.get((topic, partition, epoch - 1))
    }
    return _agreement(stated, rebuilt, kept)


def follower_hws(truth: Iterable[Row], replica_timeline: Iterable[Row]) -> Agreement:
    """The HWs each follower had. Those it loaded, or had in another role, are no followers' statements."""
    stated, rebuilt, other = defaultdict(set), defaultdict(set), defaultdict(set)
    for row in truth:
        if row["kind"] == "follower_hw":
            stated[row["topic"], row["partition"], row["replica"]].add(row["to"])
        elif row["kind"] in ("loaded", "become_follower", "become_leader", "leader_hw", "truncate"):
            other[row["topic"], row["partition"], row["broker"]] |= {row["to"], row.get("from", row["to"])}
    for row in replica_timeline:
        if row["role"] == "FOLLOWER" and row["high_watermark"] >= 0:
            rebuilt[row["topic"], row["partition"], row["replica_id"]].add(row["high_watermark"])
    return _agreement(stated, rebuilt, other)


def log_ends(truth: Iterable[Row], replica_timeline: Iterable[Row]) -> Agreement:
    """Where each replica's log ended. What it had when its role changed, and what it cut to, no append states."""
    stated, rebuilt, other = defaultdict(set), defaultdict(set), defaultdict(set)
    for row in truth:
        of = row["topic"], row["partition"], row["broker"]
        if row["kind"] == "append":
            stated[of].add(row["to"])
        elif row["kind"] in ("become_follower", "become_leader", "truncate"):
            other[of].add(row.get("leo", row["to"]))
    for row in replica_timeline:
        if row["log_end_offset"] >= 0:
            rebuilt[row["topic"], row["partition"], row["replica_id"]].add(row["log_end_offset"])
    return _agreement(stated, rebuilt, other)


def cuts(truth: Iterable[Row]) -> set[tuple[str, int, int, int]]:
    """Each truncation the brokers said: topic, partition, replica, new LEO."""
    return {(r["topic"], r["partition"], r["broker"], r["to"]) for r in truth if r["kind"] == "truncate"}
