"""What a scenario has in hand: each method is one act, told to whoever watches and kept for about.json."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from confluent_kafka.admin import PartitionMetadata

from cluster.admin import Admin
from cluster.brokers import Cluster
from cluster.topic import Topic

CHECK_SECONDS = 0.5

Say = Callable[[str], None]


def _is_on(replicas: list[int], found: PartitionMetadata) -> bool:
    """While a reassignment is under way, the assignment has the old replicas too."""
    return sorted(found.replicas) == replicas


class Stage:
    """A running cluster under load."""

    def __init__(self, cluster: Cluster, topics: Sequence[Topic], seed: int, seconds: float, say: Say) -> None:
        self.cluster = cluster
        self.topics = topics
        self.seconds = seconds
        self.draw = random.Random(seed)  # noqa: S311 - a drawn history, no secret
        self.admin = Admin(cluster)
        self.acts: list[dict[str, object]] = []
        self._say = say
        self._started = time.monotonic()

    def begin(self) -> None:
        """The load runs: time counts from now."""
        self._started = time.monotonic()
        self.note("load begins")

    @property
    def elapsed(self) -> float:
        """Seconds since the load began."""
        return time.monotonic() - self._started

    @property
    def partitions(self) -> list[tuple[str, int]]:
        """Every partition of the scenario's topics."""
        return [(topic.name, partition) for topic in self.topics for partition in range(len(topic.leaders))]

    def note(self, act: str) -> None:
        """Tell and keep an act."""
        self.acts.append({"ts": time.time_ns() // 1_000_000, "seconds": round(self.elapsed, 1), "act": act})
        self._say(f"  {self.elapsed:>6.1f} s  {act}")

    def rest(self, seconds: float) -> None:
        """Let the load run on; a broker that ends by itself meanwhile is an error."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.cluster.check()
            time.sleep(min(left, CHECK_SECONDS))

    def freeze(self, *brokers: int) -> None:
        """SIGSTOP."""
        for broker in brokers:
            self.note(f"freeze broker {broker}")
            self.cluster.brokers[broker].freeze()

    def thaw(self, *brokers: int) -> None:
        """SIGCONT."""
        for broker in brokers:
            self.note(f"thaw broker {broker}")
            self.cluster.brokers[broker].thaw()

    @contextmanager
    def frozen(self, *brokers: int) -> Iterator[None]:
        """Brokers frozen for as long as the block takes."""
        self.freeze(*brokers)
        yield
        self.thaw(*brokers)

    def kill(self, broker: int) -> None:
        """SIGKILL."""
        self.note(f"kill -9 broker {broker}")
        self.cluster.brokers[broker].kill()

    def stop(self, broker: int) -> None:
        """An orderly shutdown, leaderships handed over."""
        self.note(f"shut down broker {broker}")
        self.cluster.brokers[broker].terminate()
        self.cluster.brokers[broker].wait_stopped()

    def start(self, broker: int) -> None:
        """Start a broker that is down, on the data it has."""
        self.note(f"start broker {broker}")
        self.cluster.brokers[broker].start()
        self.cluster.brokers[broker].wait_started()

    def kill_controller(self) -> None:
        """SIGKILL to the controller or the ZooKeeper: brokers go on, and no ISR changes."""
        self.note("kill -9 the controller")
        self.cluster.controller.kill()

    def start_controller(self) -> None:
        """Start it again, on the data it has."""
        self.note("start the controller")
        self.cluster.controller.start()
        self.cluster.controller.wait_started()

    def lose_disk(self, broker: int) -> None:
        """Take the last disk of a broker away, which finds out when it next writes a checkpoint there."""
        self.note(f"take the last disk of broker {broker} away")
        self.cluster.brokers[broker].folder.lose_disk()

    def give_disk_back(self, broker: int) -> None:
        """Shut the broker down, put its disk back as it was, and start it."""
        self.stop(broker)
        self.note(f"give broker {broker} its disk back")
        self.cluster.brokers[broker].folder.give_disk_back()
        self.start(broker)

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
