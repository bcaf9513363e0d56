"""Who left the ISR, for how long, and who was dropped from the replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.findings.isr_story import isr_changes, isr_steps
from replay.views.flapping import isr_flapping
from schemas import tables as T
from tests.checked_rows import Given, event
from tests.frames import rows
from tests.test_views import timeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def isr(epoch: int, seq: int, members: list[int], followers: list[int], leader: int = 1) -> Given:
    """A change of the ISR, of a leader that has these followers."""
    remotes = dict.fromkeys(followers, 9)
    return event(
        epoch, seq, 9, 9, event_type="ISR_CHANGE", leader_id=leader, isr=members, remote_log_end_offset=remotes
    )


def test_who_is_dropped_is_not_out(spark: SparkSession) -> None:
    """A reassignment drops 2, as leader 1 has it, and later 1, as leader 3 has it; 2 is assigned anew."""
    led = rows(
        spark, T.LEADER_TIMELINE,
        isr(0, 1, [1, 2, 3], [2, 3]), isr(0, 2, [1, 3], [3]), isr(0, 5, [1, 2, 3], [2, 3]), isr(0, 6, [1, 2], [2, 3]),
        isr(0, 8, [1, 2, 3], [2, 3]), isr(1, 1, [2, 3], [2], leader=3), isr(2, 1, [2], [3], leader=2),
    )  # fmt: skip
    found = isr_changes(isr_steps(led)).orderBy("leader_epoch", "started_at", "kind").collect()
    ends = {
        (row["leader_epoch"], row["kind"], row["replica_id"]): (
            row["evidence"].rsplit("; ", 1)[-1] if ";" in row["evidence"] else "",
            None if row["ended_at"] is None else (row["ended_at"] - row["started_at"]).total_seconds(),
        )
        for row in found
    }

    assert ends == {
        (0, "ISR_SHRUNK", 2): ("it is no replica any more", None),
        (0, "ISR_EXPANDED", 2): ("", None),
        (0, "ISR_SHRUNK", 3): ("back after 2.000 s", 2.0),
        (0, "ISR_EXPANDED", 3): ("it was out for 2.000 s", None),
        (1, "ISR_SHRUNK", 1): ("it is no replica any more", None),
        (2, "ISR_SHRUNK", 3): ("it is not back", None),
    }


def test_flapping_is_clustered(spark: SparkSession) -> None:
    """One follower that leaves two partitions of one leader, of which one has it back; who is dropped flaps not."""
    led = timeline(
        spark,
        a=[isr(0, 1, [1, 2], [2]), isr(0, 2, [1], [2]), isr(0, 5, [1, 2], [2])],
        b=[isr(0, 1, [1, 2], [2]), isr(0, 3, [1], [2])],
        dropped=[isr(0, 1, [1, 2, 3], [2, 3]), isr(0, 3, [1, 2], [2])],
    )
    found = {row["clustered_by"]: row.asDict() for row in isr_flapping(led).collect()}

    assert set(found) == {"cluster", "leader", "follower", "pair"}
    assert found["pair"] == {
        "cluster_id": "c", "clustered_by": "pair", "replica_id": 2, "leader_id": 1, "times_out": 2, "partitions": 2,
        "not_back": 1, "seconds_out_median": 3.0, "seconds_out_max": 3.0,
    }  # fmt: skip
