"""The same events under another rule of truncation: stories of which both outcomes are known."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from jobs.keeping import keeping
from replay.assignment import assignments
from replay.profile import Truncation
from replay.what_if.outcomes import what_if
from replay.what_if.steps import steps
from tests.engine import landed_from
from tests.looked_through import stories_of
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import SCENARIOS, load

pytestmark = pytest.mark.spark

LOSES, KEEPS = "h_truncation_to_the_hw_loses_a_committed_record", "h_truncation_by_epoch_keeps_it"
DIVERGES, HEALS = "i_truncation_to_the_hw_diverges", "i_truncation_by_epoch_heals"
Ranges = set[tuple[str, int, int, int]]
"""Outcome, replica, range."""


DRAWN = (LOSES, KEEPS, DIVERGES, HEALS)
NOBODY = """
1 leads epoch 0, replicas 1 2, isr 1 2
append 5
2 fetches at 0
2 fetches at 5, at once
kill 1
no leader epoch 1
2 is elected epoch 2
append 1
"""
"""2 follows nobody for a while, whom it can ask nothing and for whom it cuts nothing."""
TOLD = {
    "nobody_to_follow": NOBODY,
    "nobody_to_follow_by_the_hw": f"kafka 2.8.2, protocol 0.10.2\n{NOBODY}",
    "cut_and_elected": """
        1 leads epoch 0, replicas 1 2 3, isr 1 2 3
        append 6
        2 fetches at 0, gets 6
        2 fetches at 6, at once
        kill 1
        3 is elected epoch 1
        2 fetches at 6, at once
        kill 3
        2 is elected epoch 2
        append 4
    """,
    "apart_once": """
        kafka 2.8.2, protocol 0.10.2
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 2
        2 fetches at 0
        2 fetches at 2, at once
        kill 2
        kill 1
        restart 2 hw 1 leo 1
        2 is elected epoch 1
        append 1
        restart 1 hw 2
        1 fetches at 2, at once
        append 1
        1 fetches at 2
        1 fetches at 3, at once
        1 fetches at 3, at once
        2 is elected epoch 2
        append 2
        1 fetches at 3
        1 fetches at 5, at once
    """,
    "without_its_tail": """
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 5, acks 0
        kill 1
        restart 1 hw 0 leo 0
        2 fetches at 0
        append 1
        2 fetches at 1, at once
        2 fetches at 1, at once
        2 is elected epoch 1
        append 2
        1 fetches at 1, at once
        1 fetches at 3, at once
    """,
    "deleted": """
        1 leads epoch 0, replicas 1 2, isr 1
        append 10
        2 fetches at 0, gets 3
        2 fetches at 3, dropped
        log start 5
        kill 1
        2 is elected epoch 1, unclean
        append 4
    """,
}


@asked
def happened() -> Logs:
    """The logs of all."""
    return logs_of([*(load(SCENARIOS / f"{name}.txt") for name in DRAWN), *stories_of(TOLD)], 3)


@pytest.fixture(scope="module")
def outcomes(spark: SparkSession, rebuilt: Answers) -> dict[tuple[str, str], Ranges]:
    """Of each story and rule, every range but those that are kept."""
    landed, timelines = landed_from(spark, happened().landing), rebuilt.frames(happened)
    found: dict[tuple[str, str], Ranges] = {
        (story, rule): set() for story in (*DRAWN, *TOLD) for rule in ("high_watermark", "leader_epoch")
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


def test_where_a_log_parted_is_told_once(outcomes: dict[tuple[str, str], Ranges]) -> None:
    """What replica 1 fetches after its own record is its leader's, in this leadership and the next one."""
    assert outcomes["apart_once", "high_watermark"] == {("COMMITTED_LOST", 2, 1, 2), ("DIVERGED", 1, 1, 2)}


EVERY_RULE = ("high_watermark", "leader_epoch")


@pytest.mark.parametrize("rule", EVERY_RULE)
@pytest.mark.parametrize("story", ["nobody_to_follow", "nobody_to_follow_by_the_hw"])
def test_nothing_is_cut_for_nobody(story: str, rule: str, outcomes: dict[tuple[str, str], Ranges]) -> None:
    """A follower that is told of no leader keeps its log (makeFollowers takes those whose leader is alive)."""
    assert outcomes[story, rule] == set()


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_a_cut_counts_without_a_fetch_after_it(rule: str, outcomes: dict[tuple[str, str], Ranges]) -> None:
    """2 cuts, by its own HW or as its new leader has nothing, and is elected before it fetches again."""
    assert outcomes["cut_and_elected", rule] == {("UNCOMMITTED_LOST", 3, 0, 6), ("CUT", 2, 0, 6)}


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_a_follower_is_behind_the_process_that_it_fetched_from(
    rule: str, outcomes: dict[tuple[str, str], Ranges]
) -> None:
    """Not behind the one before, of the same epoch, whose tail was lost as it was killed."""
    assert outcomes["without_its_tail", rule] == {("UNCOMMITTED_LOST", 1, 0, 5)}


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_what_was_deleted_cannot_be_lost(rule: str, outcomes: dict[tuple[str, str], Ranges]) -> None:
    """The leader before had deleted what is below its log start."""
    assert outcomes["deleted", rule] == {("COMMITTED_LOST", 2, 5, 10)}
