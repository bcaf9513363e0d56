"""What a scenario asks of the cluster: topics, elections, settings, DeleteRecords, reassignments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from confluent_kafka import ElectionType, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from cluster import reassignment
from cluster.topic import Topic
from cluster.watch import PATIENCE_SECONDS, Watch, patiently

CONTROLLER_SECONDS = 10.0
"""How long one client waits for the controller. Without ZooKeeper a broker names any of them as it, even one that is
frozen, until that is fenced; a later client is told of another."""


class Admin(Watch):
    """A cluster's administrator."""

    def create(self, topics: Sequence[Topic]) -> None:
        """Create topics with exactly these assignments, and wait until each partition has its leader."""
        wanted = [
            NewTopic(
                topic.name,
                num_partitions=len(topic.leaders),
                replica_assignment=[
                    topic.replicas(partition, len(self.cluster.brokers)) for partition in range(len(topic.leaders))
                ],
                config=dict(topic.settings),
            )
            for topic in topics
        ]
        for one in wanted:
            # A controller beside ZooKeeper still knows a topic of that name for a while after no broker does.
            patiently(partial(self._create_one, one))
        for topic in topics:
            for partition in range(len(topic.leaders)):
                self.await_("a leader", (topic.name, partition), lambda found: found.leader == found.replicas[0])

    def _create_one(self, wanted: NewTopic) -> None:
        client = self.client()
        client.create_topics([wanted], request_timeout=CONTROLLER_SECONDS)[wanted.topic].result()

    def delete(self, topic: str) -> None:
        """Delete a topic, and wait until no broker tells of it."""
        patiently(partial(self._delete_one, topic))
        self.await_gone(topic)

    def _delete_one(self, topic: str) -> None:
        client = self.client()
        try:
            client.delete_topics([topic], request_timeout=CONTROLLER_SECONDS)[topic].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:  # deleted when asked before
                raise

    def add_partitions(self, topic: Topic, leaders: Sequence[int]) -> None:
        """Give a topic more partitions, with these preferred leaders, and wait until each has its leader."""
        had, brokers = len(topic.leaders), len(self.cluster.brokers)
        grown = replace(topic, leaders=(*topic.leaders, *leaders))
        added = [grown.replicas(partition, brokers) for partition in range(had, len(grown.leaders))]
        client = self.client()
        wanted = NewPartitions(topic.name, new_total_count=len(grown.leaders), replica_assignment=added)
        client.create_partitions([wanted], request_timeout=PATIENCE_SECONDS)[topic.name].result()
        for partition in range(had, len(grown.leaders)):
            self.await_("a leader", (topic.name, partition), lambda found: found.leader != -1)

    def elect(self, partitions: Sequence[tuple[str, int]], *, unclean: bool = False) -> None:
        """Ask for the preferred leader, or for any living replica; what needs no election is no error."""
        kind = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
        client = self.client()
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
        client = self.client()
        for changed in client.incremental_alter_configs([resource]).values():
            changed.result(PATIENCE_SECONDS)

    def delete_records(self, topic: str, partition: int, offset: int) -> int:
        """DeleteRecords below `offset` (-1: below the high watermark); the new log start offset."""
        client = self.client()
        asked = client.delete_records([TopicPartition(topic, partition, offset)])
        start: int = next(iter(asked.values())).result(PATIENCE_SECONDS).low_watermark
        return start

    def reassign(self, moves: Mapping[tuple[str, int], Sequence[int]]) -> None:
        """Give partitions new replicas."""
        reassignment.execute(self.cluster, reassignment.replicas_to(moves))

    def move(self, topic: str, partition: int, to: Mapping[int, Path]) -> None:
        """Give the replica of each broker another of that broker's log directories."""
        reassignment.execute(self.cluster, reassignment.log_dirs_to(topic, partition, to))
