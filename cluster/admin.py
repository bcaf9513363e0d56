"""What a scenario asks of the cluster: topics, elections, settings, DeleteRecords, reassignments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from confluent_kafka import ElectionType, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from cluster import reassignment
from cluster.topic import Topic
from cluster.watch import Answer, Watch, patiently


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
            self._create_one(one)
        for topic in topics:
            for partition in range(len(topic.leaders)):
                self.await_("a leader", (topic.name, partition), lambda found: found.leader == found.replicas[0])

    def _create_one(self, wanted: NewTopic) -> None:
        def ask(client: AdminClient) -> None:
            client.create_topics([wanted])[wanted.topic].result()

        self._patiently(ask)

    def delete(self, topic: str) -> None:
        """Delete a topic, and wait until no broker tells of it."""

        def ask(client: AdminClient) -> None:
            with _done_before(KafkaError.UNKNOWN_TOPIC_OR_PART):
                client.delete_topics([topic])[topic].result()

        self._patiently(ask)
        self.await_gone(topic)

    def add_partitions(self, topic: Topic, leaders: Sequence[int]) -> None:
        """Give a topic more partitions, with these preferred leaders, and wait until each has its leader."""
        had, brokers = len(topic.leaders), len(self.cluster.brokers)
        grown = replace(topic, leaders=(*topic.leaders, *leaders))
        added = [grown.replicas(partition, brokers) for partition in range(had, len(grown.leaders))]
        wanted = NewPartitions(topic.name, new_total_count=len(grown.leaders), replica_assignment=added)

        def ask(client: AdminClient) -> None:
            with _done_before(KafkaError.INVALID_PARTITIONS):
                client.create_partitions([wanted])[topic.name].result()

        self._patiently(ask)
        for partition in range(had, len(grown.leaders)):
            self.await_("a leader", (topic.name, partition), lambda found: found.leader != -1)

    def elect(self, partitions: Sequence[tuple[str, int]], *, unclean: bool = False) -> None:
        """Ask for the preferred leader, or for any living replica; what needs no election is no error."""
        kind = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
        wanted = [TopicPartition(*of) for of in partitions]
        self._patiently(lambda client: client.elect_leaders(kind, wanted).result())

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
        self._patiently(lambda client: client.incremental_alter_configs([resource])[resource].result())

    def delete_records(self, topic: str, partition: int, offset: int) -> int:
        """DeleteRecords below `offset` (-1: below the high watermark); the new log start offset."""

        def ask(client: AdminClient) -> int:
            asked = client.delete_records([TopicPartition(topic, partition, offset)])
            start: int = next(iter(asked.values())).result().low_watermark
            return start

        return self._patiently(ask)

    def reassign(self, moves: Mapping[tuple[str, int], Sequence[int]]) -> None:
        """Give partitions new replicas."""
        reassignment.execute(self.cluster, reassignment.replicas_to(moves))

    def move(self, topic: str, partition: int, to: Mapping[int, Path]) -> None:
        """Give the replica of each broker another of that broker's log directories."""
        reassignment.execute(self.cluster, reassignment.log_dirs_to(topic, partition, to))

    def _patiently(self, ask: Callable[[AdminClient], Answer]) -> Answer:
        """The answer, asked for by one client after the other."""
        return patiently(lambda: ask(self.client()))


@contextmanager
def _done_before(error: int) -> Iterator[None]:
    """It is done, says this error, for a client that was not told so when it asked before."""
    try:
        yield
    except KafkaException as found:
        if found.args[0].code() != error:
            raise
