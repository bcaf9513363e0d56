"""Under min ISR because the setting was changed, the topic's own or the default, and no event of the leader follows."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from replay.findings.spans import spans
from replay.findings.stalls import STALL_MS
from replay.findings.suspects import WAS_UNDER_MIN_ISR, only, suspects
from replay.findings.under_min_isr import times_under_min_isr, with_changed
from replay.profile import Profile
from schemas import tables as T
from tests.checked_rows import Given, at, event
from tests.frames import rows
from tests.nothing_told import untold

pytestmark = pytest.mark.spark

TOPIC, DEFAULT = "ledger", ""


def told(second: float, topic: str, value: int | None, broker: int = 1) -> Given:
    """A line that tells min.insync.replicas of the topic, or of brokers; NULL where the topic's is removed."""
    text = None if value is None else str(value)
    line = {"source_file": "broker-1/server.log", "source_line": round(second * 1000) + 1}
    return {**line, "topic": topic, "name": "min.insync.replicas", "value": text, "broker_id": broker,
            "event_time": at(second)}  # fmt: skip


# Leader 1 of replicas 1 and 2 is alone in the ISR from 1 s on. Its min ISR, the lines, and when it refused acks=all.
HISTORIES: dict[str, tuple[int, list[Given], set[tuple[float, float | None]]]] = {
    "raised": (1, [told(0, TOPIC, 1), told(5, TOPIC, 2)], {(5, None)}),
    "lowered": (2, [told(0, TOPIC, 2), told(5, TOPIC, 1)], {(1, 5)}),
    "set over the default": (1, [told(0, DEFAULT, 1), told(5, TOPIC, 2)], {(5, None)}),
    "set, and nothing told before": (-1, [told(5, TOPIC, 2)], {(5, None)}),
    "removed, the default is less": (2, [told(0, DEFAULT, 1), told(0, TOPIC, 2), told(5, TOPIC, None)], {(1, 5)}),
    "removed, the default is more": (1, [told(0, DEFAULT, 2), told(0, TOPIC, 1), told(5, TOPIC, None)], {(5, None)}),
    "default raised": (1, [told(0, DEFAULT, 1), told(5, DEFAULT, 2, broker=-1)], {(5, None)}),
    "default lowered": (2, [told(0, DEFAULT, 2), told(5, DEFAULT, 1, broker=-1)], {(1, 5)}),
    "default of another broker": (1, [told(0, DEFAULT, 1), told(5, DEFAULT, 2, broker=2)], set()),
    "default under a topic's own": (1, [told(0, DEFAULT, 1), told(0, TOPIC, 1), told(5, DEFAULT, 2)], set()),
    "another topic's": (1, [told(0, TOPIC, 1), told(5, "audit", 2)], set()),
    "told again": (2, [told(0, TOPIC, 2), told(5, TOPIC, 2), told(5, DEFAULT, 1)], {(1, None)}),
}  # fmt: skip


def of(cluster: str, rows_of: list[Given]) -> list[Given]:
    """The rows as those of a cluster."""
    return [{**row, "cluster_id": cluster} for row in rows_of]


def test_what_is_changed_counts_from_its_own_time_on(spark: SparkSession) -> None:
    """What is refused is no event: the leader's last may be long before."""
    timeline, settings = [], []
    for name, (min_isr, lines, _) in HISTORIES.items():
        is_under = None if min_isr < 0 else min_isr > 1
        alone: dict[str, Any] = {
            "isr": [1], "min_isr": min_isr, "is_under_min_isr": is_under, "remote_log_end_offset": {2: 0}
        }  # fmt: skip
        timeline += of(name, [event(0, 1, 4, 4, **alone)])
        settings += of(name, lines)
    landed = {
        T.SETTINGS.name: rows(spark, T.SETTINGS, *settings),
        T.BROKER_STATEMENTS.name: rows(spark, T.BROKER_STATEMENTS),
    }
    leaders = rows(spark, T.LEADER_TIMELINE, *timeline)
    epochs, heard = untold(spark)
    changed = with_changed(suspects(leaders, heard, STALL_MS), landed[T.SETTINGS.name], spans(leaders))
    found = times_under_min_isr(only(leaders, changed, WAS_UNDER_MIN_ISR), epochs, landed, Profile()).collect()

    begin = at(0).replace(tzinfo=None)
    lasted: dict[str, set[tuple[float, float | None]]] = {name: set() for name in HISTORIES}
    for row in found:
        began, ended = (when and (when - begin).total_seconds() for when in (row["started_at"], row["ended_at"]))
        lasted[row["cluster_id"]].add((began, ended))
    assert lasted == {name: expected for name, (_, _, expected) in HISTORIES.items()}
