"""What happens to brokers, the controller and the clock: the other kinds of line of the notation."""

from __future__ import annotations

from dataclasses import dataclass

from tests.twin.commands import Command, ids, line


@dataclass(frozen=True)
class Elect(Command):
    """The controller makes a leader; dead brokers are fenced with it. `untold` hear of it later."""

    leader: int
    epoch: int
    unclean: bool = False
    isr: tuple[int, ...] = ()
    untold: tuple[int, ...] = ()

    def __str__(self) -> str:
        isr = f"isr {ids(self.isr)}" if self.isr else ""
        untold = f"{ids(self.untold)} not told" if self.untold else ""
        return line(f"{self.leader} is elected epoch {self.epoch}", self.unclean and "unclean", isr, untold)


@dataclass(frozen=True)
class NoLeader(Command):
    """Nobody can lead: the epoch is bumped, the ISR kept."""

    epoch: int

    def __str__(self) -> str:
        return f"no leader epoch {self.epoch}"


@dataclass(frozen=True)
class Tell(Command):
    """A broker applies the newest metadata; the leader may apply again what its response already told."""

    broker: int

    def __str__(self) -> str:
        return f"tell {self.broker}"


@dataclass(frozen=True)
class Kill(Command):
    """A broker's process ends at once."""

    broker: int

    def __str__(self) -> str:
        return f"kill {self.broker}"


@dataclass(frozen=True)
class Restart(Command):
    """Its next process: the HW of the checkpoint, the LEO that was recovered; its release and lag time, if new."""

    broker: int
    high_watermark: int | None = None
    log_end_offset: int | None = None
    untold: bool = False
    kafka: str = ""
    lag_s: int | None = None

    def __str__(self) -> str:
        hw = "" if self.high_watermark is None else f" hw {self.high_watermark}"
        leo = "" if self.log_end_offset is None else f" leo {self.log_end_offset}"
        lag = "" if self.lag_s is None else f"lag {self.lag_s} s"
        return line(
            f"restart {self.broker}{hw}{leo}", self.untold and "not told", self.kafka and f"kafka {self.kafka}", lag
        )


@dataclass(frozen=True)
class PassTime(Command):
    """Time passes; a fetch parked for half a second of it is answered."""

    milliseconds: int

    def __str__(self) -> str:
        whole = self.milliseconds % 1000 == 0
        return f"time +{self.milliseconds // 1000} s" if whole else f"time +{self.milliseconds} ms"


@dataclass(frozen=True)
class SetMinIsr(Command):
    """min.insync.replicas of the topic is changed."""

    min_isr: int

    def __str__(self) -> str:
        return f"min isr {self.min_isr}"


@dataclass(frozen=True)
class SetReplicas(Command):
    """The assignment changes: replicas are added, or (with a new epoch of the same leader) dropped."""

    replicas: tuple[int, ...]
    epoch: int | None = None

    def __str__(self) -> str:
        return line(f"replicas {ids(self.replicas)}", "" if self.epoch is None else f"epoch {self.epoch}")


@dataclass(frozen=True)
class Fence(Command):
    """The controller fences a broker that is not the leader, and takes it out of the ISR."""

    broker: int

    def __str__(self) -> str:
        return f"fence {self.broker}"


@dataclass(frozen=True)
class Unfence(Command):
    """A fenced broker that lives is heard of again."""

    broker: int

    def __str__(self) -> str:
        return f"unfence {self.broker}"
