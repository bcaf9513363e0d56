"""What a history leaves behind: the landing rows of a capture, and what should be rebuilt from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Row = dict[str, Any]
DAWN = datetime(2026, 1, 1, tzinfo=UTC)
TABLES = (
    "produce_events",
    "fetch_events",
    "leader_changes",
    "broker_statements",
    "settings",
    "metadata_changes",
    "broker_registrations",
)

SAID_WITH_THE_LEO = ("became_leader_high_watermark", "became_follower_high_watermark")
"""What a line of a role states after the LEO: in the same line."""


def at(milliseconds: int) -> datetime:
    """A moment of the twin's clock."""
    return DAWN + timedelta(milliseconds=milliseconds)


@dataclass
class Rows:
    """The rows of one partition's history, in the order they were written."""

    cluster_id: str
    topic: str
    topic_id: str
    partition: int = 0
    all_statements: bool = True
    landing: dict[str, list[Row]] = field(default_factory=lambda: {table: [] for table in TABLES})
    leader: list[Row] = field(default_factory=list)
    replica: list[Row] = field(default_factory=list)
    truncations: list[Row] = field(default_factory=list)
    _metadata_offset: int = 0
    _known: dict[int, Row] = field(default_factory=dict)

    @property
    def _partition(self) -> Row:
        return {"topic": self.topic, "topic_id": self.topic_id, "partition": self.partition}

    def _land(self, table: str, file: str, **values: Any) -> None:
        rows = self.landing[table]
        source_file = f"{self.topic}-{self.partition}/{file}/{table}"
        delivery = {"cluster_id": self.cluster_id, "capture_id": self.cluster_id}
        rows.append({**delivery, **values, "source_file": source_file, "source_line": len(rows) + 1})

    def produce(self, broker_id: int, **values: Any) -> None:
        """A PRODUCE line, or a transaction marker's batch."""
        usual = {
            "client_id": "producer", "local_time_us": 100, "is_transactional": False, "is_control": False,
            "producer_id": -1, "transaction_result": None, "append_source": "request",
        }  # fmt: skip
        self._land("produce_events", f"broker-{broker_id}", **self._partition, broker_id=broker_id, **(usual | values))

    def fetch(self, broker_id: int, **values: Any) -> None:
        """A FETCH line's partition."""
        usual = {"local_time_us": 100, "diverging_epoch": -1, "diverging_end_offset": -1}
        self._land("fetch_events", f"broker-{broker_id}", **self._partition, broker_id=broker_id, **(usual | values))

    def change(self, broker_id: int, now: int, kind: str, **values: Any) -> None:
        """A line on a change of leader, ISR or assignment."""
        usual = {"isr": None, "replicas": None, "adding_replicas": None, "removing_replicas": None, "is_unclean": None}
        self._land(
            "leader_changes", f"broker-{broker_id}", **self._partition, broker_id=broker_id, event_time=at(now),
            change_kind=kind, **(usual | values),
        )  # fmt: skip

    def state(self, kind: str, broker_id: int, now: int, leader_epoch: int, offset: int, replica_id: int = -1) -> None:
        """A broker's own word on an offset. Of a log's load and deletion it is always kept: nothing else tells that."""
        if self.all_statements or kind.startswith("loaded_") or kind == "log_deleted":
            self._land(
                "broker_statements", f"broker-{broker_id}", **self._partition, kind=kind, broker_id=broker_id,
                leader_epoch=leader_epoch, event_time=at(now), offset=offset, replica_id=replica_id,
            )  # fmt: skip
            if kind in SAID_WITH_THE_LEO:
                leo, said = self.landing["broker_statements"][-2:]
                said["source_line"] = leo["source_line"]

    def setting(self, now: int, name: str, value: str, *, of_topic: bool = False, broker_id: int = -1) -> None:
        """A setting, of the topic, of a broker, or of all brokers."""
        topic = self.topic if of_topic else ""
        self._land("settings", "cluster", broker_id=broker_id, topic=topic, name=name, value=value, event_time=at(now))

    def metadata(self, now: int, **values: Any) -> None:
        """The partition's record in the metadata log."""
        self._metadata_offset += 1
        self._land(
            "metadata_changes", "cluster", **self._partition, metadata_offset=self._metadata_offset, event_time=at(now),
            removing_replicas=[], **values,
        )  # fmt: skip

    def registration(self, now: int, broker_id: int, broker_epoch: int, *, is_fenced: bool) -> None:
        """A broker's record in the metadata log."""
        self._metadata_offset += 1
        self._land(
            "broker_registrations", "cluster", broker_id=broker_id, broker_epoch=broker_epoch, is_fenced=is_fenced,
            metadata_offset=self._metadata_offset, event_time=at(now),
        )  # fmt: skip

    def truncated(self, now: int, **values: Any) -> None:
        """A replica lost records."""
        highest = max((row["high_watermark"] for row in self.leader), default=-1)
        self.truncations.append(
            {**self._partition, "event_time": at(now), "partition_high_watermark_before": highest, **values}
        )

    def know(self, now: int, rows: Iterable[Row]) -> None:
        """What is true of each replica now; kept where it changed."""
        for row in rows:
            if self._known.get(row["replica_id"]) != row:
                self._known[row["replica_id"]] = row
                self.replica.append({**self._partition, "event_time": at(now), **row})
