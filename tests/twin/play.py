"""The table of what can happen, and the beginning and end of every history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.twin import appending, electing, faults, fetching, isr, metadata, restarting, truncating
from tests.twin import commands as happens
from tests.twin.leader import Rules
from tests.twin.model import Clock, Cluster
from tests.twin.profile import Profile
from tests.twin.rows import Rows


def _append(cluster: Cluster, command: happens.Append | happens.EndTransaction) -> None:
    """An append, then what waited for one: parked fetches, then producers."""
    if isinstance(command, happens.Append):
        appending.append(cluster, command)
        broker, _ = cluster.leading(command.at)
    else:
        appending.end_transaction(cluster, command)
        broker, _ = cluster.leading()
    waiting_for_records = [p for p in cluster.parked.get(broker.id, []) if p.offset < broker.log.log_end_offset]
    for parked in waiting_for_records:
        fetching.complete(cluster, broker, parked)
    appending.complete_produces(cluster, broker)


STEPS: dict[type[happens.Command], Callable[[Cluster, Any], None]] = {
    happens.Lead: electing.lead,
    happens.Append: _append,
    happens.EndTransaction: _append,
    happens.TimeOutProduces: appending.time_out,
    happens.Fetch: fetching.fetch,
    happens.Respond: fetching.respond,
    happens.ConsumerFetch: fetching.consumer_fetch,
    happens.ProposeIsr: isr.propose,
    happens.CheckIsr: isr.check,
    happens.CommitIsr: electing.commit,
    happens.RejectIsr: isr.reject,
    faults.Elect: electing.elect,
    faults.NoLeader: electing.no_leader,
    faults.Tell: metadata.tell,
    faults.Kill: restarting.kill,
    faults.Restart: restarting.restart,
    happens.Truncate: truncating.truncate,
    faults.PassTime: fetching.pass_time,
    faults.SetMinIsr: isr.set_min_isr,
    happens.MoveLogStart: appending.move_log_start,
    faults.SetReplicas: electing.set_replicas,
    faults.Fence: electing.fence,
    faults.Unfence: electing.unfence,
}


def begin(
    name: str, profile: Profile, lag_ms: int, min_isr: int, *, partition: int = 0, clock: Clock | None = None,
    all_statements: bool = True,
) -> Cluster:  # fmt: skip
    """A cluster in which nothing has happened but its settings."""
    rows = Rows(name, name, f"id-of-{name}" if profile.kraft else "", partition, all_statements)
    cluster = Cluster(Rules(profile, lag_ms, min_isr), rows, clock or Clock())
    rows.setting(0, "kafka.version", profile.kafka_version)
    rows.setting(0, "inter.broker.protocol.version", profile.protocol_version)
    rows.setting(0, "replica.lag.time.max.ms", str(lag_ms))
    rows.setting(0, "min.insync.replicas", str(min_isr), of_topic=True)
    return cluster


def play(cluster: Cluster, command: happens.Command) -> None:
    """Let something happen; NotNowError if it cannot, and then nothing has."""
    STEPS[type(command)](cluster, command)


def finish(cluster: Cluster) -> None:
    """The capture ends: what still waited is answered, so that every request is in a log."""
    for broker in list(cluster.brokers.values()):
        if broker.is_alive:
            fetching.complete_all(cluster, broker)
            appending.fail_produces(cluster, broker, appending.TIMED_OUT)
