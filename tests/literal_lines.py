"""Landed rows of a small history, written by hand: a leader begins, appends and is asked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from schemas.kinds import StatementKind

Row = dict[str, Any]
LINES = count(1)


def at(ms: float) -> datetime:
    """A time on the leader's clock."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


def line(topic: str, ms: float, **columns: Any) -> Row:
    """A landed row of partition 0, in a cluster of its own."""
    key = {"cluster_id": topic, "capture_id": "c", "topic": topic, "topic_id": topic, "partition": 0}
    whole = {**key, "leader_epoch": 0, "broker_id": 1}
    return {**whole, "event_time": at(ms), "source_file": "f", "source_line": next(LINES), **columns}


def begins(topic: str, epoch: int = 0, ms: int = 0, **columns: Any) -> Row:
    """Broker 1 leads, with all in the ISR."""
    told = {"leader_epoch": epoch, "partition_epoch": epoch, "change_kind": "become_leader", "leader_id": 1}
    return line(topic, ms, **{**told, "isr": [1, 2, 3], "replicas": [1, 2, 3], **columns})


def begins_with(topic: str, leo: int, ms: int = 0, **columns: Any) -> Row:
    """The line of a leader that begins with this LEO."""
    return line(topic, ms, kind=StatementKind.BECAME_LEADER_LEO.value, offset=leo, replica_id=-1, **columns)


def append(topic: str, ms: int, base: int, end: int, local_ms: int = 0) -> Row:
    """An append of [base, end) that the leader worked on for `local_ms`."""
    return line(
        topic, ms, base_offset=base, last_offset=end - 1, acks=1, error_code=0, append_source="request",
        is_transactional=False, local_time_us=local_ms * 1000, response_time=at(ms + local_ms),
    )  # fmt: skip


def fetch(topic: str, ms: float, replica: int, offset: int, hw: int, local_ms: int = 0) -> Row:
    """A follower's fetch, answered at once with records and `hw`."""
    number = next(LINES)
    return line(
        topic, ms, replica_id=replica, fetch_offset=offset, response_high_watermark=hw, session_id=number,
        session_epoch=0, is_parked=False, is_implied=True, records_size=1, error_code=0, diverging_epoch=-1,
        current_leader_epoch=0, local_time_us=local_ms * 1000, response_time=at(ms + local_ms),
    )  # fmt: skip


def omitted(row: Row) -> Row:
    """The fetch, of a session that was told this HW before: its response leaves the partition out."""
    told = row["response_high_watermark"]
    return row | {"session_high_watermark": told, "response_high_watermark": -1, "records_size": -1}


def told_of_brokers(clusters: Iterable[str]) -> dict[str, list[Row]]:
    """Of each cluster: min.insync.replicas is 1, and all three brokers are registered and unfenced."""
    setting = {"broker_id": -1, "topic": "", "name": "min.insync.replicas", "value": "1"}
    registered = {"broker_epoch": 1, "is_fenced": False}
    each = list(clusters)
    return {
        "settings": [{"cluster_id": c, "event_time": at(0), **setting} for c in each],
        "broker_registrations": [
            {"cluster_id": c, "event_time": at(0), "broker_id": id_, "metadata_offset": id_, **registered}
            for c in each
            for id_ in (1, 2, 3)
        ],
    }
