"""The load: producers and consumers in threads of their own, and what the producers were told."""

from __future__ import annotations

import random
import threading
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from cluster.settings import RACK
from cluster.topic import Topic

BATCHES_A_SECOND = 9.0
SMALL_BATCH, BURST = (1, 10), (60, 150)
BURST_CHANCE = 0.02
PAUSE_CHANCE, PAUSE_SECONDS = 0.01, 1.5
FLUSH_SECONDS = 12.0
TRANSACTION_SECONDS = 10.0
ABORT_CHANCE = 0.25

Acked = dict[str, Any]


class Load:
    """Everything that writes to or reads from the cluster, from `start` to `stop`."""

    def __init__(
        self, bootstrap: str, topics: Sequence[Topic], seed: int, *, transactions: bool, consumers: bool
    ) -> None:
        self.acked: list[Acked] = []
        self._common = {"bootstrap.servers": bootstrap, "log_level": 0}
        self._topics = topics
        self._ends = threading.Event()
        workers: list[Callable[[random.Random], None]] = [self._producer_to(topic) for topic in topics]
        if transactions:
            workers.append(self._transact)
        if consumers:
            workers += [
                self._consumer("read_uncommitted", RACK.format(1)),
                self._consumer("read_committed", RACK.format(2)),
            ]
        self._threads = [
            # The place in the seed: each worker draws from its own numbers, whatever the others do meanwhile.
            threading.Thread(target=worker, args=(random.Random(f"{seed}-{place}"),), daemon=True)  # noqa: S311 - a load, no secret
            for place, worker in enumerate(workers)
        ]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End; what is under way is waited for, within reason."""
        self._ends.set()
        for thread in filter(threading.Thread.is_alive, self._threads):
            thread.join(FLUSH_SECONDS + TRANSACTION_SECONDS)

    def _producer_to(self, topic: Topic) -> Callable[[random.Random], None]:
        def produce(draw: random.Random) -> None:
            producer = Producer({**self._common, "acks": topic.acks, "linger.ms": 5})
            sent = 0
            while not self._ends.wait(draw.expovariate(BATCHES_A_SECOND)):
                if draw.random() < PAUSE_CHANCE:
                    self._ends.wait(PAUSE_SECONDS)  # idle: followers' fetches are parked
                partition = draw.randrange(len(topic.leaders))
                for _ in range(draw.randint(*(BURST if draw.random() < BURST_CHANCE else SMALL_BATCH))):
                    sent += 1
                    self._send(producer, topic, partition, f"{topic.name}-{sent}", topic.acks, self.acked)
                producer.poll(0)
            producer.flush(FLUSH_SECONDS)

        return produce

    def _send(self, producer: Producer, topic: Topic, partition: int, value: str, acks: str, told: list[Acked]) -> None:
        def note(error: KafkaError | None, message: Message) -> None:
            if error is None:
                at = {"topic": topic.name, "partition": partition, "offset": message.offset()}
                told.append({**at, "value": value, "acks": acks})

        # Keys come again in turn: compaction leaves the last record of each.
        key = f"key-{zlib.crc32(value.encode()) % topic.keys}" if topic.keys else None
        with suppress(BufferError, KafkaException):  # no broker has taken any for long, or the topic is gone: not sent
            producer.produce(topic.name, value=value, key=key, partition=partition, on_delivery=note)

    def _transact(self, draw: random.Random) -> None:
        """Transactions over all topics, a part of them aborted; after a fatal error another producer goes on."""
        producer, sent = self._transactional(), 0
        while not self._ends.wait(draw.expovariate(1.5)):
            told: list[Acked] = []
            outcome = "aborted" if draw.random() < ABORT_CHANCE else "committed"
            try:
                producer.begin_transaction()
                for _ in range(draw.randint(1, 12)):
                    topic, sent = draw.choice(self._topics), sent + 1
                    partition = draw.randrange(len(topic.leaders))
                    self._send(producer, topic, partition, f"transaction-{sent}", "all", told)
                producer.flush(TRANSACTION_SECONDS)
                self._ends.wait(draw.uniform(0, 0.4))  # open for a while: the last stable offset waits
                ends = producer.abort_transaction if outcome == "aborted" else producer.commit_transaction
                ends(TRANSACTION_SECONDS)
            except KafkaException:
                producer, outcome = self._abort(producer)
            self.acked.extend({**row, "transaction": outcome} for row in told)

    def _abort(self, producer: Producer) -> tuple[Producer, str]:
        """The producer after an abort; or a new one, which fences it, and nobody knows how its transaction ended."""
        try:
            producer.abort_transaction(TRANSACTION_SECONDS)
        except KafkaException:
            return self._transactional(), "unknown"
        return producer, "aborted"

    def _transactional(self) -> Producer:
        while True:
            producer = Producer({**self._common, "transactional.id": "tidegauge", "transaction.timeout.ms": 15_000})
            try:
                producer.init_transactions(TRANSACTION_SECONDS)
            except KafkaException:
                if self._ends.wait(1):
                    return producer
            else:
                return producer

    def _consumer(self, isolation: str, rack: str) -> Callable[[random.Random], None]:
        def consume(_draw: random.Random) -> None:
            consumer = Consumer(
                {
                    **self._common,
                    "group.id": isolation.replace("_", "-"),
                    "isolation.level": isolation,
                    "client.rack": rack,
                    "auto.offset.reset": "earliest",
                }
            )
            consumer.subscribe([topic.name for topic in self._topics])
            while not self._ends.is_set():
                with suppress(KafkaException):
                    consumer.consume(500, 0.3)
            consumer.close()

        return consume
