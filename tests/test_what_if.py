"""The same events under another rule of truncation: stories of which both outcomes are known."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from jobs.keeping import keeping
from replay.assignment import assignments
from replay.profile import Truncation
from replay.what_if.steps import steps
from replay.what_if.truncation import what_if
from tests.engine import landed_from
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import SCENARIOS, load

pytestmark = pytest.mark.spark

LOSES, KEEPS = "h_truncation_to_the_hw_loses_a_committed_record", "h_truncation_by_epoch_keeps_it"
DIVERGES, HEALS = "i_truncation_to_the_hw_diverges", "i_truncation_by_epoch_heals"
Ranges = set[tuple[str, int, int, int]]
"""Outcome, replica, range."""


STORIES = (LOSES, KEEPS, DIVERGES, HEALS)


@asked
def happened() -> Logs:
    """The logs of all four."""
    return logs_of([load(SCENARIOS / f"{name}.txt") for name in STORIES], 2)


@pytest.fixture(scope="module")
def outcomes(spark: SparkSession, rebuilt: Answers) -> dict[tuple[str, str], Ranges]:
    """Of each story and rule, every range but those that are kept."""
    landed, timelines = landed_from(spark, happened().landing), rebuilt.frames(happened)
    found: dict[tuple[str, str], Ranges] = {
        (story, rule): set() for story in STORIES for rule in ("high_watermark", "leader_epoch")
    }
    with keeping() as keep:
        leaders, replicas = keep(timelines.leader_timeline), keep(timelines.replica_timeline)
        taken = keep(steps(landed, leaders, replicas, keep(assignments(landed))))
        for rule in (Truncation.HIGH_WATERMARK, Truncation.LEADER_EPOCH):
            for row in what_if(taken, rule).where("outcome <> 'KEPT'").collect():
                gone = (row["outcome"], row["replica_id"], row["from_offset"], row["to_offset"])
                found[row["cluster_id"], row["method"]].add(gone)
    return found


@pytest.mark.parametrize("story", [LOSES, KEEPS])
def test_the_committed_record_is_lost_by_one_rule_and_kept_by_the_other(
    story: str, outcomes: dict[tuple[str, str], Ranges]
) -> None:
    """Whichever of them the cluster spoke: replica 2 cuts at its HW and is elected before it has fetched again."""
    assert ("COMMITTED_LOST", 2, 0, 1) in outcomes[story, "high_watermark"]
    assert ("CUT", 2, 0, 1) in outcomes[story, "high_watermark"]
    assert outcomes[story, "leader_epoch"] == set()


@pytest.mark.parametrize("story", [DIVERGES, HEALS])
def test_one_rule_diverges_where_the_other_cuts(story: str, outcomes: dict[tuple[str, str], Ranges]) -> None:
    """The tail that replica 2 had not flushed is lost by both; replica 1 keeps its own over it, or cuts."""
    lost = {("COMMITTED_LOST", 2, 1, 2)}

    assert outcomes[story, "leader_epoch"] == lost | {("CUT", 1, 1, 2)}
    assert outcomes[story, "high_watermark"] == lost | {("DIVERGED", 1, 1, 2)}
