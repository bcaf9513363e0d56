"""Leaders that were killed: that they ended is known when they are started again, long after the next one began."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jobs.keeping import keeping
from replay.findings.elections import elections, unclean_elections
from replay.findings.isr_story import isr_changes, isr_steps
from replay.findings.spans import END_ISR, spans
from replay.findings.stale_members import stale_isr_members
from replay.findings.under_min_isr import times_under_min_isr
from replay.profile import Profile
from schemas import tables as T
from tests.checked_rows import Given, at, event
from tests.frames import rows
from tests.nothing_told import untold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

UNTOLD = {"is_isr_inferred": True, "maximal_isr": None}


def killed(epoch: int, seq: int, leo: int, hw: int, **more: Any) -> Given:
    """The end of a leader's process, known an hour later."""
    return event(epoch, seq, leo, hw, **{"event_type": "RESTART", "event_time": at(3600), **more})


def led(spark: SparkSession, *events: Given) -> DataFrame:
    """Leaders' events."""
    return rows(spark, T.LEADER_TIMELINE, *events)


def test_an_isr_inferred_for_the_end_is_nobodys(spark: SparkSession) -> None:
    """Nobody leaves it then, nor is it too small, nor was the next leader elected from outside it."""
    timeline = led(
        spark, event(0, 1, 5, 5, **UNTOLD), killed(0, 3, 5, 5, isr=[1], is_under_min_isr=True, **UNTOLD),
        event(1, 1, 5, 5, isr=[2], remote_log_end_offset={1: 5, 3: 5}, **UNTOLD),
    )  # fmt: skip
    landed = {table.name: rows(spark, table) for table in T.LANDING_TABLES}
    known = spans(timeline)
    left = isr_changes(isr_steps(timeline)).collect()

    assert {(row["kind"], row["leader_epoch"], row["replica_id"]) for row in left} == {
        ("ISR_SHRUNK", 1, 1), ("ISR_SHRUNK", 1, 3)
    }  # fmt: skip
    assert times_under_min_isr(timeline, untold(spark)[0], landed, Profile()).isEmpty()
    assert {row["leader_epoch"]: row[END_ISR] for row in known.collect()} == {0: [1, 2, 3], 1: [2]}
    assert unclean_elections(elections(landed, known), Profile()).isEmpty()


def test_of_a_leader_of_which_only_the_end_is_told_that_counts(spark: SparkSession) -> None:
    """It is a leadership all the same."""
    (span,) = spans(led(spark, killed(0, 3, 5, 5, isr=[1, 2], maximal_isr=[1, 2]))).collect()

    assert (span["leader_id"], span[END_ISR]) == (1, [1, 2])


def test_nobody_is_a_stale_member_of_a_dead_leader(spark: SparkSession) -> None:
    """A member is late up to what the leader did last."""
    behind = {"maximal_isr": [1, 2, 3], "event_type": "APPEND"}
    late = [
        event(0, 1, 5, 5, remote_log_end_offset={2: -1, 3: -1}, maximal_isr=[1, 2, 3]),
        *[event(0, n, 5 + n, 5, remote_log_end_offset={2: 5, 3: 5 + n}, **behind) for n in range(2, 60)],
    ]
    end = killed(0, 60, 64, 5, remote_log_end_offset={2: 5, 3: 64}, maximal_isr=[1, 2, 3])
    with keeping() as keep:
        (stale,) = stale_isr_members(led(spark, *late, end), Profile(), keep).collect()

    assert (stale["replica_id"], stale["ended_at"]) == (2, at(59).replace(tzinfo=None))
