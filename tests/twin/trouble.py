"""What goes wrong, or is changed by somebody: as a random history picks it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.twin import commands as happens
from tests.twin import faults
from tests.twin.commands import Command
from tests.twin.model import Cluster


def _living(cluster: Cluster) -> list[int]:
    return [b.id for b in cluster.brokers.values() if b.is_alive]


def shrink_by_controller(cluster: Cluster, random: Random) -> list[Command]:
    """The controller takes somebody out."""
    state = cluster.controller
    others = [r for r in state.isr if r != state.leader]
    out = random.choice(others) if others else None
    return [happens.CommitIsr(tuple(sorted(state.isr - {out})), by_metadata=True)] if out else []


def pass_time(cluster: Cluster, random: Random) -> list[Command]:
    """Time passes, now and then until exactly the lag time of somebody."""
    lag = cluster.rules.lag_ms
    broker = cluster.brokers.get(cluster.controller.leader)
    if broker and broker.leading and random.random() < 0.3:
        last = [remote.last_caught_up_time for remote in broker.leading.remotes.values()]
        exactly = random.choice(last or [0]) + lag - cluster.clock.now - random.choice((0, 1, 2))
        if exactly > 0:
            return [faults.PassTime(exactly)]
    return [faults.PassTime(random.choice((7, 40, 300, 600, lag // 3, lag // 2, lag, 2 * lag)))]


def elect(cluster: Cluster, random: Random) -> list[Command]:
    """Anybody of the ISR that lives is elected; some hear of it later."""
    state, living = cluster.controller, _living(cluster)
    candidates = [r for r in state.isr if r in living]
    if not candidates:
        return []
    untold = tuple(r for r in living if random.random() < 0.15)
    return [faults.Elect(random.choice(candidates), state.leader_epoch + 1, untold=untold)]


def elect_unclean(cluster: Cluster, random: Random) -> list[Command]:
    """Nobody of the ISR lives: somebody else is elected."""
    state, living = cluster.controller, _living(cluster)
    candidates = [r for r in state.replicas if r in living and r not in state.isr]
    if not candidates or any(r in living for r in state.isr):
        return []
    return [faults.Elect(random.choice(candidates), state.leader_epoch + 1, unclean=True)]


def kill(cluster: Cluster, random: Random) -> Iterator[Command]:
    """Anybody dies; of a follower the controller often takes notice soon."""
    living = _living(cluster)
    if len(living) < 2 and random.random() < 0.7:
        return
    for broker_id in random.sample(living, min(1, len(living))):
        yield faults.Kill(broker_id)
        if random.random() < 0.6:
            by_controller = happens.CommitIsr(tuple(sorted(cluster.controller.isr - {broker_id})), by_metadata=True)
            yield faults.Fence(broker_id) if cluster.rules.profile.kraft else by_controller


def kill_leader(cluster: Cluster, random: Random) -> list[Command]:
    """The leader dies, and the controller does what it can."""
    state = cluster.controller
    heirs = [r for r in state.isr if r in _living(cluster) and r != state.leader]
    if state.leader not in _living(cluster):
        return []
    after: list[Command] = [faults.NoLeader(state.leader_epoch + 1)] if random.random() < 0.5 else []
    if heirs:
        after = [faults.Elect(random.choice(heirs), state.leader_epoch + 1)]
    return [faults.Kill(state.leader), *after]


def restart(cluster: Cluster, random: Random) -> list[Command]:
    """A dead broker comes back, perhaps without its last records, perhaps with an old checkpoint."""
    dead = [b for b in cluster.brokers.values() if not b.is_alive]
    if not dead:
        return []
    broker = random.choice(dead)
    log = broker.log
    lost = random.choice((0, 0, 0, 1, 2, 5))
    leo = max(log.log_start_offset, log.log_end_offset - lost)
    hw = random.choice((log.high_watermark, log.high_watermark, max(0, log.high_watermark - random.randint(1, 6)), 0))
    return [faults.Restart(broker.id, hw, leo, random.random() < 0.1)]


def tell(cluster: Cluster, random: Random) -> list[Command]:
    """Somebody late hears of the newest metadata."""
    late = [r for r in _living(cluster) if cluster.brokers[r].partition_epoch < cluster.controller.partition_epoch]
    return [faults.Tell(random.choice(late))] if late else []


def min_isr(_: Cluster, random: Random) -> list[Command]:
    """The setting changes."""
    return [faults.SetMinIsr(random.choice((1, 1, 2, 2, 3)))]


def reassign(cluster: Cluster, random: Random) -> list[Command]:
    """A replica is added or dropped."""
    state = cluster.controller
    free = [r for r in range(1, 7) if r not in state.replicas]
    if free and len(state.replicas) < 5 and random.random() < 0.5:
        return [faults.SetReplicas((*state.replicas, random.choice(free)))]
    droppable = [r for r in state.replicas if r != state.leader]
    if len(state.replicas) < 3 or not droppable:
        return []
    out = random.choice(droppable)
    return [faults.SetReplicas(tuple(r for r in state.replicas if r != out), state.leader_epoch + 1)]


def fence(cluster: Cluster, random: Random) -> list[Command]:
    """The controller loses a broker, or finds it again."""
    fenced = [r for r, registration in cluster.rules.registrations.items() if registration.is_fenced]
    if fenced and random.random() < 0.7:
        return [faults.Unfence(random.choice(fenced))]
    return [faults.Fence(random.choice(list(cluster.brokers)))]
