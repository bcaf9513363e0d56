"""Mutants of the engine's protocol: each must be told from the right one by some story.

A rule whose loss no story notices is a rule nothing tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from replay import high_watermark, in_sync, rules
from replay import names as N
from replay.releases import profile_for
from replay.windows import FIRST, NOW, history
from schemas import columns as C
from tests.engine import disagreement, profile
from tests.story import SCENARIOS, Story, load
from tests.told import Told, disputes, retold
from tests.twin.histories import combined

pytestmark = [pytest.mark.spark, pytest.mark.long]

NEWEST = profile_for("4.1.0", "4.1", 30_000)
OF_LEADERS = (
    "log_end_offset", "high_watermark", "isr", "maximal_isr", "log_start_offset", "last_stable_offset",
    "is_under_min_isr",
)  # fmt: skip
Mutation = Callable[[pytest.MonkeyPatch], object]


def without_rule(number: int) -> Mutation:
    """The rules table less one row."""
    return lambda patch: patch.setattr(rules, "RULES", rules.RULES[:number] + rules.RULES[number + 1 :])


def without_occasion(number: int) -> Mutation:
    """One occasion less on which the HW is evaluated."""
    occasions = rules.EVALUATES_HIGH_WATERMARK
    return lambda patch: patch.setattr(rules, "EVALUATES_HIGH_WATERMARK", occasions[:number] + occasions[number + 1 :])


def forgotten_with_the_epoch(patch: pytest.MonkeyPatch) -> object:
    """A leader that is re-elected while it leads forgets its followers' LEOs."""
    return patch.setitem(rules.CARRIED, C.REMOTE_LEO, rules.Carry.LAST)


def kept_by_the_next_leader(patch: pytest.MonkeyPatch) -> object:
    """A new leader knows what its predecessor knew."""
    return patch.setattr(rules, "tenure_so_far", lambda **_: history(has_returns=False).rowsBetween(FIRST, NOW))


def lowered_by_a_bound(patch: pytest.MonkeyPatch) -> object:
    """What a witness proves of a replica is taken for what it has."""
    every = tuple(replace(rule, at_least=False) for rule in rules.RULES)
    return patch.setattr(rules, "RULES", every)


def without_gate(patch: pytest.MonkeyPatch) -> object:
    """The HW moves under min ISR."""
    return patch.setattr(high_watermark, "allows", lambda _: F.lit(True))


def nobody_waits(patch: pytest.MonkeyPatch) -> object:
    """A caught-up replica outside the ISR does not hold the HW."""
    return patch.setattr(high_watermark, "is_caught_up", lambda *_: F.lit(False))


def everybody_waits(patch: pytest.MonkeyPatch) -> object:
    """A replica outside the ISR holds it however long ago it was caught up."""
    return patch.setattr(high_watermark, "is_caught_up", lambda *_: F.lit(True))


def nobody_joins(patch: pytest.MonkeyPatch) -> object:
    """A joining replica does not hold the HW before it is committed."""
    return patch.setattr(in_sync, "may_join", lambda *_: F.lit(False))


TOLD_BY_A_RESPONSE = (N.RESPONSE, C.LOG_START_OFFSET)
"""The rule that `test_log_start_untold` is about: in a story whose lines are all there another one tells of it."""
MUTANTS: dict[str, Mutation] = {
    **{
        f"rule {n}: {rule.because}": without_rule(n)
        for n, rule in enumerate(rules.RULES)
        if (rule.event, rule.variable) != TOLD_BY_A_RESPONSE
    },
    **{f"occasion {n}: {event}": without_occasion(n) for n, (event, *_) in enumerate(rules.EVALUATES_HIGH_WATERMARK)},
    "forgotten with the epoch": forgotten_with_the_epoch,
    "kept by the next leader": kept_by_the_next_leader,
    "lowered by a bound": lowered_by_a_bound,
    "no gate": without_gate,
    "nobody waits": nobody_waits,
    "everybody waits": everybody_waits,
    "nobody joins": nobody_joins,
}


@pytest.fixture(scope="module")
def stories() -> list[Story]:
    """All of them."""
    return [load(path) for path in sorted(SCENARIOS.glob("*.txt"))]


def differing(spark: SparkSession, stories: list[Story]) -> list[str]:
    """The stories of which the engine's leader timeline says something else than their lines, or than the twin."""
    told = retold(spark, stories, combined(stories), of=("leader",))
    return [
        story.name
        for story in stories
        if any(disputes(story, told[story.name], OF_LEADERS)) or _differs_from_twin(story, told[story.name])
    ]


def _differs_from_twin(story: Story, rebuilt: Told) -> bool:
    """Whether a row of a leader differs; a witness of what is in no log (old protocols) is no row of the twin."""
    if profile(story) != NEWEST:
        return False
    return any(
        disagreement(story.name, cluster.rows.leader, [row for row in rebuilt.leader if row["partition"] == number])
        for number, cluster in story.clusters.items()
    )


def test_the_right_one_differs_nowhere(spark: SparkSession, stories: list[Story]) -> None:
    """Else a mutant would die of something else."""
    assert differing(spark, stories) == []


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_dies(name: str, spark: SparkSession, stories: list[Story], monkeypatch: pytest.MonkeyPatch) -> None:
    """Some story is rebuilt wrongly without it."""
    MUTANTS[name](monkeypatch)

    assert differing(spark, stories) != []
