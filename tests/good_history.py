"""A partition's history in which every rule holds, told event by event: rows of all tables the check reads."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from schemas import tables as T
from tests.checked_rows import Given, at, became_leader, event, partition_record, state, stated_start

Tables = dict[T.Table, list[dict[str, Any]]]
REPLICAS = [1, 2, 3]


@dataclass
class Telling:
    """What has been told so far, and the state it has led to."""

    rows: Tables = field(default_factory=lambda: defaultdict(list))
    epoch: int = -1
    leader: int = 0
    seq: int = 0
    leo: int = 0
    hw: int = 0
    isr: list[int] = field(default_factory=lambda: list(REPLICAS))
    remote: dict[int, int] = field(default_factory=dict)
    told: dict[int, int] = field(default_factory=lambda: dict.fromkeys(REPLICAS, 0))
    lines: int = 0
    changes: int = 0

    def lead(self, epoch: int, leader: int, hw: int) -> None:
        """A leader begins, with all records; it has heard from nobody yet."""
        self.epoch, self.leader, self.seq, self.hw = epoch, leader, 0, hw
        self.remote = {replica: -1 for replica in REPLICAS if replica != leader}
        line = self._line("state-change.log")
        for replica in REPLICAS:
            kind = {} if replica == leader else {"change_kind": "become_follower", "source_file": f"broker-{replica}/x"}
            told = {"leader_id": leader, "replicas": REPLICAS, "isr": self.isr, "event_time": self._now()}
            self.rows[T.LEADER_CHANGES].append({**became_leader(epoch, replica), **told, **line, **kind})
        self.rows[T.BROKER_STATEMENTS].append({**stated_start(epoch, hw), "broker_id": leader, **line})
        self.rows[T.EPOCH_STARTS] += [
            {**state(0, epoch, 0, 0, 0), "broker_id": replica, "start_offset": self.leo, "source_line": epoch + 3,
             "source_file": f"broker-{replica}/leader-epoch-checkpoint"}
            for replica in REPLICAS
        ]  # fmt: skip
        self._event("BECOME_LEADER", line)
        self._metadata()

    def append(self, records: int) -> None:
        """Records are appended, for a producer that asked for acks=all."""
        line = self._line("kafka-request.log")
        batch = {"base_offset": self.leo, "last_offset": self.leo + records - 1}
        landed = {**became_leader(self.epoch, self.leader), **line, **batch, "event_time": self._now()}
        self.rows[T.PRODUCE_EVENTS].append({**landed, "acks": -1, "error_code": 0})
        self.rows[T.SEGMENT_BATCHES] += [
            {**landed, "broker_id": replica, "crc": self.leo, "batch_size": 70, "source_file": f"broker-{replica}/dump"}
            for replica in REPLICAS
        ]
        self.leo += records
        self._event("APPEND", line)

    def fetch(self, replica: int, offset: int) -> None:
        """A follower asks for what is next; its response carries the HW as it was before."""
        line, before = self._line("kafka-request.log"), self.hw
        self.remote[replica] = offset
        self.hw = max(self.hw, min(self.leo if r == self.leader else self.remote[r] for r in self.isr))
        self._fetched(line, replica, offset, before, session_id=10 * self.epoch + replica)
        self._event("FETCH", line, replica_id=replica)
        own = state(replica, self.epoch, self.seq, offset, min(self.told[replica], offset))
        self.rows[T.REPLICA_TIMELINE].append({**own, "remote_log_end_offset": offset, "valid_from": self._now()})
        self.told[replica] = before

    def consume(self, offset: int) -> None:
        """A consumer is given records."""
        self._fetched(self._line("kafka-request.log"), -1, offset, self.hw, session_id=0)

    def change_isr(self, *members: int) -> None:
        """The ISR is another; of one that shrinks the leader says what it knows."""
        gone = next((replica for replica in self.isr if replica not in members), None)
        if gone is not None:
            self._shrinking(gone)
        self.isr = list(members)
        self._event("ISR_CHANGE", self._line("server.log"))
        self._metadata()

    def _shrinking(self, gone: int) -> None:
        line = {**stated_start(self.epoch, 0), **self._line("server.log"), "broker_id": self.leader}
        said = {"high_watermark": self.hw, "log_end_offset": self.leo, "remote_log_end_offset": self.remote[gone]}
        self.rows[T.BROKER_STATEMENTS] += [
            {**line, "kind": f"shrinking_{name}", "offset": offset, "event_time": self._now(),
             "replica_id": gone if name.startswith("remote") else -1}
            for name, offset in said.items()
        ]  # fmt: skip

    def _fetched(self, line: Given, replica: int, offset: int, hw: int, session_id: int) -> None:
        fetches = self.rows[T.FETCH_EVENTS]
        number = sum(row["session_id"] == session_id for row in fetches) + 1
        self.rows[T.FETCH_EVENTS].append({
            **became_leader(self.epoch, self.leader), **line, "event_time": self._now(), "replica_id": replica,
            "error_code": 0, "diverging_epoch": -1, "is_parked": False, "is_implied": False, "fetch_offset": offset,
            "session_id": session_id, "session_epoch": number if session_id else -1, "isolation_level": 0,
            "records_size": 70, "response_high_watermark": hw, "response_last_stable_offset": hw, "client_id": "reader",
        })  # fmt: skip

    def _event(self, kind: str, line: Given, **more: Any) -> None:
        self.seq += 1
        known = {
            "event_type": kind, "leader_id": self.leader, "isr": list(self.isr), "maximal_isr": list(self.isr),
            "remote_log_end_offset": dict(self.remote), "event_time": self._now(),
        }  # fmt: skip
        self.rows[T.LEADER_TIMELINE].append({**event(self.epoch, self.seq, self.leo, self.hw), **known, **line, **more})
        own = state(self.leader, self.epoch, self.seq, self.leo, self.hw, role="LEADER", valid_from=self._now())
        self.rows[T.REPLICA_TIMELINE].append({**own, "remote_log_end_offset": self.leo})

    def _metadata(self) -> None:
        self.changes += 1
        record = partition_record(
            self.changes, list(self.isr), REPLICAS, leader_epoch=self.epoch, leader_id=self.leader
        )
        self.rows[T.METADATA_CHANGES].append({**record, "event_time": self._now()})

    def _line(self, file: str) -> dict[str, Any]:
        self.lines += 1
        return {"source_file": f"broker-{self.leader}/{file}", "source_line": self.lines}

    def _now(self) -> Any:
        return at(self.lines)


def good_history() -> Tables:
    """Two leaderships, a shrunken and a grown ISR, consumers, nothing lost."""
    told = Telling()
    told.lead(0, 1, hw=0)
    for replica in (2, 3):
        told.fetch(replica, 0)
    told.append(5)
    for replica in (2, 3):
        told.fetch(replica, 5)
    told.change_isr(1, 2)
    told.append(3)
    told.fetch(2, 8)
    told.fetch(3, 8)
    told.change_isr(1, 2, 3)
    told.consume(7)
    told.append(2)
    for replica in (2, 3, 2, 3):
        told.fetch(replica, 10)
    told.consume(8)
    told.lead(1, 2, hw=8)
    for replica in (1, 3):
        told.fetch(replica, 10)
    told.append(1)
    for replica in (1, 3):
        told.fetch(replica, 11)
    return _with_ends(told.rows)


def _with_ends(rows: Tables) -> Tables:
    """Each state of a replica ends when its next one begins."""
    ends: dict[int, Any] = {}
    for row in reversed(rows[T.REPLICA_TIMELINE]):
        row["valid_to"] = ends.get(row["replica_id"])
        ends[row["replica_id"]] = row["valid_from"]
    return rows
