"""A topic as a scenario wants it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Topic:
    """A topic: the preferred leader of each partition, and how its producer writes."""

    name: str
    leaders: Sequence[int]
    replication_factor: int = 3
    acks: str = "all"
    settings: Mapping[str, str] = field(default_factory=dict)
    keys: int = 0
    """How many keys its records have, as a compacted topic needs; 0: none."""

    def replicas(self, partition: int, brokers: int) -> list[int]:
        """The preferred leader and the brokers next to it."""
        leader = self.leaders[partition]
        return [(leader - 1 + step) % brokers + 1 for step in range(self.replication_factor)]
