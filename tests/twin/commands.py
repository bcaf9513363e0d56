"""What can happen to the records and the ISR: one class a kind of line of the notation, written back by `str`."""

from __future__ import annotations

from dataclasses import dataclass


class NotNowError(Exception):
    """The cluster is not in a state where this can happen; nothing has changed."""


def ids(replicas: tuple[int, ...] | frozenset[int]) -> str:
    """Replica ids as the notation writes them."""
    return " ".join(map(str, replicas if isinstance(replicas, tuple) else sorted(replicas)))


def line(head: str, *options: str | bool) -> str:
    """A line of the notation with those of its options that are said."""
    return ", ".join([head, *(o for o in options if isinstance(o, str) and o)])


@dataclass(frozen=True)
class Command:
    """Something that happens."""


@dataclass(frozen=True)
class Lead(Command):
    """The partition is created."""

    leader: int
    epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.leader} leads epoch {self.epoch}, replicas {ids(self.replicas)}, isr {ids(self.isr)}"


@dataclass(frozen=True)
class Append(Command):
    """A produce request; of 0 records it repeats the last batch of an idempotent producer."""

    count: int
    acks: int = 1
    at: int | None = None
    txn: int = -1

    def __str__(self) -> str:
        acks = {-1: "acks all", 0: "acks 0", 1: ""}[self.acks]
        at = "" if self.at is None else f"at {self.at}"
        return line(f"append {self.count}", acks, f"txn {self.txn}" if self.txn >= 0 else "", at)


@dataclass(frozen=True)
class EndTransaction(Command):
    """A transaction marker is written."""

    txn: int
    result: str

    def __str__(self) -> str:
        return f"{self.result} {self.txn}"


@dataclass(frozen=True)
class TimeOutProduces(Command):
    """Every append that waits for its acks gives up waiting."""

    def __str__(self) -> str:
        return "produces time out"


@dataclass(frozen=True)
class Fetch(Command):
    """A follower asks for what follows its log. `gets` limits the records it is sent."""

    replica: int
    offset: int
    gets: int | None = None
    at_once: bool = False
    parked: bool = False
    dropped: bool = False

    def __str__(self) -> str:
        gets = "" if self.gets is None else f"gets {self.gets}"
        flags = (self.at_once and "at once", self.parked and "parked", self.dropped and "dropped")
        return line(f"{self.replica} fetches at {self.offset}", gets, *flags)


@dataclass(frozen=True)
class Respond(Command):
    """A parked fetch is answered though nothing came (its time is up, or another partition of it had data)."""

    replica: int

    def __str__(self) -> str:
        return f"response to {self.replica}"


@dataclass(frozen=True)
class ConsumerFetch(Command):
    """A consumer asks the leader."""

    offset: int
    read_committed: bool = False

    def __str__(self) -> str:
        return line(f"consumer fetches at {self.offset}", self.read_committed and "read_committed")


@dataclass(frozen=True)
class ProposeIsr(Command):
    """The leader asks to shrink the ISR."""

    isr: tuple[int, ...]

    def __str__(self) -> str:
        return f"propose isr {ids(self.isr)}"


@dataclass(frozen=True)
class CheckIsr(Command):
    """The leader looks for members that are out of sync, and finds none."""

    def __str__(self) -> str:
        return "nobody is out of sync"


@dataclass(frozen=True)
class CommitIsr(Command):
    """The controller commits an ISR; the leader learns of it by its response, or by metadata."""

    isr: tuple[int, ...]
    by_metadata: bool = False

    def __str__(self) -> str:
        return line(f"isr {ids(self.isr)}", self.by_metadata and "by metadata")


@dataclass(frozen=True)
class RejectIsr(Command):
    """The controller refuses the change in flight."""

    def __str__(self) -> str:
        return "reject"


@dataclass(frozen=True)
class Truncate(Command):
    """A follower asks for the end of its last epoch (OffsetsForLeaderEpoch) and cuts there."""

    replica: int
    to: int | None = None

    def __str__(self) -> str:
        return f"{self.replica} truncates" + ("" if self.to is None else f" to {self.to}")


@dataclass(frozen=True)
class MoveLogStart(Command):
    """Records below an offset are deleted (DeleteRecords, or retention)."""

    offset: int

    def __str__(self) -> str:
        return f"log start {self.offset}"
