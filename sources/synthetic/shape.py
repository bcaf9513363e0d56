"""The shape of a partition's life: how many rounds an epoch has, how long one takes, when whom nobody hears of.

Plain numbers, made once on the driver: of the hot partition and of all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from sources.synthetic.scenario import Epoch, Scenario, ScenarioError

MOST_ROUNDS = 1 << 31


@dataclass(frozen=True)
class Absence:
    """A follower that does not fetch in the rounds [gone, back) of an epoch, and is out of the ISR from `out` on.

    One that is gone from the beginning led before and lost its tail; it was not elected into the ISR.
    """

    follower: int = 0
    gone: int = -1
    out: int = -1
    back: int = -1


@dataclass(frozen=True)
class Shape:
    """A partition's epochs: `rounds` each, the last `quiet` of them without an append, a round `round_us` long."""

    rounds: int
    quiet: int
    round_us: int
    step_us: int
    """Between two events of a round."""
    absences: tuple[Absence, ...]


def quiet_rounds(scenario: Scenario) -> int:
    """Return how many rounds it takes until every follower has all records and knows that they are committed."""
    return max(scenario.lags) + 3


def shape_of(scenario: Scenario, events: float) -> Shape:
    """Return the shape of a partition with `events` events."""
    quiet = quiet_rounds(scenario)
    rounds = max(round((events / len(scenario.epochs) + quiet) / scenario.replicas), quiet + 1)
    round_us = int(scenario.duration_seconds * 1_000_000 / (rounds * len(scenario.epochs)))
    step_us = round_us // (scenario.replicas + 2)
    if step_us < 4:
        raise ScenarioError(f"duration_seconds: too short for {events:,.0f} events of one partition")
    if rounds >= MOST_ROUNDS:
        raise ScenarioError("events: too many for one partition")
    lasting = Shape(rounds, quiet, round_us, step_us, ())
    before = (Epoch(), *scenario.epochs)
    absences = tuple(_absence(scenario, lasting, number, before[number]) for number in range(len(scenario.epochs)))
    return Shape(rounds, quiet, round_us, step_us, absences)


def _absence(scenario: Scenario, shape: Shape, number: int, before: Epoch) -> Absence:
    """Return who is away in an epoch; it must last long enough for what is to be seen of it."""
    active = shape.rounds - shape.quiet
    freeze = scenario.epochs[number].freeze
    if before.loses:
        back = max(int(before.returns * active), shape.quiet + 1)
        _fits(back + 3 <= active, f"epochs.{number - 1}.returns", active)
        return Absence(scenario.replicas - 1, 0, 0, back)
    if freeze is None:
        return Absence()
    gone, back = max(int(freeze.begins * active), 2), int(freeze.ends * active)
    out = gone + max(ceil(1.5 * scenario.lag_time_ms * 1000 / shape.round_us) + 1, shape.quiet)
    if back < out + 2:
        lasts = (back - gone) * shape.round_us / 1_000_000
        raise ScenarioError(
            f"epochs.{number}.freeze: it lasts {lasts:.1f} s ({back - gone} rounds), too short for an ISR shrink "
            f"after 1.5 times lag_time_ms and at least {shape.quiet + 2} rounds"
        )
    _fits(back + 3 <= active, f"epochs.{number}.freeze", active)
    return Absence(freeze.follower, gone, out, back)


def _fits(is_so: bool, key: str, active: int) -> None:
    if not is_so:
        raise ScenarioError(f"{key}: no time to come back in an epoch of {active} rounds; more events, or sooner")
