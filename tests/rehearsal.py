"""A scenario's script played on a stage without a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from cluster.brokers import Cluster
from cluster.scenario import Scenario
from cluster.stage import Stage
from cluster.topic import Topic


@dataclass
class Actor:
    """A node that only remembers what state it is in."""

    state: str = "up"
    has_disk: bool = True
    distribution: Any = None

    def _become(self, state: str, *allowed: str) -> None:
        assert self.state in allowed, f"{state} after {self.state}"
        self.state = state

    def freeze(self) -> None:
        """A running one."""
        self._become("frozen", "up")

    def thaw(self) -> None:
        """A frozen one."""
        self._become("up", "frozen")

    def kill(self) -> None:
        """A running one."""
        self._become("down", "up", "frozen")

    def terminate(self) -> None:
        """A running one."""
        self._become("down", "up")

    def wait_stopped(self) -> None:
        """At once."""

    def start(self) -> None:
        """One that is down."""
        self._become("up", "down")

    def wait_started(self) -> None:
        """At once."""

    @property
    def folder(self) -> Actor:
        """Where its disks are: it remembers these itself."""
        return self

    def other_disk(self, topic: str, partition: int) -> Path:
        """There is one."""
        return Path(f"/disk/{topic}-{partition}")

    def lose_disk(self) -> None:
        """A running one, once."""
        assert self.has_disk
        assert self.state == "up"
        self.has_disk = False

    def give_disk_back(self) -> None:
        """One that is down and has lost it."""
        assert not self.has_disk
        assert self.state == "down"
        self.has_disk = True


@dataclass
class Office:
    """An administrator of a cluster in which all is as it was declared, and everything waited for is there."""

    assigned: dict[tuple[str, int], Sequence[int]]
    asked: list[str] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)

    def leader(self, topic: str, partition: int) -> int:
        """The preferred one."""
        return self.assigned[topic, partition][0]

    def followers(self, topic: str, partition: int) -> list[int]:
        """The others."""
        return list(self.assigned[topic, partition][1:])

    def replicas(self, topic: str, partition: int) -> list[int]:
        """All."""
        return list(self.assigned[topic, partition])

    def isr(self, topic: str, partition: int) -> list[int]:
        """All."""
        return list(self.assigned[topic, partition])

    def await_(self, what: str, of: tuple[str, int], is_so: Callable[[Any], bool]) -> None:
        """It is there."""
        assert of in self.assigned
        assert callable(is_so)
        self.asked.append(what)

    def create(self, topics: Sequence[Topic]) -> None:
        """There it is again."""
        assert {topic.name for topic in topics} == self.deleted
        self.deleted.clear()

    def delete(self, topic: str) -> None:
        """Gone, until it is created."""
        assert topic in {of[0] for of in self.assigned}
        self.deleted.add(topic)

    def add_partitions(self, topic: Topic, leaders: Sequence[int]) -> None:
        """More of one that is there."""
        assert (topic.name, len(topic.leaders)) not in self.assigned
        assert leaders

    def elect(self, partitions: Sequence[tuple[str, int]], *, unclean: bool = False) -> None:
        """Nothing to elect."""
        assert set(partitions) <= set(self.assigned)
        assert not unclean or len(partitions) == 1

    def configure(self, kind: str, name: str, settings: Mapping[str, str | None]) -> None:
        """Noted."""
        assert name in {of[0] for of in self.assigned} or kind == "broker"
        assert settings

    def delete_records(self, topic: str, partition: int, offset: int) -> int:
        """All below."""
        assert (topic, partition) in self.assigned
        return offset

    def reassign(self, moves: Mapping[tuple[str, int], Sequence[int]]) -> None:
        """Done."""
        assert set(moves) <= set(self.assigned)
        self.assigned |= dict(moves)

    def move(self, topic: str, partition: int, to: Mapping[int, Path]) -> None:
        """Done."""
        assert sorted(to) == sorted(self.assigned[topic, partition])


class Rehearsal(Stage):
    """A stage whose clock runs as fast as the script asks it to."""

    clock = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds rested."""
        return self.clock

    def rest(self, seconds: float) -> None:
        """Time goes by."""
        assert seconds >= 0
        self.clock += seconds


def rehearse(scenario: Scenario, seed: int = 1, *, has_zookeeper: bool = False) -> tuple[list[str], dict[int, Actor]]:
    """The acts of a scenario, and in what state it leaves the brokers."""
    told: list[str] = []
    actors = {broker: Actor() for broker in (1, 2, 3)}
    controller, distribution = Actor(), SimpleNamespace(has_zookeeper=has_zookeeper)
    nodes = cast(
        Cluster,
        SimpleNamespace(
            brokers=actors, controller=controller, distribution=distribution, upgrade=SimpleNamespace(version="3.9.1")
        ),
    )
    stage = Rehearsal(nodes, scenario.topics, seed, scenario.seconds, told.append)
    topics = {topic.name: topic for topic in scenario.topics}
    stage.admin = cast(Any, Office({of: topics[of[0]].replicas(of[1], 3) for of in stage.partitions}))
    scenario.script(stage)
    assert controller.state == "up"
    return told, actors
