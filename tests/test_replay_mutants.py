"""Mutants of the engine's protocol: each must be told from the right one by some story.

A rule whose loss no story notices is a rule nothing tests. Each mutant replays every story in clusters of its own, all
in one job: to plan a replay costs more than to replay thousands of histories. What a mutant does otherwise is a
condition on the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from replay import high_watermark, in_sync, rules
from replay import names as N
from replay.releases import profile_for
from replay.states import variables
from replay.windows import FIRST, NOW, history, so_far
from schemas import columns as C
from tests.engine import disagreement, each_by_its_own, in_order, profile, replayed
from tests.story import SCENARIOS, Story, load
from tests.told import Told, disputes
from tests.twin.histories import combined

pytestmark = [pytest.mark.spark, pytest.mark.long]

NEWEST = profile_for("4.1.0", "4.1", 30_000)
OF_LEADERS = (
    "log_end_offset", "high_watermark", "isr", "maximal_isr", "log_start_offset", "last_stable_offset",
    "is_under_min_isr",
)  # fmt: skip
TOLD_BY_A_RESPONSE = (N.RESPONSE, C.LOG_START_OFFSET)
"""The rule that `test_log_start_untold` is about: in a story whose lines are all there another one tells of it."""
RIGHT = "the right one"
RULES = {
    f"rule {n}: {rule.because}": n
    for n, rule in enumerate(rules.RULES)
    if (rule.event, rule.variable) != TOLD_BY_A_RESPONSE
}
"""Each without one row of the table."""
OCCASIONS = {f"occasion {n}: {event}": n for n, (event, *_) in enumerate(rules.EVALUATES_HIGH_WATERMARK)}
"""Each with one occasion less on which the HW is evaluated."""
FORGOTTEN = "a leader that is re-elected while it leads forgets its followers' LEOs"
KEPT = "a new leader knows what its predecessor knew"
LOWERED = "what a witness proves of a replica is taken for what it has"
NO_GATE = "the HW moves under min ISR"
NOBODY_WAITS = "a caught-up replica outside the ISR does not hold the HW"
EVERYBODY_WAITS = "a replica outside the ISR holds it however long ago it was caught up"
NOBODY_JOINS = "a joining replica does not hold the HW before it is committed"
MUTANTS = (*RULES, *OCCASIONS, FORGOTTEN, KEPT, LOWERED, NO_GATE, NOBODY_WAITS, EVERYBODY_WAITS, NOBODY_JOINS)
CLUSTERS = (*MUTANTS, RIGHT)
"""Who replays all stories in clusters of its own, by the end of their names: its place here."""
_OF = "/"


def is_of(mutant: str) -> str:
    """SQL: whether the row is of one of its clusters."""
    return f"endswith({C.CLUSTER_ID}, '{_OF}{CLUSTERS.index(mutant)}')"


def mutated_rules() -> tuple[rules.Rule, ...]:
    """The rules table: of each mutant a row assigns nothing, and of one what is `at_least` so much is as much."""
    numbers = {n: name for name, n in RULES.items()}
    kept = [
        replace(rule, becomes=f"IF({is_of(numbers[n])}, NULL, {rule.becomes})") if n in numbers else rule
        for n, rule in enumerate(rules.RULES)
    ]
    bounds = [rule for rule in rules.RULES if rule.at_least]
    return *kept, *[replace(it, becomes=f"IF({is_of(LOWERED)}, {it.becomes}, NULL)", at_least=False) for it in bounds]


def mutated_occasions() -> tuple[tuple[str, str, str, str], ...]:
    """The occasions: one is none, in each mutant another."""
    return tuple(
        (event, by, f"NOT {is_of(name)} AND ({condition})", source)
        for name, (event, by, condition, source) in zip(OCCASIONS, rules.EVALUATES_HIGH_WATERMARK, strict=True)
    )


def unless(function: Callable[..., Column], otherwise: Mapping[str, bool]) -> Callable[..., Column]:
    """The function, in whose place some mutants have a constant."""

    def mutated(*given: Any) -> Column:
        value = function(*given)
        for mutant, constant in otherwise.items():
            value = F.when(F.expr(is_of(mutant)), F.lit(constant)).otherwise(value)
        return value

    return mutated


def carried_otherwise(function: Callable[..., Column]) -> Callable[..., Column]:
    """`rules.current` or `bound`: in two mutants remote LEOs live as long as a leadership, or for ever."""

    def mutated(variable: str, slot: int | None = None, **given: bool) -> Column:
        value = function(variable, slot, **given)
        if variable != C.REMOTE_LEO:
            return value
        for_ever = rules.within(history(has_returns=False).rowsBetween(FIRST, NOW), variable, slot)
        of_leadership = rules.within(so_far(), variable, slot)
        return F.when(F.expr(is_of(FORGOTTEN)), of_leadership).when(F.expr(is_of(KEPT)), for_ever).otherwise(value)

    return mutated


def mutate(patch: pytest.MonkeyPatch) -> None:
    """Let each cluster be replayed by its mutant."""
    patch.setattr(rules, "RULES", mutated_rules())
    patch.setattr(rules, "EVALUATES_HIGH_WATERMARK", mutated_occasions())
    for name in ("current", "bound"):
        patch.setattr(variables, name, carried_otherwise(getattr(rules, name)))
    patch.setattr(high_watermark, "allows", unless(high_watermark.allows, {NO_GATE: True}))
    waits = {NOBODY_WAITS: False, EVERYBODY_WAITS: True}
    patch.setattr(high_watermark, "is_caught_up", unless(in_sync.is_caught_up, waits))
    patch.setattr(in_sync, "may_join", unless(in_sync.may_join, {NOBODY_JOINS: False}))


Rebuilt = Mapping[str, Told]
"""By cluster."""


@pytest.fixture(scope="module")
def stories() -> list[Story]:
    """All of them."""
    return [load(path) for path in sorted(SCENARIOS.glob("*.txt"))]


@pytest.fixture(scope="module")
def rebuilt(spark: SparkSession, stories: list[Story]) -> Rebuilt:
    """Leaders' rows of every story, as each mutant rebuilds it."""
    told, spoken = combined(stories), {}
    landing: dict[str, list[dict[str, Any]]] = {table: [] for table in told}
    for number in range(len(CLUSTERS)):
        spoken |= {f"{story.name}{_OF}{number}": profile(story) for story in stories}
        for table, rows in told.items():
            landing[table] += [{**row, C.CLUSTER_ID: f"{row[C.CLUSTER_ID]}{_OF}{number}"} for row in rows]
    found: dict[str, Told] = {name: Told() for name in spoken}
    with pytest.MonkeyPatch.context() as patch:
        mutate(patch)
        with replayed(spark, landing, 5, each_by_its_own(spoken)) as timelines:
            for row in in_order(timelines.leader_timeline):
                found[row[C.CLUSTER_ID]].leader.append(row)
    return found


def differing(mutant: str, stories: list[Story], rebuilt: Rebuilt) -> list[str]:
    """The stories of which the mutant's leader timeline says something else than their lines, or than the twin."""
    its = {story.name: rebuilt[f"{story.name}{_OF}{CLUSTERS.index(mutant)}"] for story in stories}
    return [
        story.name
        for story in stories
        if any(disputes(story, its[story.name], OF_LEADERS)) or _differs_from_twin(story, its[story.name])
    ]


def _differs_from_twin(story: Story, rebuilt: Told) -> bool:
    """Whether a row of a leader differs; a witness of what is in no log (old protocols) is no row of the twin."""
    if profile(story) != NEWEST:
        return False
    return any(
        disagreement(story.name, cluster.rows.leader, [row for row in rebuilt.leader if row["partition"] == number])
        for number, cluster in story.clusters.items()
    )


def test_the_right_one_differs_nowhere(stories: list[Story], rebuilt: Rebuilt) -> None:
    """Else a mutant would die of something else."""
    assert differing(RIGHT, stories, rebuilt) == []


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_mutant_dies(mutant: str, stories: list[Story], rebuilt: Rebuilt) -> None:
    """Some story is rebuilt wrongly by it."""
    assert differing(mutant, stories, rebuilt) != []
