"""`reconstruct` goes on from the last replay where producers write transactions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from jobs.deliveries import landed_events
from jobs.reconstruct_timelines import write_timelines
from jobs.replay_marks import landed_until, last_mark
from jobs.warehouse import Warehouse
from schemas.tables import LEADER_TIMELINE
from tests.checked_warehouse import land
from tests.pieces import cut_in_two
from tests.two_deliveries import DELIVERIES, load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STORY = "a_transaction_has_two_leaders"


@pytest.mark.long
def test_a_transaction_is_gone_on_with(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The LSO stands where it is written; what the next replay needs to know of transactions is in the mark."""
    told = load(DELIVERIES / f"{STORY}.txt")
    warehouse = Warehouse(spark, str(tmp_path / "lake"))
    for capture_id, part in zip(("first", "second"), cut_in_two(told.story.landing, {STORY: told.until}), strict=True):
        land(warehouse, STORY, part, capture_id)
        write_timelines(warehouse, STORY, landed_events(warehouse, STORY), landed_until(warehouse))

    assert "goes on from" in capsys.readouterr().err
    later = warehouse.read(LEADER_TIMELINE).where(F.col("event_time") > F.lit(told.until)).orderBy("event_seq")
    found = [(row["high_watermark"], row["last_stable_offset"]) for row in later.collect()]
    wanted = [e.known for e in told.story.expected if e.event_time > told.until and e.known.high_watermark is not None]
    assert found == [(known.high_watermark, known.last_stable_offset) for known in wanted]
    mark = last_mark(warehouse, STORY)
    assert mark is not None
    assert (mark.is_plain, mark.has_transactions) == (True, True)
