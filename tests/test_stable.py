"""The last stable offset where no dump tells whose transactions are in the log."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from replay.profile import profile_for
from tests.engine import by_topic, replayed
from tests.story import SCENARIOS, load
from tests.twin.histories import combined

pytestmark = pytest.mark.spark


def test_without_a_dump_it_is_unknown_past_the_first_transaction(spark: SparkSession) -> None:
    """A request names no producer, and markers come without one: at HW 5 nobody knows whether a transaction is open."""
    landing = combined([load(SCENARIOS / "an_open_transaction_holds_the_lso.txt")])
    requests = [{**row, "producer_id": -1} for row in landing["produce_events"] if not row["is_control"]]
    with replayed(spark, {**landing, "produce_events": requests}, 2, profile_for("4.1.0")) as timelines:
        (rows,) = by_topic(timelines.leader_timeline).values()
    found = {(row["high_watermark"], row["last_stable_offset"]) for row in rows}

    assert found == {(0, 0), (5, -1), (6, -1)}
