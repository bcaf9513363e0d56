"""Changes of the ISR: proposed by the leader, committed by the controller, heard of in one way or another."""

from __future__ import annotations

from dataclasses import replace

from tests.twin.appending import complete_produces
from tests.twin.commands import CheckIsr, CommitIsr, NotNowError, ProposeIsr, RejectIsr
from tests.twin.faults import SetMinIsr
from tests.twin.leader import Leader
from tests.twin.model import Broker, Cluster


def propose(cluster: Cluster, command: ProposeIsr) -> None:
    """The leader finds members out of sync and asks to drop them: nothing changes yet."""
    broker, leader = cluster.leading()
    out = leader.out_of_sync(cluster.clock.now + 1)
    if not out or leader.isr - out != set(command.isr):
        raise NotNowError(f"out of sync: {sorted(out)} of {sorted(leader.isr)}, in flight: {leader.in_flight}")
    now = cluster.clock.tick()
    state = (broker.id, now, broker.leader_epoch)
    cluster.rows.change(
        broker.id, now, "isr_shrink_proposed", leader_epoch=broker.leader_epoch, leader_id=broker.id,
        partition_epoch=broker.partition_epoch, isr=sorted(command.isr),
    )  # fmt: skip
    cluster.rows.state("shrinking_high_watermark", *state, broker.log.high_watermark)
    cluster.rows.state("shrinking_log_end_offset", *state, broker.log.log_end_offset)
    for replica_id in sorted(out):
        offset = leader.remotes[replica_id].log_end_offset
        cluster.rows.state("shrinking_remote_log_end_offset", *state, offset, replica_id)
    leader.leaving = out
    if not leader.profile.evaluates_commits:
        leader.try_raise_high_watermark(now)
    cluster.note_leader(broker, "ISR_CHANGE", change_kind="isr_shrink_proposed")
    settle(cluster, broker)


def check(cluster: Cluster, _: CheckIsr) -> None:
    """The leader's regular look at its ISR, when nobody is to leave it."""
    broker, leader = cluster.leading()
    out = leader.out_of_sync(cluster.clock.now + 1)
    if out:
        raise NotNowError(f"{sorted(out)} are out of sync with {broker.id}")
    cluster.clock.tick()


def proposed_isr(leader: Leader) -> frozenset[int]:
    """The ISR the leader has asked for."""
    return leader.maximal_isr - (leader.leaving or frozenset())


def settle(cluster: Cluster, broker: Broker) -> None:
    """Where the leader itself writes to ZooKeeper, what it proposes is committed at once, unless it is outdated."""
    leader = broker.leading
    is_current = cluster.controller.partition_epoch == broker.partition_epoch
    if cluster.rules.profile.instant_isr and leader and leader.in_flight and is_current:
        updated(cluster, broker, leader, proposed_isr(leader))


def updated(cluster: Cluster, broker: Broker, leader: Leader, isr: frozenset[int]) -> None:
    """The leader's own request has succeeded: the ISR is committed."""
    now = cluster.clock.tick()
    state = cluster.controller
    cluster.controller = replace(state, isr=isr, partition_epoch=state.partition_epoch + 1, is_unclean=False)
    broker.partition_epoch = cluster.controller.partition_epoch
    if cluster.rules.profile.kraft:
        cluster.note_metadata()
    leader.commit(isr)
    cluster.rows.change(
        broker.id, now, "isr_updated", leader_epoch=broker.leader_epoch, leader_id=broker.id,
        partition_epoch=broker.partition_epoch, isr=sorted(isr),
    )  # fmt: skip
    if leader.profile.evaluates_commits:
        leader.try_raise_high_watermark(now)
    cluster.note_leader(broker, "ISR_CHANGE", change_kind="isr_updated")
    complete_produces(cluster, broker)


def commit_by_response(cluster: Cluster, command: CommitIsr) -> None:
    """The controller accepts what the leader asked for, and its response is the first the leader hears of it."""
    broker, leader = cluster.leading()
    isr = frozenset(command.isr)
    if not leader.in_flight and isr < leader.isr:
        propose(cluster, ProposeIsr(command.isr))
    if not leader.in_flight or isr != proposed_isr(leader):
        raise NotNowError(f"the leader has not asked for isr {sorted(isr)}")
    if cluster.controller.partition_epoch != broker.partition_epoch:
        raise NotNowError("the leader's request is outdated")
    if isr < leader.isr and cluster.rules.profile.kraft and cluster.rules.profile.shrink_bumps_epoch:
        raise NotNowError("a shrink comes with a new epoch, by metadata")
    updated(cluster, broker, leader, isr)


def reject(cluster: Cluster, _: RejectIsr) -> None:
    """Back to the committed ISR; the HW is not evaluated."""
    broker, leader = cluster.leading()
    if not leader.in_flight:
        raise NotNowError("nothing is in flight")
    now = cluster.clock.tick()
    leader.commit(leader.isr)
    cluster.rows.change(
        broker.id, now, "isr_change_rejected", leader_epoch=broker.leader_epoch, leader_id=broker.id,
        partition_epoch=broker.partition_epoch, isr=sorted(leader.isr),
    )  # fmt: skip
    cluster.note_leader(broker, "ISR_CHANGE", change_kind="isr_change_rejected")


def set_min_isr(cluster: Cluster, command: SetMinIsr) -> None:
    """The setting is in force at once, and evaluates nothing."""
    now = cluster.clock.tick()
    cluster.rules.min_isr = command.min_isr
    cluster.rows.setting(now, "min.insync.replicas", str(command.min_isr), of_topic=True)
