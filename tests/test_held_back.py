"""How long the HW was held back, on literal rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.findings.held_back import held_back
from schemas.tables import LEADER_TIMELINE
from tests.checked_rows import event
from tests.frames import rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_a_leader_that_was_killed_holds_nothing_after_the_next_one_begins(spark: SparkSession) -> None:
    """That it ended is known when it is started again, long after the next leader began."""
    killed = event(0, 30, 5, 0, event_type="RESTART", replica_id=1)
    timeline = rows(
        spark, LEADER_TIMELINE, event(0, 1, 0, 0), event(0, 2, 5, 0, event_type="APPEND"), killed, event(1, 1, 5, 5)
    )

    (stretch,) = held_back(timeline).collect()
    assert (stretch["high_watermark"], stretch["log_end_offset"], stretch["lasted_ms"]) == (0, 5, 9_000)
