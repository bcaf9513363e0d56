"""What a scenario asks of the cluster: topics, leaders, elections, settings, DeleteRecords, reassignments.

Each question goes out on a client of its own that knows the brokers that answer: an old one may ask a frozen broker.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    PartitionMetadata,
    ResourceType,
)

from cluster.brokers import Cluster
from cluster.distribution import TO_BROKERS_SINCE
from cluster.errors import ClusterError

ANSWER_SECONDS = 5.0
PATIENCE_SECONDS = 40.0
POLL_SECONDS = 0.2
HOLD_SECONDS = 1.0
"""What is waited for has to stay so for this long: a broker just thawed still tells how things were."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Topic:
    """A topic as a scenario wants it: the preferred leader of each partition, and how its producer writes."""

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


class Admin:
    """A cluster's administrator."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def create(self, topics: Sequence[Topic]) -> None:
        """Create topics with exactly these assignments, and wait until each partition has its leader."""
        wanted = [
            NewTopic(
                topic.name,
                num_partitions=len(topic.leaders),
                replica_assignment=[
                    topic.replicas(partition, len(self._cluster.brokers)) for partition in range(len(topic.leaders))
                ],
                config=dict(topic.settings),
            )
            for topic in topics
        ]
        for one in wanted:
            # A controller beside ZooKeeper still knows a topic of that name for a while after no broker does.
            _patiently(partial(self._create_one, one))
        for topic in topics:
            for partition in range(len(topic.leaders)):
                self.await_("a leader", (topic.name, partition), lambda found: found.leader == found.replicas[0])

    def _create_one(self, wanted: NewTopic) -> None:
        client = self._client()  # named, here and below: a client without a name ends before it has its answer
        client.create_topics([wanted], request_timeout=PATIENCE_SECONDS)[wanted.topic].result()

    def delete(self, topic: str) -> None:
        """Delete a topic, and wait until no broker tells of it."""
        client = self._client()
        client.delete_topics([topic], operation_timeout=PATIENCE_SECONDS)[topic].result()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while topic in _patiently(lambda: self._client().list_topics(timeout=ANSWER_SECONDS).topics):
            if time.monotonic() > deadline:
                raise ClusterError(f"topic {topic} is still there {PATIENCE_SECONDS:.0f} s after it was deleted.")
            time.sleep(POLL_SECONDS)

    def add_partitions(self, topic: Topic, leaders: Sequence[int]) -> None:
        """Give a topic more partitions, with these preferred leaders, and wait until each has its leader."""
        had, brokers = len(topic.leaders), len(self._cluster.brokers)
        grown = replace(topic, leaders=(*topic.leaders, *leaders))
        added = [grown.replicas(partition, brokers) for partition in range(had, len(grown.leaders))]
        client = self._client()
        wanted = NewPartitions(topic.name, new_total_count=len(grown.leaders), replica_assignment=added)
        client.create_partitions([wanted], request_timeout=PATIENCE_SECONDS)[topic.name].result()
        for partition in range(had, len(grown.leaders)):
            self.await_("a leader", (topic.name, partition), lambda found: found.leader != -1)

    def leader(self, topic: str, partition: int) -> int:
        """The leader's broker id, -1 where there is none."""
        return self._partition(topic, partition).leader

    def replicas(self, topic: str, partition: int) -> list[int]:
        """The assignment, preferred leader first."""
        return list(self._partition(topic, partition).replicas)

    def isr(self, topic: str, partition: int) -> list[int]:
        """The in-sync replicas, as the brokers know them."""
        return list(self._partition(topic, partition).isrs)

    def followers(self, topic: str, partition: int) -> list[int]:
        """The assignment without the leader."""
        found = self._partition(topic, partition)
        return [replica for replica in found.replicas if replica != found.leader]

    def elect(self, partitions: Sequence[tuple[str, int]], *, unclean: bool = False) -> None:
        """Ask for the preferred leader, or for any living replica; what needs no election is no error."""
        kind = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
        client = self._client()
        client.elect_leaders(kind, [TopicPartition(*of) for of in partitions]).result(PATIENCE_SECONDS)

    def configure(self, kind: str, name: str, settings: Mapping[str, str | None]) -> None:
        """Change settings of a topic or a broker while it runs; None takes one back."""
        entries = [
            ConfigEntry(
                key,
                value if value is not None else "",
                incremental_operation=AlterConfigOpType.SET if value is not None else AlterConfigOpType.DELETE,
            )
            for key, value in settings.items()
        ]
        resource = ConfigResource(ResourceType[kind.upper()], name, incremental_configs=entries)
        client = self._client()
        for changed in client.incremental_alter_configs([resource]).values():
            changed.result(PATIENCE_SECONDS)

    def delete_records(self, topic: str, partition: int, offset: int) -> int:
        """DeleteRecords below `offset` (-1: below the high watermark); the new log start offset."""
        client = self._client()
        asked = client.delete_records([TopicPartition(topic, partition, offset)])
        start: int = next(iter(asked.values())).result(PATIENCE_SECONDS).low_watermark
        return start

    def reassign(self, moves: Mapping[tuple[str, int], Sequence[int]]) -> None:
        """Give partitions new replicas."""
        self._reassign([{"topic": t, "partition": p, "replicas": list(to)} for (t, p), to in moves.items()])

    def move(self, topic: str, partition: int, to: Mapping[int, Path]) -> None:
        """Give the replica of each broker another of that broker's log directories."""
        dirs = [str(log_dir) for log_dir in to.values()]
        self._reassign([{"topic": topic, "partition": partition, "replicas": list(to), "log_dirs": dirs}])

    def _reassign(self, partitions: Sequence[Mapping[str, object]]) -> None:
        """By Kafka's own tool: librdkafka does not speak of reassignments."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
            json.dump({"version": 1, "partitions": list(partitions)}, plan)
            plan.flush()
            words = ["--bootstrap-server", self._cluster.bootstrap, "--reassignment-json-file", plan.name, "--execute"]
            if self._cluster.distribution.number < TO_BROKERS_SINCE:
                words += ["--zookeeper", self._cluster.zookeeper]
            self._cluster.distribution.run("ReassignPartitionsCommand", words)

    def await_(self, what: str, of: tuple[str, int], is_so: Callable[[PartitionMetadata], bool]) -> None:
        """Wait until `is_so` of a partition; one that never gets there is an error that says what was waited for."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        so_since: float | None = None
        while so_since is None or time.monotonic() - so_since < HOLD_SECONDS:
            so_since = (so_since or time.monotonic()) if is_so(self._partition(*of)) else None
            self._cluster.check()
            if time.monotonic() > deadline:
                raise ClusterError(f"{of[0]}-{of[1]} has waited {PATIENCE_SECONDS:.0f} s for {what}, in vain.")
            time.sleep(POLL_SECONDS)

    def _partition(self, topic: str, partition: int) -> PartitionMetadata:
        def ask() -> PartitionMetadata:
            return self._client().list_topics(topic, timeout=ANSWER_SECONDS).topics[topic].partitions[partition]

        return _patiently(ask)

    def _client(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self._cluster.bootstrap, "log_level": 0})


def _patiently(ask: Callable[[], Answer]) -> Answer:
    """The answer, asked for again while leaders change hands."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except (KafkaException, KeyError) as error:
            if time.monotonic() > deadline:
                raise ClusterError(f"the brokers do not answer: {error}") from error
            time.sleep(POLL_SECONDS)
