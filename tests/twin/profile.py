"""Which rules a cluster plays by: they follow from the Kafka version and the protocol version between its brokers."""

from __future__ import annotations

from dataclasses import dataclass


def _number(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


@dataclass(frozen=True)
class Profile:
    """A Kafka version with an inter.broker.protocol.version, not older than Kafka 2.6 in its code."""

    kafka_version: str = "4.1.0"
    protocol_version: str = "4.1"

    @property
    def truncation(self) -> str:
        """high_watermark (before KIP-101), leader_epoch (KIP-101 and 279) or fetch_divergence (KIP-595)."""
        protocol = _number(self.protocol_version)
        if protocol < (0, 11):
            return "high_watermark"
        return "leader_epoch" if protocol < (2, 7) else "fetch_divergence"

    @property
    def min_isr_gate(self) -> bool:
        """The HW stands while the committed ISR is below min ISR, which replicas cap (KIP-966 part 1)."""
        return _number(self.kafka_version) >= (3, 7)

    @property
    def eligibility(self) -> bool:
        """A replica outside the ISR holds the HW only if it may join (KAFKA-15021)."""
        return _number(self.kafka_version) >= (3, 6)

    @property
    def fenced_may_not_join(self) -> bool:
        """A fenced replica is not proposed for the ISR (KIP-841)."""
        return _number(self.kafka_version) >= (3, 3)

    @property
    def evaluates_commits(self) -> bool:
        """With the controller's answer to an ISR change the HW is evaluated (KAFKA-13091)."""
        return self.instant_isr or _number(self.kafka_version) >= (3, 1)

    @property
    def evaluates_each_fetch(self) -> bool:
        """A fetch evaluates the HW also if it moves no LEO (until 2.3; KAFKA-8841)."""
        return _number(self.kafka_version) < (2, 4)

    @property
    def heeds_divergence(self) -> bool:
        """A follower takes the HW of a diverging response before it cuts its log (until 3.4)."""
        return tuple(int(x) for x in self.kafka_version.split(".")) < (3, 4, 1)

    @property
    def records_divergence(self) -> bool:
        """The leader records a fetch that diverges like any other (KAFKA-13141)."""
        return self.kafka_version == "2.8.0"

    @property
    def records_batch_start(self) -> bool:
        """Of a fetch from within a batch the leader records the batch's first offset (KAFKA-17803)."""
        return _number(self.kafka_version) >= (4, 0)

    @property
    def broker_epochs(self) -> bool:
        """A fetch states its broker epoch; without the right one, or fenced, no replica joins the ISR (KIP-903)."""
        return _number(self.protocol_version) >= (3, 5)

    @property
    def instant_isr(self) -> bool:
        """The leader writes ISR changes to ZooKeeper itself: nothing is ever in flight (before KIP-497)."""
        return _number(self.protocol_version) < (2, 7)

    @property
    def fetch_states_epoch(self) -> bool:
        """A fetch says which leader epoch its sender believes in (KIP-320, protocol 2.1)."""
        return _number(self.protocol_version) >= (2, 1)

    @property
    def sessions_forget_epochs(self) -> bool:
        """In a fetch session nobody looks at it (up to 2.4)."""
        return self.fetch_states_epoch and _number(self.kafka_version) < (2, 5)

    @property
    def fetch_sessions(self) -> bool:
        """A fetch leaves out what has not changed (KIP-227)."""
        return _number(self.protocol_version) >= (1, 1)

    @property
    def kraft(self) -> bool:
        """The metadata is a log that brokers apply; before, ZooKeeper with a controller's requests."""
        return _number(self.protocol_version) >= (3, 0)

    @property
    def shrink_bumps_epoch(self) -> bool:
        """Whenever the controller takes a replica out of the ISR, the leader starts a new epoch (before 3.6-IV0)."""
        return _number(self.protocol_version) < (3, 6)


PROFILES = (
    Profile("4.1.0", "4.1"),
    Profile("3.7.0", "3.7"),
    Profile("3.6.1", "3.6"),
    Profile("3.5.2", "3.5"),
    Profile("3.2.3", "3.2"),
    Profile("2.8.2", "2.8"),
    Profile("2.8.2", "2.6"),
    Profile("2.8.2", "0.10.2"),
)
"""What a history's seed draws from."""

OTHER_PROFILES = (
    Profile("2.8.0", "2.8"), Profile("3.3.2", "3.3"), Profile("3.4.1", "3.4"), Profile("2.4.1", "2.4"),
    Profile("2.3.1", "2.3"),
)  # fmt: skip
"""By rules, or a mixture of them, that none of those plays by."""
