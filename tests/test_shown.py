"""What the requests of a leadership that no line tells say of the LEO that it had at the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from replay.events.shown import with_shown_leaderships
from schemas import tables as T
from tests.checked_rows import HERE, at
from tests.frames import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LED = {**HERE, "leader_epoch": 3, "broker_id": 1, "source_file": "broker-1/kafka-request.log"}
Given = dict[str, Any]


def append(second: float, base: int, last: int) -> Given:
    """An append at the leader of whose begin no line tells."""
    return {
        **LED,
        "event_time": at(second),
        "source_line": int(1000 * second),
        "base_offset": base,
        "last_offset": last,
    }


def fetch(second: float, offset: int, hw: int, size: int = 0) -> Given:
    """A follower's fetch, answered at once; without records it was at the leader's LEO."""
    return {
        **LED, "event_time": at(second), "source_line": int(1000 * second), "replica_id": 2, "fetch_offset": offset,
        "response_high_watermark": hw, "records_size": size, "diverging_epoch": -1, "error_code": 0, "is_parked": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("appended", "fetched", "leo"),
    [
        pytest.param([append(10, 113, 113)], [fetch(10.01, 114, 114, 9), fetch(25, 527, 527)], 113, id="brought"),
        pytest.param([append(10, 0, 0)], [fetch(29, 557, 556, 9), fetch(60, 1304, 1304)], 0, id="long_before"),
        pytest.param([append(10, 50, 50)], [fetch(10.01, 557, 557, 9), fetch(10.5, 560, 560)], 560, id="a_retry"),
        pytest.param([append(10, 50, 50)], [fetch(10.01, 557, 557, 9), fetch(30, 999, 999)], None, id="nobody_tells"),
        pytest.param([append(10.2, 7, 9)], [fetch(10, 7, 7), fetch(10.3, 10, 7)], 7, id="a_fetch_first"),
    ],
)  # fmt: skip
def test_the_leo_at_the_first_request(
    spark: SparkSession, appended: list[Given], fetched: list[Given], leo: int | None
) -> None:
    """That of the first append, unless it repeats an old one; else where a fetch found nothing soon."""
    landed = {table.name: rows(spark, table) for table in (T.LEADER_CHANGES, T.BROKER_STATEMENTS)} | {
        T.PRODUCE_EVENTS.name: rows(spark, T.PRODUCE_EVENTS, *appended),
        T.FETCH_EVENTS.name: rows(spark, T.FETCH_EVENTS, *fetched),
    }
    shown = with_shown_leaderships(landed)

    (begin,) = shown[T.LEADER_CHANGES.name].collect()
    assert (begin["leader_id"], begin["change_kind"]) == (1, "become_leader")
    told = shown[T.BROKER_STATEMENTS.name].where("kind = 'became_leader_log_end_offset'").collect()
    assert [row["offset"] for row in told] == ([] if leo is None else [leo])
