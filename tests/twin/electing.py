"""What the controller decides: leaders, assignments, controller-made ISR changes, fencing."""

from __future__ import annotations

from dataclasses import replace

from tests.twin import isr, metadata
from tests.twin.commands import CommitIsr, Lead, NotNowError
from tests.twin.faults import Elect, Fence, NoLeader, SetReplicas, Unfence
from tests.twin.model import Broker, Cluster, PartitionState


def lead(cluster: Cluster, command: Lead) -> None:
    """The partition is created with empty logs."""
    if cluster.brokers:
        raise NotNowError("the partition exists")
    _add_replicas(cluster, command.replicas)
    members = frozenset(command.isr)
    metadata.publish(cluster, PartitionState(command.leader, command.epoch, -1, members, command.replicas))


def _add_replicas(cluster: Cluster, replicas: tuple[int, ...]) -> None:
    now = cluster.clock.tick()
    for replica_id in replicas:
        if replica_id not in cluster.brokers:
            cluster.brokers[replica_id] = Broker(replica_id)
            cluster.register(replica_id, is_fenced=False)
            cluster.rows.state("loaded_high_watermark", replica_id, now, -1, 0)


def elect(cluster: Cluster, command: Elect) -> None:
    """A leader of a new epoch: from the ISR, or unclean, and then it is the ISR."""
    state, broker = cluster.controller, cluster.alive(command.leader)
    _check_epoch(state, command.epoch)
    if broker.id not in state.replicas or (broker.id in state.isr) == command.unclean:
        raise NotNowError(f"{broker.id} cannot be elected like this from isr {sorted(state.isr)}")
    living = frozenset(r for r in state.isr if cluster.brokers[r].is_alive)
    members = frozenset({broker.id}) if command.unclean else frozenset(command.isr) or living
    if not (command.unclean or members <= state.isr) or broker.id not in members:
        raise NotNowError(f"isr {sorted(members)} cannot follow from {sorted(state.isr)}")
    elected = replace(state, leader=broker.id, leader_epoch=command.epoch, isr=members, is_unclean=command.unclean)
    metadata.publish(cluster, elected, command.untold)


def _check_epoch(state: PartitionState, epoch: int) -> None:
    if epoch != state.leader_epoch + 1:
        raise NotNowError(f"the epoch is {state.leader_epoch}")


def no_leader(cluster: Cluster, command: NoLeader) -> None:
    """Leader -1: everybody follows nobody."""
    state = cluster.controller
    _check_epoch(state, command.epoch)
    if state.leader >= 0 and cluster.brokers[state.leader].is_alive:
        raise NotNowError("the leader lives")
    metadata.publish(cluster, replace(state, leader=-1, leader_epoch=command.epoch, is_unclean=False))


def commit_by_metadata(cluster: Cluster, command: CommitIsr) -> None:
    """The leader's request succeeds but its response comes late; or the controller took members out by itself."""
    state, members = cluster.controller, frozenset(command.isr)
    broker, leader = cluster.leading()
    is_current = broker.partition_epoch == state.partition_epoch
    is_asked_for = leader.in_flight and is_current and members == isr.proposed_isr(leader)
    if not cluster.rules.profile.kraft and members >= state.isr:
        raise NotNowError("a controller beside ZooKeeper tells the leader by its response alone")
    if state.leader not in members or not (is_asked_for or members < state.isr):
        raise NotNowError(f"isr {sorted(members)} cannot follow from {sorted(state.isr)}")
    bump = int(members < state.isr and cluster.rules.profile.shrink_bumps_epoch)
    changed = replace(state, isr=members, leader_epoch=state.leader_epoch + bump, is_unclean=False)
    metadata.publish(cluster, changed)


def commit(cluster: Cluster, command: CommitIsr) -> None:
    """A new committed ISR; those who follow hear of it too, in a cluster that has a metadata log."""
    if command.by_metadata:
        commit_by_metadata(cluster, command)
        return
    isr.commit_by_response(cluster, command)
    for broker in [b for b in cluster.brokers.values() if b.is_alive and b.id != cluster.controller.leader]:
        metadata.apply(cluster, broker)


def set_replicas(cluster: Cluster, command: SetReplicas) -> None:
    """Adding replicas is metadata of the same epoch in a metadata log; dropping them starts a new epoch."""
    state = cluster.controller
    replicas, old = frozenset(command.replicas), frozenset(state.replicas)
    cluster.leading()
    if command.epoch is None:
        if not replicas > old:
            raise NotNowError("replicas are dropped only with a new epoch")
        _add_replicas(cluster, command.replicas)
        added, bump = tuple(sorted(replicas - old)), int(not cluster.rules.profile.kraft)
        changed = replace(state, replicas=command.replicas, adding=added, leader_epoch=state.leader_epoch + bump)
        metadata.publish(cluster, changed)
        return
    _check_epoch(state, command.epoch)
    if not replicas < old or state.leader not in replicas or not replicas <= state.isr:
        raise NotNowError("a reassignment ends when all that stay are in the ISR")
    done = replace(state, replicas=command.replicas, adding=(), leader_epoch=command.epoch, isr=state.isr & replicas)
    metadata.publish(cluster, replace(done, is_unclean=False))


def fence(cluster: Cluster, command: Fence) -> None:
    """The controller has not heard of a broker: it is fenced and leaves the ISR, unless it is the last in it."""
    state = cluster.controller
    registration = cluster.rules.registrations.get(command.broker)
    if not cluster.rules.profile.kraft or registration is None or registration.is_fenced:
        raise NotNowError(f"{command.broker} cannot be fenced")
    if command.broker == state.leader or command.broker not in cluster.brokers:
        raise NotNowError(f"{command.broker} leads")
    cluster.clock.tick()
    cluster.register(command.broker, is_fenced=True)
    if command.broker in state.isr and len(state.isr) > 1:
        bump = int(cluster.rules.profile.shrink_bumps_epoch and state.leader >= 0)
        members = state.isr - {command.broker}
        metadata.publish(cluster, replace(state, isr=members, leader_epoch=state.leader_epoch + bump))


def unfence(cluster: Cluster, command: Unfence) -> None:
    """The broker sends heartbeats again."""
    broker = cluster.alive(command.broker)
    if not cluster.rules.registrations[broker.id].is_fenced:
        raise NotNowError(f"{broker.id} is not fenced")
    cluster.clock.tick()
    cluster.register(broker.id, is_fenced=False)
