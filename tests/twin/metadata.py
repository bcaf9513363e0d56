"""The controller's word, and what a broker does when it hears it."""

from __future__ import annotations

from dataclasses import replace

from tests.twin import truncating
from tests.twin.appending import NOT_LEADER, complete_produces, fail_produces
from tests.twin.commands import NotNowError
from tests.twin.faults import Tell
from tests.twin.fetching import complete_all
from tests.twin.leader import Leader
from tests.twin.model import Broker, Cluster, PartitionState


def publish(cluster: Cluster, state: PartitionState, untold: tuple[int, ...] = ()) -> None:
    """The controller commits a new state; each broker that lives and is told applies it, the leader first."""
    cluster.clock.tick()
    for broker in cluster.brokers.values():
        if not broker.is_alive:
            cluster.register(broker.id, is_fenced=True)
    cluster.controller = replace(state, partition_epoch=cluster.controller.partition_epoch + 1)
    if cluster.rules.profile.kraft:
        cluster.note_metadata()
    leader_first = sorted(cluster.brokers.values(), key=lambda b: (b.id != state.leader, b.id))
    for broker in leader_first:
        if broker.is_alive and broker.id not in untold:
            apply(cluster, broker)


def tell(cluster: Cluster, command: Tell) -> None:
    """A broker that was not told applies the newest state. A leader may apply twice what its response told it."""
    broker, state = cluster.alive(command.broker), cluster.controller
    is_news = state.partition_epoch > broker.partition_epoch
    if not is_news and not (broker.leading and state.leader == broker.id):
        raise NotNowError(f"{broker.id} knows it already")
    apply(cluster, broker)


def apply(cluster: Cluster, broker: Broker) -> None:
    """The broker's part in the partition as the controller has it now."""
    state = cluster.controller
    if broker.id not in state.replicas:
        _stop(cluster, broker)
    elif state.leader == broker.id:
        _make_leader(cluster, broker)
    elif state.partition_epoch > broker.partition_epoch:
        _make_follower(cluster, broker)


def _make_leader(cluster: Cluster, broker: Broker) -> None:
    """Partition.makeLeader: of a new epoch, or only newer metadata of the same."""
    now, state, log = cluster.clock.tick(), cluster.controller, broker.log
    is_new_leader, is_new_epoch = broker.leading is None, state.leader_epoch > broker.leader_epoch
    if not is_new_epoch and not cluster.rules.profile.kraft:  # a request of the same epoch is skipped
        return
    rules = cluster.rules
    own = (cluster.profile_of(broker), broker.lag_ms or rules.lag_ms)
    leader = broker.leading or Leader(rules, *own, log, {})
    leader.registrations = dict(rules.registrations)
    leader.set_replicas(set(state.replicas) - {broker.id})
    leader.commit(state.isr)
    kind = "become_leader" if is_new_epoch else "leader_metadata"
    cluster.rows.change(
        broker.id, now, kind, leader_epoch=state.leader_epoch, leader_id=broker.id, isr=sorted(state.isr),
        partition_epoch=state.partition_epoch, replicas=list(state.replicas), adding_replicas=list(state.adding),
        removing_replicas=[], is_unclean=state.is_unclean,
    )  # fmt: skip
    said = (broker.id, now, state.leader_epoch)
    if is_new_epoch:
        leader.epoch_start_offset = log.log_end_offset
        log.assign_epoch(state.leader_epoch, log.log_end_offset)
        leader.reset_remotes(is_new_leader=is_new_leader, now=now)
        cluster.rows.state("became_leader_log_end_offset", *said, log.log_end_offset)
        cluster.rows.state("became_leader_high_watermark", *said, log.high_watermark)
    else:
        cluster.rows.state("leader_metadata_high_watermark", *said, log.high_watermark)
    broker.leading, broker.fetcher, broker.is_truncating = leader, None, False
    broker.leader_id, broker.leader_epoch, broker.partition_epoch = broker.id, state.leader_epoch, state.partition_epoch
    leader.try_raise_high_watermark(now)
    cluster.note_leader(broker, "BECOME_LEADER" if is_new_epoch else "ISR_CHANGE", change_kind=kind)
    profile = cluster.rules.profile
    if is_new_epoch and profile.fetch_states_epoch and not profile.sessions_forget_epochs:
        complete_all(cluster, broker)
    complete_produces(cluster, broker)


def _make_follower(cluster: Cluster, broker: Broker) -> None:
    """Partition.makeFollower: LEO and HW stay; in a new epoch, the fetcher is added anew and the log is checked."""
    state, log = cluster.controller, broker.log
    is_new_epoch = state.leader_epoch > broker.leader_epoch
    if not is_new_epoch and not cluster.rules.profile.kraft:
        broker.partition_epoch = state.partition_epoch
        return
    now = cluster.clock.tick()
    kind = "become_follower" if is_new_epoch else "follower_metadata"
    told = {} if is_new_epoch else {"isr": sorted(state.isr), "replicas": list(state.replicas)}
    cluster.rows.change(
        broker.id, now, kind, leader_epoch=state.leader_epoch, partition_epoch=state.partition_epoch,
        leader_id=state.leader, **told,
    )  # fmt: skip
    was_leading, broker.leading = broker.leading, None
    waits = broker.fetcher if broker.leader_id == state.leader else None
    broker.leader_id, broker.leader_epoch, broker.partition_epoch = (
        state.leader, state.leader_epoch, state.partition_epoch,
    )  # fmt: skip
    if was_leading:
        complete_all(cluster, broker)
        fail_produces(cluster, broker, NOT_LEADER)
    if is_new_epoch:
        said = (broker.id, now, state.leader_epoch)
        cluster.rows.state("became_follower_log_end_offset", *said, log.log_end_offset)
        cluster.rows.state("became_follower_high_watermark", *said, log.high_watermark)
        broker.is_truncating, broker.fetcher = False, None
        if state.leader >= 0:
            broker.fetcher = cluster.same_or_new_fetcher(waits, state.leader)
            cluster.rows.state("fetcher_start_offset", *said, log.log_end_offset if log.epochs else log.high_watermark)
            truncating.at_start(cluster, broker)
    cluster.note()


def _stop(cluster: Cluster, broker: Broker) -> None:
    """The broker is no replica any more: its log is deleted."""
    was_leading, broker.leading, broker.leader_id = broker.leading, None, -1
    if was_leading:
        complete_all(cluster, broker)
        fail_produces(cluster, broker, NOT_LEADER)
    cluster.rows.state("log_deleted", broker.id, cluster.clock.now, -1, -1)
    cluster.brokers.pop(broker.id)
