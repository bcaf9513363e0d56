"""What the brokers say of partitions: who leads, who is assigned, who is in sync; and until then, patience.

Each question goes out on a client of its own that knows the brokers that answer: an old one may ask a frozen broker.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, PartitionMetadata

from cluster.brokers import Cluster
from cluster.errors import ClusterError, InVainError, NotOfferedError

ANSWER_SECONDS = 5.0
CONTROLLER_SECONDS = 10.0
"""How long one client waits for the controller. Without ZooKeeper a broker names any of them as it, even one that is
frozen, until that is fenced; a later client is told of another."""
PATIENCE_SECONDS = 40.0
POLL_SECONDS = 0.2
HOLD_SECONDS = 1.0
"""What is waited for has to stay so for this long: a broker just thawed still tells how things were."""

UNSUPPORTED: int = KafkaError._UNSUPPORTED_FEATURE  # noqa: SLF001 - the client's own codes begin with an underscore

Answer = TypeVar("Answer")


class Watch:
    """Whoever looks at a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

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

    def await_(self, what: str, of: tuple[str, int], is_so: Callable[[PartitionMetadata], bool]) -> None:
        """Wait until `is_so` of a partition; one that never gets there is an error that says what was waited for."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        so_since: float | None = None
        while so_since is None or time.monotonic() - so_since < HOLD_SECONDS:
            so_since = (so_since or time.monotonic()) if is_so(self._partition(*of)) else None
            self.cluster.check()
            if time.monotonic() > deadline:
                raise InVainError(f"{of[0]}-{of[1]} has waited {PATIENCE_SECONDS:.0f} s for {what}, in vain.")
            time.sleep(POLL_SECONDS)

    def await_gone(self, topic: str) -> None:
        """Wait until no broker tells of a topic."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while topic in patiently(lambda: self.client().list_topics(timeout=ANSWER_SECONDS).topics):
            if time.monotonic() > deadline:
                raise ClusterError(f"topic {topic} is still there {PATIENCE_SECONDS:.0f} s after it was deleted.")
            time.sleep(POLL_SECONDS)

    def client(self) -> AdminClient:
        """A new client, for one question. Whoever waits for a later answer has to name it, or it ends before that."""
        waits_ms = int(CONTROLLER_SECONDS * 1000)
        return AdminClient({"bootstrap.servers": self.cluster.bootstrap, "log_level": 0, "socket.timeout.ms": waits_ms})

    def _partition(self, topic: str, partition: int) -> PartitionMetadata:
        def ask() -> PartitionMetadata:
            return self.client().list_topics(topic, timeout=ANSWER_SECONDS).topics[topic].partitions[partition]

        return patiently(ask)


def patiently(ask: Callable[[], Answer]) -> Answer:
    """The answer, asked for again while leaders change hands; `NotOfferedError` where brokers know no such thing."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except (KafkaException, KeyError) as error:
            if _is_not_offered(error):
                raise NotOfferedError(f"these brokers are too old: {error.args[0].str()}") from error
            if time.monotonic() > deadline:
                raise ClusterError(f"the brokers do not answer: {error}") from error
            time.sleep(POLL_SECONDS)


def _is_not_offered(error: KafkaException | KeyError) -> bool:
    return isinstance(error, KafkaException) and error.args[0].code() == UNSUPPORTED
