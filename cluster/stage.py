"""What a scenario has in hand: faults, and what it asks of the cluster; each method is one act."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import partial

from confluent_kafka.admin import PartitionMetadata

from cluster.acts import Say
from cluster.admin import Admin
from cluster.brokers import Cluster
from cluster.faults import Faults
from cluster.topic import Topic


def _is_on(replicas: list[int], found: PartitionMetadata) -> bool:
    """While a reassignment is under way, the assignment has the old replicas too."""
    return sorted(found.replicas) == replicas


class Stage(Faults):
    """A running cluster under load."""

    def __init__(self, cluster: Cluster, topics: Sequence[Topic], seed: int, seconds: float, say: Say) -> None:
        super().__init__(cluster, say)
        self.topics = topics
        self.seconds = seconds
        self.draw = random.Random(seed)  # noqa: S311 - a drawn history, no secret
        self.admin = Admin(cluster)

    @property
    def partitions(self) -> list[tuple[str, int]]:
        """Every partition of the scenario's topics."""
        return [(topic.name, partition) for topic in self.topics for partition in range(len(topic.leaders))]

    def await_leader(self, topic: str, partition: int, *, other_than: int = -1) -> int:
        """Wait for a leader, for another one than was; the new leader."""
        self.admin.await_("a leader", (topic, partition), lambda found: found.leader not in {-1, other_than})
        leader = self.admin.leader(topic, partition)
        self.note(f"{topic}-{partition} is led by broker {leader}")
        return leader

    def await_isr(self, topic: str, partition: int, size: int) -> None:
        """Wait until the ISR has this many replicas."""
        self.admin.await_(f"an ISR of {size}", (topic, partition), lambda found: len(found.isrs) == size)
        self.note(f"{topic}-{partition} has ISR {self.admin.isr(topic, partition)}")

    def await_whole(self) -> None:
        """Wait until every partition has all its replicas in the ISR."""
        for of in self.partitions:
            self.admin.await_("all its replicas", of, lambda found: sorted(found.isrs) == sorted(found.replicas))
        self.note("every replica is in sync")

    def elect_preferred(self) -> None:
        """Give every partition back to its preferred leader."""
        self.note("elect preferred leaders")
        self.admin.elect(self.partitions)

    def elect_unclean(self, topic: str, partition: int) -> None:
        """Have any living replica elected, in sync or not, as an operator who gives the rest up."""
        self.note(f"elect any replica of {topic}-{partition}")
        self.admin.elect([(topic, partition)], unclean=True)

    def delete_records(self, topic: str, partition: int, offset: int) -> None:
        """DeleteRecords below an offset, or below the high watermark (-1)."""
        start = self.admin.delete_records(topic, partition, offset)
        self.note(f"DeleteRecords of {topic}-{partition}: log start offset {start}")

    def create_anew(self, topic: Topic) -> None:
        """Delete a topic and create one of the same name."""
        self.note(f"delete topic {topic.name}")
        self.admin.delete(topic.name)
        self.note(f"create topic {topic.name}")
        self.admin.create([topic])

    def add_partitions(self, topic: Topic, *leaders: int) -> None:
        """Give a topic more partitions."""
        self.note(f"add {len(leaders)} partitions to {topic.name}")
        self.admin.add_partitions(topic, leaders)

    def reassign(self, moves: Mapping[tuple[str, int], Sequence[int]]) -> None:
        """Give partitions new replicas and wait until they have them."""
        told = ", ".join(f"{topic}-{partition} to {list(to)}" for (topic, partition), to in moves.items())
        self.note(f"reassign {told}")
        self.admin.reassign(moves)
        for of, to in moves.items():
            self.admin.await_("its new replicas", of, partial(_is_on, sorted(to)))
        self.note("reassigned")

    def change_disks(self, topic: str, partition: int) -> None:
        """Have every replica of a partition moved to another disk of its broker; it is copied while the load runs."""
        self.note(f"move every replica of {topic}-{partition} to another disk")
        replicas = self.admin.replicas(topic, partition)
        folders = {it: self.cluster.brokers[it].folder for it in replicas}
        self.admin.move(topic, partition, {it: of.other_disk(topic, partition) for it, of in folders.items()})

    def configure_topic(self, topic: str, settings: Mapping[str, str | None]) -> None:
        """Change a topic's settings; None takes one back."""
        self.note(f"configure topic {topic}: {dict(settings)}")
        self.admin.configure("topic", topic, settings)

    def configure_broker(self, broker: int, settings: Mapping[str, str | None]) -> None:
        """Change a broker's dynamic settings; None takes one back."""
        self.note(f"configure broker {broker}: {dict(settings)}")
        self.admin.configure("broker", str(broker), settings)
