"""A consumer that was given records at the HW its response tells: the HW may have risen while the leader read."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from expectations.reads import IS_BELOW_BY_THEN, overtaken_fetches
from schemas import tables as T
from tests.checked_rows import at, event, fetched
from tests.frames import rows

pytestmark = pytest.mark.spark

STATES = [
    event(0, 1, 9, 5),
    event(0, 2, 9, 9, last_stable_offset=7),
    event(0, 3, 12, 9, last_stable_offset=7),
    event(0, 4, 12, 12),
]
"""The HW is 9 and the LSO 7 from second 2 on, and both are 12 from second 4 on."""


@pytest.mark.parametrize(
    ("asked", "answered", "reader", "is_so"),
    [
        (4.0, 4.01, {"fetch_offset": 9}, True),
        (4.004, 4.01, {"fetch_offset": 9}, True),
        (3.99, 3.996, {"fetch_offset": 9}, True),
        (3.5, 3.6, {"fetch_offset": 9}, False),
        (4.5, 4.6, {"fetch_offset": 9}, True),
        (4.0, 4.01, {"fetch_offset": 12}, False),
        (4.0, 4.01, {"fetch_offset": 9, "isolation_level": 1}, True),
        (3.5, 3.6, {"fetch_offset": 9, "isolation_level": 1}, False),
        (4.0, 4.01, {"fetch_offset": 8}, None),
        (4.0, 4.01, {"fetch_offset": 9, "records_size": 0}, None),
        (4.0, 4.01, {"fetch_offset": 9, "replica_id": 2}, None),
    ],
    ids=[
        "as the HW rises", "it rose by another clock", "it will", "it has not risen yet", "it had risen",
        "past the new HW, too", "the LSO rises", "the LSO has not risen yet", "below", "nothing", "a follower",
    ],
)  # fmt: skip
def test_the_hw_rises_past_what_is_read(
    spark: SparkSession, asked: float, answered: float, reader: dict[str, Any], is_so: bool | None
) -> None:
    """What is read lies below what the leader had by the time it answered, whatever it told."""
    fetch = fetched(
        1,
        **{
            "replica_id": -1,
            "records_size": 90,
            "response_high_watermark": 9,
            "event_time": at(asked),
            "response_time": at(answered),
        }
        | reader,
    )
    tables = {
        T.FETCH_EVENTS.name: rows(spark, T.FETCH_EVENTS, fetch),
        T.LEADER_TIMELINE.name: rows(spark, T.LEADER_TIMELINE, *STATES),
    }

    found = [row[IS_BELOW_BY_THEN] for row in overtaken_fetches(tables).collect()]

    assert found == ([] if is_so is None else [is_so])
