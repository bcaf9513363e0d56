"""A partition's events, one a line, as `show` and `agree` print them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from jobs.step_table import lines_of, step_rows
from schemas import tables as T
from tests.checked_rows import at, event
from tests.frames import rows

pytestmark = pytest.mark.spark


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose zone is not UTC."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
def test_a_step_is_a_line_of_a_worked_example(spark: SparkSession) -> None:
    """What is unknown is a question mark, a replica that is joining has a plus, times are UTC wherever it runs."""
    one = event(0, 2, 4, -1, replica_id=2, remote_log_end_offset={3: -1, 2: 4}, isr=[1], maximal_isr=[1, 2])
    shown, is_cut = step_rows(rows(spark, T.LEADER_TIMELINE, one), most=1)

    assert not is_cut
    assert lines_of(shown) == [
        ("0/2", "10:49:24.000", "FETCH", "2", "1:4", "2:4 3:?", "1 +2", "?", "exact", "broker-1/state-change.log:2")
    ]


def test_events_of_several_days_have_their_dates(spark: SparkSession) -> None:
    """Else nobody could tell what to ask `--from` for."""
    two = [event(0, 1, 4, 4), event(0, 2, 5, 5, event_time=at(86_400))]
    shown, _ = step_rows(rows(spark, T.LEADER_TIMELINE, *two), most=2)

    assert [line[1] for line in lines_of(shown)] == ["2026-11-21 10:49:23.000", "2026-11-22 10:49:22.000"]
