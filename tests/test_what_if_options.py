"""What `what-if` takes to be otherwise, for real: on a story that was landed and rebuilt, and where little is told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jobs.cli import main
from jobs.deliveries import landed_events
from jobs.reconstruct_timelines import write_timelines
from jobs.replay_marks import landed_until
from jobs.warehouse import Warehouse
from replay.profile import Truncation
from replay.what_if.outcomes import what_if
from replay.what_if.steps import FOLLOWS, LEADS, LOADED, REACHED, STEP
from schemas import tables as T
from tests.checked_rows import HERE
from tests.checked_warehouse import land
from tests.story import SCENARIOS, load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STORY = "under_min_isr_the_hw_stands"


@pytest.mark.long
@pytest.mark.delta
def test_the_options_are_taken(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While the ISR is too small the HW goes on: by a lower min ISR, without the gate; one rule of truncation alone."""
    warehouse = Warehouse(spark, str(tmp_path / "lake"))
    land(warehouse, STORY, load(SCENARIOS / f"{STORY}.txt").landing, "first")
    write_timelines(warehouse, STORY, landed_events(warehouse, STORY), landed_until(warehouse))
    options = ["--min-isr", "1", "--no-min-isr-gate", "--truncation", "leader_epoch"]

    assert main(["what-if", "--warehouse", warehouse.path, *options]) == 0
    said = "min_isr=1 min_isr_gate=False"
    assert said in capsys.readouterr().out
    timeline = warehouse.read(T.WHAT_IF_TIMELINE).orderBy("event_seq").collect()
    assert [(row["what_if"], row["high_watermark"], row["what_if_high_watermark"]) for row in timeline] == [
        (said, 4, 7), (said, 4, 7)
    ]  # fmt: skip
    outcomes = warehouse.read(T.WHAT_IF_OUTCOMES).collect()
    assert {(row["method"], row["outcome"], row["replica_id"], row["to_offset"]) for row in outcomes} == {
        ("leader_epoch", "KEPT", 1, 7), ("leader_epoch", "KEPT", 2, 4), ("leader_epoch", "KEPT", 3, 7),
    }  # fmt: skip


Step = tuple[int | None, ...]
"""Of `STEP`, without the times; the place in the list is one."""


def outcomes(spark: SparkSession, rule: Truncation, *happened: Step) -> set[tuple[str, int, int, int, int]]:
    """What would have become of the logs of replicas 1 and 2, in slots 0 and 1: outcome, replica, second, range."""
    steps = [(epoch, at * 1_000_000, *rest) for at, (epoch, *rest) in enumerate(happened)]
    here = tuple(HERE[name] for name in ("cluster_id", "topic", "topic_id", "partition"))
    schema = f"cluster_id string, topic string, topic_id string, partition int, slots array<int>, steps array<{STEP}>"
    found = what_if(spark.createDataFrame([(*here, [1, 2], steps)], schema), rule).collect()
    return {
        (row["outcome"], row["replica_id"], row["event_time"].second, row["from_offset"], row["to_offset"])
        for row in found
        if row["outcome"] != "KEPT"
    }


def test_a_follower_of_an_unknown_leader_hides_nothing(spark: SparkSession) -> None:
    """It fetched before the first leadership whose begin a line tells: what it has to cut later is cut all the same."""
    found = outcomes(
        spark, Truncation.LEADER_EPOCH,
        (0, REACHED, 0, None, 5, 5, 0, 0, None), (1, LEADS, 0, 5, 8, 8, None, None, 0),
        (2, LEADS, 1, 6, 9, 9, None, None, 0), (2, REACHED, 0, None, 9, 9, 0, 3_000_000, None),
    )  # fmt: skip

    assert found == {("COMMITTED_LOST", 2, 2, 6, 8), ("CUT", 1, 3, 6, 8)}


def test_a_leader_that_steps_down_cuts_to_the_hw_it_led_with(spark: SparkSession) -> None:
    """Before KIP-101, to its own: what it had known of its leader as a follower, 3, is an old one. Nothing is lost."""
    led = ((0, LEADS, 1, 0, 6, 3, None, None, 0), (0, REACHED, 0, None, 6, 3, 0, 1_000_000, None))
    leads = (1, LEADS, 0, 6, 20, 18, None, None, 0)
    follows = ((2, LEADS, 1, 18, 25, 18, None, None, 0), (2, FOLLOWS, 0, None, None, None, None, None, None))
    fetched = (1, REACHED, 1, None, 18, 18, 2, 3_000_000, None)

    found = outcomes(spark, Truncation.HIGH_WATERMARK, *led, leads, fetched, *follows)

    assert found == {("UNCOMMITTED_LOST", 2, 4, 18, 20), ("CUT", 1, 5, 18, 20)}


def test_a_cut_is_when_the_log_was_cut(spark: SparkSession) -> None:
    """Which is before the first fetch, and fetches are folded as the last of them comes."""
    found = outcomes(
        spark, Truncation.LEADER_EPOCH,
        (0, LEADS, 0, 0, 9, 5, None, None, 0), (0, REACHED, 1, None, 7, 5, 2, 1_000_000, None),
        (1, LEADS, 1, 7, 20, 20, None, None, 0), (1, FOLLOWS, 0, None, None, None, None, None, None),
        (1, LOADED, 1, None, 20, 20, None, None, None), (1, REACHED, 0, None, 20, 20, 0, 3_500_000, None),
    )  # fmt: skip

    assert found == {("UNCOMMITTED_LOST", 2, 2, 7, 9), ("CUT", 1, 3, 7, 9)}
