"""How a follower finds where its log parts from the leader's, by the three rules there have been."""

from __future__ import annotations

from tests.twin.commands import NotNowError, Truncate
from tests.twin.log import NOWHERE, UNKNOWN
from tests.twin.model import Broker, Cluster


def at_start(cluster: Cluster, follower: Broker) -> None:
    """A follower of a new epoch, with a leader to follow: the oldest rule cuts at once, at its own HW.

    So do the others where the log knows no epoch. A follower of a dead leader is given no fetcher by the oldest rule.
    """
    rule = cluster.rules.profile.truncation
    if rule == "high_watermark" and not cluster.brokers[follower.leader_id].is_alive:
        return
    if rule == "high_watermark" or not follower.log.epochs:
        cluster.truncate(follower, follower.log.high_watermark, "high_watermark")
    else:
        follower.is_truncating = rule == "leader_epoch"


def by_epoch(cluster: Cluster, follower: Broker, answer: tuple[int, int], method: str) -> bool:
    """Cut by the leader's (epoch, end offset); False if the leader must be asked again (getOffsetTruncationState)."""
    log = follower.log
    epoch, end_offset = answer
    own_epoch, own_end_offset = log.end_offset_for(epoch)
    is_done = True
    if end_offset == UNKNOWN:
        target = log.high_watermark
    elif epoch == UNKNOWN or (own_epoch, own_end_offset) == NOWHERE:
        target = min(end_offset, log.log_end_offset)
    elif own_epoch != epoch:
        target, is_done = min(own_end_offset, log.log_end_offset), False
    else:
        target = min(own_end_offset, end_offset, log.log_end_offset)
    now = cluster.clock.now
    cluster.rows.state("truncation_target", follower.id, now, follower.leader_epoch, target)
    cluster.truncate(follower, target, method)
    return is_done


def truncate(cluster: Cluster, command: Truncate) -> None:
    """OffsetsForLeaderEpoch, as often as it takes."""
    follower = cluster.alive(command.replica)
    if not follower.is_truncating:
        raise NotNowError(f"{follower.id} has nothing to ask its leader")
    leader = cluster.alive(follower.leader_id)
    if leader.leading is None or leader.leader_epoch != follower.leader_epoch:
        raise NotNowError(f"{leader.id} does not lead epoch {follower.leader_epoch}")
    while follower.is_truncating:
        cluster.clock.tick()
        if not follower.log.epochs:
            cluster.truncate(follower, follower.log.high_watermark, "high_watermark")
            follower.is_truncating = False
        else:
            answer = leader.log.end_offset_for(follower.log.latest_epoch)
            follower.is_truncating = not by_epoch(cluster, follower, answer, "leader_epoch")
    if command.to not in (None, follower.log.log_end_offset):
        raise ValueError(f"{command}: it truncated to {follower.log.log_end_offset}")


def out_of_range(cluster: Cluster, follower: Broker, leader: Broker) -> None:
    """The leader does not have the offset: ask it for its LEO, then for its log start (fetchOffsetAndTruncate)."""
    log, now = follower.log, cluster.clock.now
    if leader.log.log_end_offset < log.log_end_offset:
        cluster.truncate(follower, leader.log.log_end_offset, "out_of_range")
    elif leader.log.log_start_offset > log.log_end_offset:
        log.truncate_fully_and_start_at(leader.log.log_start_offset)
        cluster.rows.state("truncated_fully_at", follower.id, now, follower.leader_epoch, log.log_end_offset)
        cluster.note()
