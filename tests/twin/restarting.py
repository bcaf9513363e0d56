"""Processes end and begin."""

from __future__ import annotations

from tests.twin import metadata
from tests.twin.commands import NotNowError
from tests.twin.faults import Kill, Restart
from tests.twin.model import Broker, Cluster
from tests.twin.profile import Profile


def kill(cluster: Cluster, command: Kill) -> None:
    """A process ends: the requests it had not answered are in no log."""
    broker = cluster.alive(command.broker)
    cluster.clock.tick()
    for parked in cluster.parked.pop(broker.id, []):
        parked.expected["is_logged"] = False
    for produce in cluster.waiting.pop(broker.id, []):
        for row in cluster.rows.leader:
            if row["event_type"] == "APPEND" and row["event_time"] == produce.line["event_time"]:
                row["is_logged"] = False
    broker.is_alive, broker.leading, broker.fetcher = False, None, None
    broker.is_truncating, broker.last_batch = False, None


def restart(cluster: Cluster, command: Restart) -> None:
    """A new process: LEO as recovered, HW from the checkpoint, no memory of any epoch."""
    broker = cluster.brokers.get(command.broker)
    if broker is None or broker.is_alive:
        raise NotNowError(f"{command.broker} is not dead")
    log = broker.log
    end = log.log_end_offset if command.log_end_offset is None else command.log_end_offset
    checkpoint = log.high_watermark if command.high_watermark is None else command.high_watermark
    if not log.log_start_offset <= end <= log.log_end_offset:
        raise NotNowError(f"its log was [{log.log_start_offset}, {log.log_end_offset})")
    now = cluster.clock.tick()
    old_end, old_high_watermark = log.log_end_offset, log.high_watermark
    log.load(end, checkpoint)
    broker.is_alive, broker.incarnation = True, broker.incarnation + 1
    _set_anew(cluster, broker, command)
    cluster.rows.state("loaded_log_end_offset", broker.id, now, -1, end)
    cluster.rows.state("loaded_log_start_offset", broker.id, now, -1, log.log_start_offset)
    cluster.rows.state("loaded_high_watermark", broker.id, now, -1, log.high_watermark)
    cluster.register(broker.id, is_fenced=False)
    cluster.lost(broker, old_end, old_high_watermark, "restart")
    broker.leader_epoch = broker.partition_epoch = broker.leader_id = -1
    if not command.untold:
        metadata.apply(cluster, broker)


def _set_anew(cluster: Cluster, broker: Broker, command: Restart) -> None:
    """Another release, or another lag time, of which the process tells as it starts."""
    now, profile = cluster.clock.now, cluster.rules.profile
    if command.kafka:
        broker.profile = Profile(command.kafka, profile.protocol_version)
        cluster.rows.setting(now, "kafka.version", command.kafka, broker_id=broker.id)
    if command.lag_s is not None:
        broker.lag_ms = command.lag_s * 1000
        cluster.rows.setting(now, "replica.lag.time.max.ms", str(broker.lag_ms), broker_id=broker.id)
