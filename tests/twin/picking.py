"""What may happen next: weights that make faults common, and offsets that fit the moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random

from tests.twin import commands as happens
from tests.twin import faults, traffic, trouble
from tests.twin.commands import Command
from tests.twin.model import Cluster

Picker = Callable[[Cluster, Random], Iterable[Command]]


@dataclass(frozen=True)
class Features:
    """Which kinds of trouble a history may have; all by default but requests that are in no log."""

    restarts: bool = True
    unclean: bool = True
    late_metadata: bool = True
    log_start: bool = True
    reassignment: bool = True
    transactions: bool = True
    fencing: bool = True
    lost_requests: bool = False


def pick(cluster: Cluster, random: Random, features: Features) -> Iterator[Command]:
    """A few steps that belong together, each drawn when the one before has been tried; each may be impossible."""
    weights = [(weight, picker) for weight, needs, picker in PICKERS if needs == "" or getattr(features, needs)]
    (_, picker), *_ = random.choices(weights, [weight for weight, _ in weights])
    for command in picker(cluster, random):
        if not features.lost_requests:
            yield from _answered_before(cluster, command)
        yield command if features.late_metadata else _in_time(command)


def _in_time(command: Command) -> Command:
    if isinstance(command, faults.Elect):
        return faults.Elect(command.leader, command.epoch, command.unclean, command.isr)
    if isinstance(command, faults.Restart):
        return faults.Restart(command.broker, command.high_watermark, command.log_end_offset)
    return command


def _answered_before(cluster: Cluster, command: Command) -> Iterator[Command]:
    """Before a broker is killed, what it has not answered is answered, so that its log tells of all it did."""
    if isinstance(command, faults.Kill):
        yield from [happens.Respond(p.replica) for p in cluster.parked.get(command.broker, [])]
        if cluster.waiting.get(command.broker):
            yield happens.TimeOutProduces()


PICKERS: tuple[tuple[float, str, Picker], ...] = (
    (20, "", traffic.append),
    (40, "", traffic.fetch),
    (8, "", traffic.fetch_all),
    (5, "", traffic.respond),
    (3, "", traffic.consume),
    (8, "", traffic.check_isr),
    (10, "", traffic.settle_isr),
    (1, "", trouble.shrink_by_controller),
    (6, "", trouble.pass_time),
    (4, "", trouble.elect),
    (3, "unclean", trouble.elect_unclean),
    (2, "restarts", trouble.kill),
    (3, "restarts", trouble.kill_leader),
    (8, "restarts", trouble.restart),
    (8, "", trouble.tell),
    (1, "", trouble.min_isr),
    (1, "log_start", traffic.log_start),
    (2, "reassignment", trouble.reassign),
    (3, "transactions", traffic.transact),
    (2, "fencing", trouble.fence),
    (1, "", traffic.time_out),
)
