"""Roles without lines: before 2.6 none tells that a broker follows, before 2.4.1 none with which HW it leads."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pyspark.sql import SparkSession

from replay.order import evidence, next_fetches
from replay.states import start_fold
from tests.mutants import Mutant
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import SCENARIOS, Story, load, tell
from tests.told import REBUILT, Told, disputes, retold
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

TOLD_THREE = """kafka 2.8.2, protocol 2.4
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 3                                   | 1:3  2:?  3:?  hw 0
2 fetches at 0                             | 1:3  2:0  3:?  hw 0
3 fetches at 0                             | 1:3  2:0  3:0  hw 0
2 fetches at 3, at once                    | 1:3  2:3  3:0  hw 0
3 fetches at 3, at once                    | 1:3  2:3  3:3  hw 3
append 2                                   | 1:5  2:3  3:3  hw 3
2 fetches at 3                             | 1:5  2:3  3:3  hw 3  replica 2: leo 5 hw 3
"""
STORY = f"""# Replica 2 has loaded its log, has followed and been told a HW, and leads; its process may end before that.
{TOLD_THREE}{{then}}
2 is elected epoch 1                       | 2:5  1:?  3:?
"""
RESTART = """kill 2                                     | 1:5  hw 3
restart 2 hw 0 leo 5                       | 1:5  hw 3  replica 2: leo 5 hw 0"""
SILENT = ("became_leader_high_watermark", "became_follower_high_watermark", "became_follower_log_end_offset")
BEGINS = {"lives": (3, "exact"), "restarts": (0, "stated")}


def living_and_restarted() -> list[Story]:
    """The process that followed leads, or one that was started in between."""
    return [tell("lives", STORY.format(then="time +10 ms | hw 3")), tell("restarts", STORY.format(then=RESTART))]


@asked
def followed() -> Logs:
    """No line tells that a broker follows, nor with which HW it leads."""
    landing = dict(combined(living_and_restarted()))
    landing["leader_changes"] = [row for row in landing["leader_changes"] if row["change_kind"] != "become_follower"]
    landing["broker_statements"] = [row for row in landing["broker_statements"] if row["kind"] not in SILENT]
    return logs_of(living_and_restarted(), 3, landing)


def test_a_leader_begins_with_what_it_was_told_since_it_loaded_its_log(rebuilt: Answers) -> None:
    """And with what it loaded where that came later."""
    assert [story.disputes for story in living_and_restarted()] == [[], []]
    stated = [row for row in followed().landing["broker_statements"] if row["kind"] == "loaded_high_watermark"]
    assert [(row["cluster_id"], row["broker_id"]) for row in stated].count(("restarts", 2)) == 2
    begins = {
        name: next(row for row in told.leader if row["leader_epoch"] == 1) for name, told in rebuilt[followed].items()
    }

    assert {name: (row["high_watermark"], row["exactness"]) for name, row in begins.items()} == BEGINS


CUT = f"""# Replica 2 takes records and HW 3 from 1, which dies; told to follow 3, it cuts the records off again.
{TOLD_THREE}kill 1                                     | no leader
3 is elected epoch 1                       | 3:3  1:?  2:?  replica 2: leo 5 hw 3
2 truncates                                | replica 2: leo 3 hw 3
2 fetches at 3, at once                    | 3:3  2:3  replica 2: leo 3 hw 0
"""


@asked
def cut() -> Logs:
    """No line tells that replica 2 follows in epoch 1, nor with which HW: what it fetches there is all."""
    landing = dict(combined([tell("cut", CUT)]))
    landing["leader_changes"] = [row for row in landing["leader_changes"] if row["change_kind"] != "become_follower"]
    landing["broker_statements"] = [row for row in landing["broker_statements"] if row["kind"] not in SILENT]
    return logs_of([tell("cut", CUT)], 3, landing)


def test_whether_a_hw_was_taken_the_next_leaders_first_fetch_does_not_tell(rebuilt: Answers) -> None:
    """It tells the LEO, 3, which replica 2 has cut its log to or had all along; its HW is 3, or still 0."""
    assert tell("cut", CUT).disputes == []
    asked_again = next(
        row for row in rebuilt[cut]["cut"].replica
        if (row["replica_id"], row["leader_epoch"], row["remote_log_end_offset"]) == (2, 1, 3)
    )  # fmt: skip

    assert (asked_again["log_end_offset"], asked_again["exactness"]) == (3, "bounded")
    assert (asked_again["high_watermark_low"], asked_again["high_watermark_high"]) == (0, 3)


MUTANTS = (
    Mutant(start_fold.start_of, "F.coalesce(stated, rebuilt, ", "F.coalesce(stated, ",
           "no role carries its HW into the next"),
    Mutant(evidence._is_known_hw, "(_stated_start() >= 0) | ", "F.lit(True) | ", "what nobody states is a HW of -1"),
    Mutant(next_fetches._has_not_grown, "(goes_on | leads) & came", "F.lit(False)", "every response was taken"),
)  # fmt: skip


NOTHING_ELSE_TELLS = "an_answer_that_was_dropped_moves_no_log_start"
"""Of a log start that a follower was told, and did not take, only the HW speaks with which it then leads."""


def stories() -> list[Story]:
    """All that are drawn but for that."""
    return [load(path) for path in sorted(SCENARIOS.glob("*.txt")) if path.stem != NOTHING_ELSE_TELLS]


@asked
def silent() -> Logs:
    """What is left of their logs without the HW of roles."""
    landing = dict(combined(stories()))
    landing["broker_statements"] = [row for row in landing["broker_statements"] if row["kind"] not in SILENT]
    return logs_of(stories(), 5, landing)


def not_rebuilt(told: Mapping[str, Told]) -> list[str]:
    """Where a story is not rebuilt from that."""
    words = [word for word in REBUILT if word != "replicas"]
    return [dispute for story in stories() for dispute in disputes(story, told[story.name], words)]


def test_the_hw_of_a_role_is_carried_into_the_next(rebuilt: Answers) -> None:
    """Every story without a line that states it: a leader begins with what it was told, and took, as a follower."""
    assert not_rebuilt(rebuilt[silent]) == []


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_dies(mutant: Mutant, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some story is told otherwise."""
    mutant.live(monkeypatch)

    assert not_rebuilt(retold(spark, stories(), silent().landing, of=("leader",))) != []
