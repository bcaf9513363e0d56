"""What goes on all the time: appends, fetches, the ISR; as a random history picks it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.twin import commands as happens
from tests.twin import faults
from tests.twin.commands import Command
from tests.twin.isr import proposed_isr
from tests.twin.model import Broker, Cluster


def _followers(cluster: Cluster) -> list[Broker]:
    return [b for b in cluster.brokers.values() if b.is_alive and b.leading is None and b.leader_id >= 0]


def append(cluster: Cluster, random: Random) -> list[Command]:
    """An append, now and then of nothing new, or at a leader that does not know it no longer is one."""
    zombies = [b.id for b in cluster.brokers.values() if b.leading and b.id != cluster.controller.leader]
    at = random.choice(zombies) if zombies and random.random() < 0.3 else None
    count = 0 if random.random() < 0.03 else random.randint(1, 6)
    return [happens.Append(count, random.choice((-1, -1, 1, 1, 1, 0)), at)]


def fetch(cluster: Cluster, random: Random) -> Iterator[Command]:
    """Somebody fetches."""
    followers = _followers(cluster)
    if followers:
        yield from _fetch_of(random.choice(followers), random)


def _fetch_of(follower: Broker, random: Random) -> Iterator[Command]:
    if follower.is_truncating:
        yield happens.Truncate(follower.id)
    gets = None if random.random() < 0.7 else random.randint(1, 4)
    dropped, at_once = random.random() < 0.04, random.random() < 0.25
    yield happens.Fetch(follower.id, follower.log.log_end_offset, gets, at_once, dropped=dropped)


def fetch_all(cluster: Cluster, random: Random) -> Iterator[Command]:
    """Everybody but perhaps one catches up."""
    lazy = random.choice([*cluster.brokers, -1, -1])
    for _ in range(2):
        for follower in _followers(cluster):
            if follower.id != lazy:
                yield from _fetch_of(follower, random)


def respond(cluster: Cluster, random: Random) -> list[Command]:
    """Somebody is answered."""
    parked = [p.replica for fetches in cluster.parked.values() for p in fetches]
    return [happens.Respond(random.choice(parked))] if parked else []


def consume(cluster: Cluster, random: Random) -> list[Command]:
    """A consumer reads anywhere in the log."""
    leader = cluster.brokers.get(cluster.controller.leader)
    end = leader.log.log_end_offset if leader else 0
    return [happens.ConsumerFetch(random.randint(0, end), random.random() < 0.3)]


def check_isr(cluster: Cluster, random: Random) -> Iterator[Command]:
    """The leader looks for members out of sync; often enough after a time in which one was."""
    if random.random() < 0.6:
        yield happens.Append(1)
        yield faults.PassTime(cluster.rules.lag_ms + random.choice((0, 300)))
        yield from fetch_all(cluster, random)
    broker = cluster.brokers.get(cluster.controller.leader)
    if broker is not None and broker.leading is not None:
        stay = broker.leading.isr - broker.leading.out_of_sync(cluster.clock.now + 1)
        yield happens.ProposeIsr(tuple(sorted(stay)))


def settle_isr(cluster: Cluster, random: Random) -> list[Command]:
    """The controller answers, or does not get its answer through."""
    broker = cluster.brokers.get(cluster.controller.leader)
    if broker is None or broker.leading is None or not broker.leading.in_flight:
        return []
    if random.random() < 0.15:
        return [happens.RejectIsr()]
    commit = happens.CommitIsr(tuple(sorted(proposed_isr(broker.leading))), random.random() < 0.35)
    return [commit, faults.Tell(broker.id)] if random.random() < 0.3 else [commit]


def log_start(cluster: Cluster, random: Random) -> list[Command]:
    """Records are deleted."""
    broker = cluster.brokers.get(cluster.controller.leader)
    if broker is None or broker.log.high_watermark == 0:
        return []
    return [happens.MoveLogStart(random.randint(1, broker.log.high_watermark))]


def transact(_: Cluster, random: Random) -> list[Command]:
    """A transaction goes on, or ends."""
    txn = random.randint(1, 3)
    if random.random() < 0.5:
        return [happens.Append(random.randint(1, 3), random.choice((-1, 1)), txn=txn)]
    return [happens.EndTransaction(txn, random.choice(("commit", "abort")))]


def time_out(_: Cluster, __: Random) -> list[Command]:
    """Producers give up."""
    return [happens.TimeOutProduces()]
