"""Random histories: seeded, prefix-closed, with faults far more often than any cluster has them.

`history(7)` is always the same. `history(7).prefix(12)` is its first twelve steps, and `.text()` is what happened in
the notation of the stories, so that the shortest prefix that fails can be read, disputed and kept as a story.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any, Protocol

from tests.twin.commands import Command, Lead, NotNowError
from tests.twin.drawing import draw
from tests.twin.model import Cluster
from tests.twin.picking import Features, pick
from tests.twin.play import begin, finish, play
from tests.twin.profile import PROFILES, Profile
from tests.twin.rows import Row

LAG_MS = 10_000


class Landed(Protocol):
    """What has been played: a history, or a story."""

    @property
    def landing(self) -> dict[str, list[Row]]:
        """Its landing rows by table."""


@dataclass(frozen=True)
class History:
    """A partition's life: what happened, what the logs hold of it, what must be rebuilt from them."""

    name: str
    profile: Profile
    min_isr: int
    all_statements: bool
    commands: tuple[Command, ...]
    lag_ms: int = LAG_MS

    @cached_property
    def played(self) -> tuple[Cluster, list[str]]:
        """The cluster at the end, and each step as a line of a story."""
        cluster = begin(self.name, self.profile, self.lag_ms, self.min_isr, all_statements=self.all_statements)
        lines = []
        for command in self.commands:
            play(cluster, command)
            lines.append(f"{command!s:<58} | {draw(cluster)}")
        finish(cluster)
        return cluster, lines

    @property
    def landing(self) -> dict[str, list[Row]]:
        """The rows of each landing table."""
        return self.played[0].rows.landing

    @property
    def expected_leader(self) -> list[Row]:
        """What the leader knew after each of its events."""
        return self.played[0].rows.leader

    @property
    def expected_replica(self) -> list[Row]:
        """Each replica's state from each change of it on."""
        return self.played[0].rows.replica

    @property
    def expected_truncations(self) -> list[Row]:
        """Each cut that removed records."""
        return self.played[0].rows.truncations

    def prefix(self, steps: int) -> History:
        """The history up to a step."""
        return replace(self, commands=self.commands[:steps])

    def text(self) -> str:
        """The history as a story."""
        head = [
            f"kafka {self.profile.kafka_version}, protocol {self.profile.protocol_version}",
            f"lag {self.lag_ms // 1000} s",
            f"min isr {self.min_isr}",
        ]
        return "\n".join([f"# {self.name}", *head, *self.played[1]]) + "\n"


def history(
    seed: int,
    *,
    profile: Profile | None = None,
    replicas: int | None = None,
    length: int | None = None,
    all_statements: bool = True,
    features: Features | None = None,
) -> History:
    """The history of a seed; what is not asked for is drawn."""
    random = Random(seed)
    drawn = random.choice(PROFILES), random.choice((2, 3, 3, 3, 4, 5)), random.randint(40, 200)
    return drawn_history(
        random, f"history-{seed}", profile or drawn[0], replicas or drawn[1], length or drawn[2],
        all_statements=all_statements, features=features or Features(),
    )  # fmt: skip


def drawn_history(
    random: Random, name: str, profile: Profile, replicas: int, length: int, *, all_statements: bool = True,
    features: Features,
) -> History:  # fmt: skip
    """A history by whatever draws: a seed, or Hypothesis."""
    min_isr = random.choice((1, 1, 2))
    ids = tuple(random.sample(range(1, 6), replicas))
    in_sync = ids if random.random() < 0.8 else ids[: random.randint(1, len(ids))]
    cluster = begin(name, profile, LAG_MS, min_isr)
    commands: list[Command] = []
    _try(cluster, Lead(ids[0], 0, ids, in_sync), commands)
    for _ in range(length * 10):
        for command in pick(cluster, random, features):
            _try(cluster, command, commands)
        if len(commands) >= length:
            break
    return History(name, profile, min_isr, all_statements, tuple(commands[:length]))


def _try(cluster: Cluster, command: Command, commands: list[Command]) -> None:
    try:
        play(cluster, command)
    except NotNowError:
        return
    commands.append(command)


def combined(histories: Sequence[Landed]) -> dict[str, list[dict[str, Any]]]:
    """The landing rows of many histories or stories, as one capture: each is a cluster and a topic of its own."""
    landing: dict[str, list[dict[str, Any]]] = {}
    for each in histories:
        for table, rows in each.landing.items():
            landing.setdefault(table, []).extend(dict(row) for row in rows)
    return landing
