"""`state_at` on literal states: each replica at a moment, whatever the clocks of its leaders say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.views.states import leader_states
from schemas import tables as T
from schemas.functions import STATE_AT
from tests.checked_rows import at, event, state
from tests.frames import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STATES = (
    state(2, 0, 1, 4, 4, valid_from=at(1), valid_to=at(5)),
    state(2, 0, 5, 6, 4, valid_from=at(5), valid_to=at(5)),
    state(2, 1, 1, 7, 6, valid_from=at(3)),
    state(3, 0, 1, 5, 4, valid_from=at(1), valid_to=at(3)),
    state(3, 1, 1, 8, 6, valid_from=at(3)),
)
"""The next leader's clock is two seconds behind: what replica 2 fetched last from the first one is after its start."""
LED = (event(0, 1, 4, 4, event_time=at(1)), event(1, 1, 8, 6, event_time=at(3)))


@pytest.mark.parametrize(
    ("second", "found"),
    [(0.5, {}), (2, {2: 4, 3: 5}), (4, {2: 4, 3: 8}), (6, {2: 7, 3: 8})],
)
def test_each_replica_has_one_state(spark: SparkSession, second: float, found: dict[int, int]) -> None:
    """As `leader_states` has it: in the order of events, what is known holds until something later has begun."""
    leader_states(rows(spark, T.LEADER_TIMELINE, *LED)).createOrReplaceTempView("leader_states")
    rows(spark, T.REPLICA_TIMELINE, *STATES).createOrReplaceTempView(T.REPLICA_TIMELINE.name)
    spark.sql(STATE_AT.sql)
    told = spark.sql(f"SELECT * FROM state_at(TIMESTAMP '{at(second).isoformat()}')").collect()  # noqa: S608 - our own

    assert {row["replica_id"]: row["log_end_offset"] for row in told} == found
    assert len(told) == len(found)
