"""What a leader knows: its ISR, what is in flight about it, each other replica's LEO; and when the HW may rise."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.twin.log import UNKNOWN, Log
from tests.twin.profile import Profile

NEVER = -(10**12)


@dataclass
class Remote:
    """What the leader knows of another replica (ReplicaState)."""

    log_end_offset: int = UNKNOWN
    last_fetch_leader_log_end_offset: int = UNKNOWN
    last_fetch_time: int = NEVER
    last_caught_up_time: int = NEVER
    broker_epoch: int | None = None

    def fetched(self, offset: int, leader_log_end_offset: int, now: int, broker_epoch: int) -> None:
        """A fetch at `offset` was accepted (Replica.updateFetchStateOrThrow)."""
        if offset >= leader_log_end_offset:
            self.last_caught_up_time = max(self.last_caught_up_time, now)
        elif offset >= self.last_fetch_leader_log_end_offset:
            self.last_caught_up_time = max(self.last_caught_up_time, self.last_fetch_time)
        self.log_end_offset = offset
        self.last_fetch_leader_log_end_offset = max(leader_log_end_offset, self.last_fetch_leader_log_end_offset)
        self.last_fetch_time = now
        self.broker_epoch = broker_epoch


@dataclass(frozen=True)
class Registration:
    """A broker as the metadata has it: the epoch of its last registration, and whether it is fenced."""

    broker_epoch: int
    is_fenced: bool = False


@dataclass
class Rules:
    """What brokers begin with: the version's rules, the settings in force; the controller's registrations."""

    profile: Profile
    lag_ms: int
    min_isr: int
    registrations: dict[int, Registration] = field(default_factory=dict)


@dataclass
class Leader:
    """The state of a broker while it leads.

    `profile` and `lag_ms` are its process's own, `registrations` those of the metadata that it has applied.
    """

    rules: Rules
    profile: Profile
    lag_ms: int
    log: Log
    registrations: dict[int, Registration]
    isr: frozenset[int] = frozenset()
    joining: int | None = None
    leaving: frozenset[int] | None = None
    epoch_start_offset: int = 0
    remotes: dict[int, Remote] = field(default_factory=dict)

    @property
    def in_flight(self) -> bool:
        """A change of the ISR was proposed and is not answered."""
        return self.joining is not None or self.leaving is not None

    @property
    def maximal_isr(self) -> frozenset[int]:
        """The committed ISR and a replica whose joining is in flight. One whose leaving is in flight still counts."""
        return self.isr if self.joining is None else self.isr | {self.joining}

    @property
    def min_isr(self) -> int:
        """min.insync.replicas, but since 3.7 never more than there are replicas."""
        return min(self.rules.min_isr, len(self.remotes) + 1) if self.profile.min_isr_gate else self.rules.min_isr

    @property
    def is_under_min_isr(self) -> bool:
        """The committed ISR is too small, whatever is in flight."""
        return len(self.isr) < self.min_isr

    def commit(self, isr: frozenset[int]) -> None:
        """The committed ISR is `isr` and nothing is in flight any more."""
        self.isr, self.joining, self.leaving = isr, None, None

    def set_replicas(self, others: set[int]) -> None:
        """The assignment, without the leader itself: new replicas are unknown, dropped ones forgotten."""
        self.remotes = {r: self.remotes.get(r, Remote()) for r in sorted(others)}

    def reset_remotes(self, *, is_new_leader: bool, now: int) -> None:
        """A new leader epoch begins (Replica.resetReplicaState)."""
        for replica_id, old in self.remotes.items():
            in_isr = replica_id in self.isr
            self.remotes[replica_id] = Remote(
                log_end_offset=UNKNOWN if is_new_leader else old.log_end_offset,
                last_fetch_leader_log_end_offset=UNKNOWN if is_new_leader else self.log.log_end_offset,
                last_fetch_time=now if in_isr and not is_new_leader else NEVER,
                last_caught_up_time=now if in_isr else NEVER,
                broker_epoch=None if is_new_leader else old.broker_epoch,
            )

    def may_join(self, replica_id: int) -> bool:
        """Not fenced, and has fetched from me in its present registration (isReplicaIsrEligible)."""
        remote, registration = self.remotes[replica_id], self.registrations[replica_id]
        if registration.is_fenced or remote.broker_epoch is None:
            return False
        return remote.broker_epoch in (UNKNOWN, registration.broker_epoch)

    def is_caught_up(self, replica_id: int, now: int) -> bool:
        """At my LEO, or was so within the lag time."""
        remote = self.remotes[replica_id]
        at_end = remote.log_end_offset == self.log.log_end_offset
        return at_end or now - remote.last_caught_up_time <= self.lag_ms

    def out_of_sync(self, now: int) -> frozenset[int]:
        """The members that are to leave the ISR; none while a change is in flight."""
        if self.in_flight:
            return frozenset()
        return frozenset(r for r in self.remotes if r in self.isr and not self.is_caught_up(r, now))

    def holds_high_watermark(self, replica_id: int, now: int) -> bool:
        """The HW waits for it: it is in the maximal ISR, or caught up and about to join."""
        if replica_id in self.maximal_isr:
            return True
        may_join = self.may_join(replica_id) if self.profile.eligibility else True
        return self.is_caught_up(replica_id, now) and may_join

    def try_raise_high_watermark(self, now: int) -> bool:
        """Partition.maybeIncrementLeaderHW; True if it rose."""
        if self.profile.min_isr_gate and self.is_under_min_isr:
            return False
        lowest = self.log.log_end_offset
        for replica_id, remote in self.remotes.items():
            if remote.log_end_offset < lowest and self.holds_high_watermark(replica_id, now):
                lowest = remote.log_end_offset
        if lowest <= self.log.high_watermark:
            return False
        self.log.high_watermark = lowest
        return True

    def maybe_propose_joining(self, replica_id: int) -> None:
        """A fetch of a replica outside the ISR, at or past the HW and the epoch's start, asks for its joining."""
        if self.in_flight or replica_id in self.isr:
            return
        if self.profile.broker_epochs and not self.may_join(replica_id):
            return
        if self.profile.fenced_may_not_join and self.registrations[replica_id].is_fenced:
            return
        offset = self.remotes[replica_id].log_end_offset
        if offset >= self.log.high_watermark and offset >= self.epoch_start_offset:
            self.joining = replica_id
