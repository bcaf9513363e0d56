"""A partition of a fetch that the broker never read, because it did not know its topic id yet, moves no remote LEO."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas import tables as T
from tests.engine import by_topic, profile, replayed
from tests.story import tell
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

STORY = """# A follower asks before its leader's metadata has the topic: this partition is parked with the others.
kafka 4.1.0, protocol 4.1
min isr 1
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
2 fetches at 0, parked                     | 1:0  2:0  3:?  hw 0
append 3                                   | 1:3  2:0  3:?  hw 0
3 fetches at 0, at once                    | 1:3  2:0  3:0  hw 0
"""


@pytest.mark.parametrize(
    ("error_code", "remote_leo"),
    [(0, 0), (6, 0), (100, -1), (29, -1)],
    ids=["answered", "no longer the leader", "topic id unknown", "not authorized"],
)
def test_a_parked_fetch_was_accepted_if_it_was_read(spark: SparkSession, error_code: int, remote_leo: int) -> None:
    """An error of the read at the end comes after a first one that was accepted; one of the request's handling not."""
    story = tell("before_its_metadata", STORY)
    landing: dict[str, list[dict[str, Any]]] = {t: [dict(row) for row in rows] for t, rows in combined([story]).items()}
    (parked,) = [row for row in landing[T.FETCH_EVENTS.name] if row["is_parked"]]
    parked |= {"error_code": error_code}
    with replayed(spark, landing, 3, profile(story)) as timelines:
        (found,) = by_topic(timelines.leader_timeline).values()

    assert [row["remote_log_end_offset"][2] for row in found if row["event_type"] == "APPEND"] == [remote_leo]
