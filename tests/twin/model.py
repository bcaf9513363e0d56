"""The cluster: brokers, a controller's word on one partition, a clock, and what is under way between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.twin.commands import NotNowError
from tests.twin.leader import Leader, Registration, Rules
from tests.twin.log import UNKNOWN, Log, Record
from tests.twin.profile import Profile
from tests.twin.rows import Row, Rows, at

WHY = {"out_of_range": "truncation_out_of_range", "high_watermark": "truncation_to_high_watermark"}
"""What a fetcher says of a cut that is not by the answer to an epoch; of the oldest rule it says nothing."""


@dataclass
class Clock:
    """One clock for all brokers; it moves by at least a millisecond between any two events."""

    now: int = 0

    def tick(self, milliseconds: int = 1) -> int:
        """Let time pass and tell it."""
        self.now += milliseconds
        return self.now


@dataclass
class Fetcher:
    """A follower's fetch session with its leader, as the leader's request log shows it."""

    session_id: int
    leader_incarnation: int
    session_epoch: int = -1
    sent: tuple[int, int] = (UNKNOWN, UNKNOWN)
    asked: tuple[int, int, int, int] | None = None
    has_failed: bool = False


@dataclass
class Broker:
    """A broker's process and its replica of the partition."""

    id: int
    log: Log = field(default_factory=Log)
    is_alive: bool = True
    incarnation: int = 0
    leader_id: int = -1
    leader_epoch: int = -1
    partition_epoch: int = -1
    leading: Leader | None = None
    fetcher: Fetcher | None = None
    is_truncating: bool = False
    last_batch: tuple[int, list[Record]] | None = None
    profile: Profile | None = None
    lag_ms: int | None = None
    """What its process plays by, where that is not what all began with."""


@dataclass(frozen=True)
class PartitionState:
    """The partition as the controller has it."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: frozenset[int]
    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    is_unclean: bool = False


@dataclass
class ParkedFetch:
    """A follower's fetch that waits in purgatory at a leader."""

    replica: int
    fetcher: Fetcher
    offset: int
    gets: int | None
    dropped: bool
    request: Row
    expected: Row


@dataclass
class WaitingProduce:
    """An append with acks=all that is not acknowledged."""

    last_offset: int
    line: Row


@dataclass
class Cluster:
    """Everything there is."""

    rules: Rules
    rows: Rows
    clock: Clock = field(default_factory=Clock)
    brokers: dict[int, Broker] = field(default_factory=dict)
    controller: PartitionState = PartitionState(-1, -1, -1, frozenset(), ())
    parked: dict[int, list[ParkedFetch]] = field(default_factory=dict)
    waiting: dict[int, list[WaitingProduce]] = field(default_factory=dict)
    sessions: int = 0
    serials: int = 0

    def alive(self, broker_id: int) -> Broker:
        """The broker, if its process runs."""
        broker = self.brokers.get(broker_id)
        if broker is None or not broker.is_alive:
            raise NotNowError(f"broker {broker_id} is not alive")
        return broker

    def profile_of(self, broker: Broker) -> Profile:
        """What its process plays by."""
        return broker.profile or self.rules.profile

    def leading(self, broker_id: int | None = None) -> tuple[Broker, Leader]:
        """The broker (by default the controller's leader) and what it knows as a leader."""
        broker = self.alive(self.controller.leader if broker_id is None else broker_id)
        if broker.leading is None:
            raise NotNowError(f"broker {broker.id} does not lead")
        return broker, broker.leading

    def new_fetcher(self, leader_id: int) -> Fetcher:
        """A fetcher with a session of its own."""
        self.sessions += 1
        return Fetcher(self.sessions, self.brokers[leader_id].incarnation)

    def same_or_new_fetcher(self, before: Fetcher | None, leader_id: int) -> Fetcher:
        """The one before if it is of the same process: added anew, it takes what it waits for."""
        if before is None or before.leader_incarnation != self.brokers[leader_id].incarnation:
            return self.new_fetcher(leader_id)
        before.has_failed = False
        return before

    def new_serial(self) -> int:
        """A number no record has yet."""
        self.serials += 1
        return self.serials

    def register(self, broker_id: int, *, is_fenced: bool) -> None:
        """The metadata log has a new word on a broker; a living one gets a new broker epoch with each process.

        A leader that has not applied what the log says of the partition before has not applied this either.
        """
        old = self.rules.registrations.get(broker_id)
        broker_epoch = 100 * broker_id + self.brokers[broker_id].incarnation
        if old == Registration(broker_epoch, is_fenced):
            return
        if is_fenced and old is not None:
            broker_epoch = old.broker_epoch
            if old.is_fenced:
                return
        registration = self.rules.registrations[broker_id] = Registration(broker_epoch, is_fenced)
        for broker in self.brokers.values():
            if broker.leading and broker.partition_epoch == self.controller.partition_epoch:
                broker.leading.registrations[broker_id] = registration
        if self.rules.profile.kraft:
            self.rows.registration(self.clock.now, broker_id, broker_epoch, is_fenced=is_fenced)

    def note_metadata(self) -> None:
        """The partition's record in the metadata log."""
        state = self.controller
        self.rows.metadata(
            self.clock.now, leader_epoch=state.leader_epoch, partition_epoch=state.partition_epoch,
            leader_id=state.leader, isr=sorted(state.isr), replicas=list(state.replicas),
            adding_replicas=list(state.adding), is_unclean=state.is_unclean,
        )  # fmt: skip

    def note(self) -> None:
        """Keep what is true of each living replica now, where it changed."""
        living = [self.brokers[r] for r in self.controller.replicas if self.brokers[r].is_alive]
        self.rows.know(self.clock.now, [self._replica(b) for b in living if b.leader_epoch >= 0])

    def _replica(self, broker: Broker) -> Row:
        leads = [b.leading for b in self.brokers.values() if b.leading and b.leader_epoch == broker.leader_epoch]
        remote = leads[0].remotes.get(broker.id) if leads else None
        known = broker.log.log_end_offset if broker.leading else remote.log_end_offset if remote else UNKNOWN
        return {
            "replica_id": broker.id,
            "leader_epoch": broker.leader_epoch,
            "role": "LEADER" if broker.leading else "FOLLOWER",
            "log_end_offset": broker.log.log_end_offset,
            "remote_log_end_offset": known,
            "high_watermark": broker.log.high_watermark,
            "log_start_offset": broker.log.log_start_offset,
            "in_isr": broker.id in (leads[0].isr if leads else self.controller.isr),
        }

    def note_leader(self, broker: Broker, event_type: str, replica_id: int = -1, change_kind: str = "") -> Row:
        """Keep what the leader knows after an event. `is_logged` turns False if no line will tell of the event."""
        leader = broker.leading
        assert leader is not None
        row: Row = {
            "topic": self.rows.topic, "topic_id": self.rows.topic_id, "partition": self.rows.partition,
            "event_time": at(self.clock.now), "event_type": event_type, "change_kind": change_kind,
            "leader_epoch": broker.leader_epoch, "partition_epoch": broker.partition_epoch,
            "incarnation": broker.incarnation, "leader_id": broker.id, "replica_id": replica_id,
            "log_end_offset": broker.log.log_end_offset,
            "remote_log_end_offset": {r: remote.log_end_offset for r, remote in leader.remotes.items()},
            "isr": sorted(leader.isr), "maximal_isr": sorted(leader.maximal_isr), "min_isr": leader.min_isr,
            "is_under_min_isr": leader.is_under_min_isr, "high_watermark": broker.log.high_watermark,
            "log_start_offset": broker.log.log_start_offset,
            "last_stable_offset": broker.log.last_stable_offset, "is_logged": True,
        }  # fmt: skip
        self.rows.leader.append(row)
        self.note()
        return row

    def truncate(self, broker: Broker, target: int, method: str) -> None:
        """Cut a replica's log and say so, as its log would, and its fetcher why, if it has a line for that."""
        log, now = broker.log, self.clock.now
        from_offset, high_watermark = log.log_end_offset, log.high_watermark
        if says := WHY.get(method if method != self.rules.profile.truncation else ""):
            self.rows.state("truncation_target", broker.id, now, broker.leader_epoch, target)
            self.rows.state(says, broker.id, now, broker.leader_epoch, target)
        log.truncate_to(target)
        kind = "truncated_to" if target < from_offset else "truncated_without_effect"
        self.rows.state(kind, broker.id, now, broker.leader_epoch, min(target, from_offset))
        self.lost(broker, from_offset, high_watermark, method)

    def lost(self, broker: Broker, from_offset: int, high_watermark: int, method: str) -> None:
        """A replica's log ends earlier than it did."""
        if broker.log.log_end_offset < from_offset:
            self.rows.truncated(
                self.clock.now, replica_id=broker.id, leader_epoch=broker.leader_epoch, from_offset=from_offset,
                to_offset=broker.log.log_end_offset, high_watermark_before=high_watermark, method=method,
            )  # fmt: skip
        self.note()
