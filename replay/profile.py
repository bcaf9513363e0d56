"""Protocol versions as named profiles: what changed, and since when; data, not code paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from pyspark.sql import Column


class Truncation(StrEnum):
    """By which rule a follower cuts its log when a new leader is elected."""

    HIGH_WATERMARK = "high_watermark"
    """To its own HW (`ReplicaManager.makeFollowers` before KIP-101, protocol 0.11.0)."""
    LEADER_EPOCH = "leader_epoch"
    """To the end offset of its latest epoch at the leader (KIP-101 and KIP-279)."""
    FETCH_DIVERGENCE = "fetch_divergence"
    """To the diverging epoch of a fetch response (KIP-595, protocol 2.7-IV1)."""


@dataclass(frozen=True)
class Profile:
    """The rules a cluster replicates by: a Kafka version, its protocol, and the settings that bear on the HW.

    A rule may be a Column of the partition key: then each cluster or topic is replayed by its own, in one job.
    """

    truncation: Truncation | Column = Truncation.FETCH_DIVERGENCE
    """By which rule a follower cuts its log: to its HW, by its latest leader epoch (KIP-101), or by what its fetch is
    answered (KIP-595)."""
    min_isr_gate: bool | Column = True
    """The HW stands still while the committed ISR is under the effective min ISR (KIP-966, 3.7; KAFKA-15583): that
    is at most as many as there are replicas; before, it is the setting."""
    eligibility: bool | Column = True
    """A caught-up replica outside the ISR holds the HW only if it may join (3.6; KAFKA-15021)."""
    fenced_may_not_join: bool | Column = True
    """A replica that is fenced or shutting down is not proposed for the ISR (3.3; KIP-841)."""
    evaluates_commits: bool | Column = True
    """The HW is evaluated when an ISR is committed (3.1; KAFKA-13091), or was by the leader itself (before 2.7-IV2). In
    between its committing waits for the controller, and the HW is evaluated when a smaller ISR is proposed."""
    evaluates_each_fetch: bool | Column = False
    """The HW is evaluated at each fetch of a follower, also one that changes no LEO (before 2.4; KAFKA-8841)."""
    heeds_divergence: bool | Column = False
    """A follower takes the HW of a response that tells of divergence, and truncates after that (before 3.4.1)."""
    records_divergence: bool | Column = False
    """A leader records the offset of a fetch whose log diverges, too (2.8.0 alone; KAFKA-13141)."""
    records_batch_start: bool | Column = True
    """Of a fetch from within a batch the leader records the batch's first offset (4.0; KAFKA-17803)."""
    elects_eligible: bool | Column = True
    """A replica outside the ISR may be elected cleanly: one that was in it as it fell below min ISR (4.0; KIP-966)."""
    states_broker_epochs: bool | Column = True
    """A fetch states its sender's broker epoch; without one (-1), any registration will do (3.5-IV1; KIP-903)."""
    fetches_state_epoch: bool | Column = True
    """A fetch says which leader epoch its sender believes in, and is served in no other (KIP-320; 2.5, for from 2.1 on
    it says so, but a fetch session forgets it)."""
    lag_time_ms: int | Column = 30_000
    """replica.lag.time.max.ms (30 s since 2.5, 10 s before)."""
    has_transactions: bool = False
    """Some producer wrote transactions: the LSO may lie below the HW, and is worked out at the price of a sort."""
    has_untold_transactions: bool = False
    """Of some append nothing tells whose transaction it is, or whether it is of one: the LSO is what responses told."""
    has_controllers_requests: bool = False
    """A ZooKeeper kept the metadata, and controllers told brokers by LEADER_AND_ISR what leaders' lines leave out."""
    has_silence: bool = False
    """Leaders changed something while their request log was silent, or had none: what they did is bounded."""
    has_silence_within: bool = False
    """Not only where request logs end: then what a later delivery brings leaves nothing before it as it stands."""

    has_clocks_apart: bool = False
    """Times were put on one clock before: those of an earlier replay need not be on the same."""
    has_outsiders: bool = True
    """Some replica was outside its ISR at some time: only then may one hold the HW that is no member."""
    has_returns: bool = True
    """Some leader leads on, never told of one in between: tenures do not rise with epochs, a sort more orders them."""
    has_long_tenures: bool = True
    """Some process led in more than one leadership in a row: what it knows outlives one, in windows of their own."""
    has_unstated_starts: bool = True
    """Of some leadership no line states the LEO it began with: its first append tells, by a window more."""
    has_untold_isr: bool = False
    """Of some leadership no line tells the ISR, or none that it began: it is inferred, and the HW bounded by it."""

    by_broker: tuple[InForce, ...] = ()
    """What else brokers' processes play by, where some were upgraded or set anew: see `replay.brokers_rules`."""

    def with_changes(self, **changes: object) -> Profile:
        """Return this profile with these fields changed, at each broker too."""
        own = {"by_broker": tuple(replace(one, rules=one.rules.with_changes(**changes)) for one in self.by_broker)}
        return replace(self, **(own | changes))  # type: ignore[arg-type]


@dataclass(frozen=True)
class InForce:
    """From when on the processes of a broker play by other rules than the profile's."""

    broker_id: int
    """`NO_REPLICA`: each of which no line tells."""
    since_us: int
    """Microseconds since the epoch, on its own clock."""
    rules: Profile
