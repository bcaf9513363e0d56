"""A LEO that fell though no line says why: only where the line would be in the capture."""

from __future__ import annotations

from typing import Any

import pytest

from replay.findings.contradictions import offsets_gone_back
from schemas import tables as T
from tests.checked_rows import Given, at, became_leader, state, stated_start
from tests.incident_histories import cut
from tests.small_histories import Histories, Told, by_topic, told_once

pytestmark = pytest.mark.spark


def role(epoch: int, broker: int = 2, **more: Any) -> Given:
    """A broker's word that it follows leader 1."""
    return became_leader(epoch, broker, change_kind="become_follower", leader_id=1, **more)


def line(broker: int, second: float, kind: str = "loaded_high_watermark") -> Given:
    """A line of a broker's log."""
    return stated_start(0, 5, kind=kind, broker_id=broker, event_time=at(second))


def fell(replica: int, epoch: int = 1) -> dict[T.Table, Any]:
    """A replica fetched at 6 after it had had 8, at second 15."""
    return {
        T.REPLICA_TIMELINE: [state(replica, epoch, 1, 8, 5, remote_log_end_offset=8)],
        T.TRUNCATIONS: [cut(replica, epoch, 8, 6, event_time=at(15), is_stated=False)],
    }


# Brokers are of the cluster, and so of all histories: each has its own.
HISTORIES: Histories = {
    "told_of_all": {T.LEADER_CHANGES: [role(1, 2)], T.BROKER_STATEMENTS: [line(2, 0)], **fell(2)},
    "of_a_later_role": {T.LEADER_CHANGES: [role(2, 3)], T.BROKER_STATEMENTS: [line(3, 0)], **fell(3)},
    "of_an_earlier_role": {T.LEADER_CHANGES: [role(0, 4)], T.BROKER_STATEMENTS: [line(4, 0)], **fell(4)},
    "of_another_partition": {
        T.LEADER_CHANGES: [role(1, 5, partition=1)], T.BROKER_STATEMENTS: [line(5, 0)], **fell(5),
    },
    "of_roles_alone": {
        T.LEADER_CHANGES: [role(1, 6)], T.BROKER_STATEMENTS: [line(6, 0, "became_follower_high_watermark")], **fell(6),
    },
    "log_begins_later": {T.LEADER_CHANGES: [role(2, 7)], T.BROKER_STATEMENTS: [line(7, 21)], **fell(7)},
    "clock_ahead": {T.LEADER_CHANGES: [role(1, 8)], T.BROKER_STATEMENTS: [line(8, 19)], **fell(8)},
}  # fmt: skip


told = told_once(HISTORIES)


def test_a_line_is_missing_only_where_it_would_be(told: Told) -> None:
    """The partition's role tells that its lines are there, the broker's server.log that they were from then on."""
    found = by_topic(offsets_gone_back(told.landed, told.took_part, told.truncations))

    assert found == {
        "told_of_all": {("warning", 1, 2, 6, 8)},
        "of_a_later_role": {("warning", 1, 3, 6, 8)},
        "clock_ahead": {("warning", 1, 8, 6, 8)},
    }
