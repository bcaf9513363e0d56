"""`reconstruct` goes on from the last replay where producers write transactions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from jobs.commits import Transaction
from jobs.deliveries import EVENT_TABLES, landed_events, name_of_ingest
from jobs.reconstruct_timelines import write_timelines
from jobs.replay_marks import landed_until, last_mark
from jobs.warehouse import Warehouse
from schemas.tables import LEADER_TIMELINE, SOURCE_FILES
from tests.engine import Row
from tests.frames import rows
from tests.pieces import cut_in_two
from tests.two_deliveries import DELIVERIES, load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STORY = "a_transaction_has_two_leaders"


def land(warehouse: Warehouse, landing: Mapping[str, Sequence[Row]], capture_id: str) -> None:
    """Land rows as a delivery."""
    transaction = Transaction(f"{name_of_ingest(STORY)}{capture_id}", 1)
    file = {"cluster_id": STORY, "digest": capture_id, "kind": "scenario", "broker_id": -1, "source_file": capture_id}
    counts = dict.fromkeys(("lines_read", "lines_landed", "lines_rejected", "lines_ignored"), 0)
    for table, given in [*((t, landing.get(t.name, ())) for t in EVENT_TABLES), (SOURCE_FILES, [file | counts])]:
        warehouse.create(table)
        if given:
            frame = rows(warehouse.spark, table, *given).withColumn("capture_id", F.lit(capture_id))
            warehouse.append(table, frame, transaction)


@pytest.mark.long
def test_a_transaction_is_gone_on_with(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The LSO stands where it is written; what the next replay needs to know of transactions is in the mark."""
    told = load(DELIVERIES / f"{STORY}.txt")
    warehouse = Warehouse(spark, str(tmp_path / "lake"))
    for capture_id, part in zip(("first", "second"), cut_in_two(told.story.landing, {STORY: told.until}), strict=True):
        land(warehouse, part, capture_id)
        write_timelines(warehouse, STORY, landed_events(warehouse, STORY), landed_until(warehouse))

    assert "goes on from" in capsys.readouterr().err
    later = warehouse.read(LEADER_TIMELINE).where(F.col("event_time") > F.lit(told.until)).orderBy("event_seq")
    found = [(row["high_watermark"], row["last_stable_offset"]) for row in later.collect()]
    wanted = [e.known for e in told.story.expected if e.event_time > told.until and e.known.high_watermark is not None]
    assert found == [(known.high_watermark, known.last_stable_offset) for known in wanted]
    mark = last_mark(warehouse, STORY)
    assert mark is not None
    assert (mark.is_plain, mark.has_transactions) == (True, True)
