"""Rows to judge and to report: a small history of one partition, of which a test changes what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from schemas import tables as T
from tests.frames import rows

Given = Mapping[str, Any]
History = dict[T.Table, Sequence[Given]]

BEGIN = datetime(2026, 11, 21, 10, 49, 22, tzinfo=UTC)
HERE = {"cluster_id": "c", "capture_id": "one", "topic": "ledger", "topic_id": "", "partition": 0}


def at(second: float) -> datetime:
    """A time of the history."""
    return BEGIN + timedelta(seconds=second)


def event(epoch: int, seq: int, leo: int, hw: int, **more: Any) -> Given:
    """An event at the leader of an epoch, broker epoch + 1; the first of an epoch begins its leadership."""
    return {
        **HERE, "leader_epoch": epoch, "event_seq": seq, "event_time": at(10 * epoch + seq), "leader_id": epoch + 1,
        "event_type": "BECOME_LEADER" if seq == 1 else "FETCH", "log_end_offset": leo, "log_end_offset_low": leo,
        "log_end_offset_high": leo, "high_watermark": hw, "high_watermark_low": hw, "high_watermark_high": hw,
        "exactness": "exact", "isr": [1, 2, 3], "min_isr": 2, "is_under_min_isr": False,
        "remote_log_end_offset": {}, "log_start_offset": 0, "last_stable_offset": hw, "replica_id": -1,
        "source_file": f"broker-{epoch + 1}/state-change.log", "source_line": seq, **more,
    }  # fmt: skip


def state(replica_id: int, epoch: int, seq: int, leo: int, hw: int, **more: Any) -> Given:
    """A state of a replica, a follower unless said otherwise."""
    return {
        **HERE, "replica_id": replica_id, "leader_epoch": epoch, "event_seq": seq, "valid_from": at(10 * epoch + seq),
        "role": "FOLLOWER", "log_end_offset": leo, "log_end_offset_low": leo, "log_end_offset_high": leo,
        "high_watermark": hw, "high_watermark_low": hw, "high_watermark_high": hw, "exactness": "exact",
        "remote_log_end_offset": -1, **more,
    }  # fmt: skip


def log_deleted(topic: str, broker_id: int, second: float) -> Given:
    """A broker's word that it deletes a log."""
    line = {"source_file": f"broker-{broker_id}/server.log", "source_line": 1}
    told = {"kind": "log_deleted", "leader_epoch": -1, "offset": -1, "replica_id": -1}
    return {**HERE, **line, **told, "topic": topic, "broker_id": broker_id, "event_time": at(second)}


def became_leader(epoch: int, broker_id: int, **more: Any) -> Given:
    """A broker's word that it leads an epoch."""
    line = {"source_file": f"broker-{broker_id}/state-change.log", "source_line": 1}
    return {
        **HERE, **line, "leader_epoch": epoch, "partition_epoch": epoch, "broker_id": broker_id, "leader_id": broker_id,
        "change_kind": "become_leader", "event_time": at(10 * epoch), **more,
    }  # fmt: skip


def stated_start(epoch: int, hw: int, **more: Any) -> Given:
    """The HW in the line with which the leader of an epoch begins."""
    line = {"source_file": f"broker-{epoch + 1}/state-change.log", "source_line": 1}
    kind = {"kind": "became_leader_high_watermark", "broker_id": epoch + 1}
    return {**HERE, **line, **kind, "leader_epoch": epoch, "offset": hw, "event_time": at(10 * epoch), **more}


def read_file(
    landed: int = 8, rejected: int = 0, ignored: int = 2, read: int = 10, broker: int = 1, **more: Any
) -> Given:
    """A file that was read."""
    return {
        "cluster_id": "c", "capture_id": "one", "source_file": f"broker-{broker}/server.log", "kind": "server_log",
        "broker_id": broker, "digest": "d", "lines_read": read, "lines_landed": landed, "lines_rejected": rejected,
        "lines_ignored": ignored, "ignored_by_reason": {"other logger": ignored}, **more,
    }  # fmt: skip


def found(kind: str, severity: str = "info", begin: int = 10, end: int = 11, epoch: int = 2) -> Given:
    """A finding."""
    return {
        **HERE, "incident_id": f"{kind}{severity}{begin}", "kind": kind, "severity": severity, "leader_epoch": epoch,
        "replica_id": -1, "from_offset": begin, "to_offset": end, "started_at": at(20), "evidence": "as told",
    }  # fmt: skip


def appended(base: int, last: int, acks: int = -1, error: int = 0, line: int = 1, **more: Any) -> Given:
    """An append at the leader of epoch 0."""
    return {
        **became_leader(0, 1), "base_offset": base, "last_offset": last, "acks": acks, "error_code": error,
        "source_file": "broker-1/kafka-request.log", "source_line": line, **more,
    }  # fmt: skip


def fetched(line: int, **more: Any) -> Given:
    """A follower's fetch from the leader of epoch 0, read from a line of the request log."""
    return {
        **became_leader(0, 1), "replica_id": 2, "error_code": 0, "diverging_epoch": -1, "is_parked": False,
        "fetch_offset": 5, "records_size": 0, "isolation_level": 0, "response_high_watermark": 10,
        "response_last_stable_offset": 7, "source_file": "broker-1/kafka-request.log", "source_line": line, **more,
    }  # fmt: skip


def epoch_start(epoch: int, start: int, line: int) -> Given:
    """An entry of a leader-epoch-checkpoint."""
    file = {"source_file": "broker-1/leader-epoch-checkpoint", "source_line": line}
    return {**HERE, **file, "broker_id": 1, "leader_epoch": epoch, "start_offset": start}


def partition_record(offset: int, isr: list[int], replicas: list[int], **more: Any) -> Given:
    """A record of the partition in the metadata log."""
    line = {"source_file": "cluster-metadata.txt", "source_line": offset}
    epochs = {"leader_epoch": 0, "partition_epoch": offset - 1}
    return {**HERE, **line, **epochs, "metadata_offset": offset, "isr": isr, "replicas": replicas, **more}


def version(text: str) -> Given:
    """A line that tells Kafka's version."""
    return {**HERE, "name": "kafka.version", "value": text, "source_file": "about.json", "source_line": 1}


def sound(kafka: str = "4.1.0") -> History:
    """Two elections, nothing lost: every rule holds."""
    return {
        T.LEADER_TIMELINE: [
            event(0, 1, 0, 0), event(0, 2, 11, 10, remote_log_end_offset={2: 10, 3: 10}),
            event(0, 3, 11, 11, remote_log_end_offset={2: 11, 3: 11}), event(1, 1, 11, 10), event(2, 1, 11, 11),
        ],
        T.REPLICA_TIMELINE: [
            state(1, 0, 1, 11, 11, role="LEADER"),
            state(2, 0, 1, -1, -1, valid_to=at(2)), state(2, 0, 2, 11, 10),
        ],
        T.LEADER_CHANGES: [became_leader(0, 1), became_leader(1, 2), became_leader(2, 3)],
        T.BROKER_STATEMENTS: [stated_start(0, 0), stated_start(1, 10), stated_start(2, 11)],
        T.SOURCE_FILES: [read_file(broker=broker) for broker in (1, 2, 3)],
        T.INCIDENTS: [],
        T.PRODUCE_EVENTS: [appended(0, 10)],
        T.FETCH_EVENTS: [fetched(2)],
        T.EPOCH_STARTS: [epoch_start(0, 0, 3)],
        T.METADATA_CHANGES: [
            partition_record(1, [1, 2, 3], [1, 2, 3]),
            partition_record(2, [1, 2, 3], [1, 2, 3], leader_epoch=1, event_time=at(9.97)),
        ],
        T.SETTINGS: [version(kafka)],
    }  # fmt: skip


def lost() -> History:
    """As in the capture hw_truncation: the leader of epoch 2 begins at LEO 10, below the HW 11 of epoch 0."""
    history = sound("2.8.2")
    kept = [row for row in history[T.LEADER_TIMELINE] if row["leader_epoch"] < 2]
    return history | {
        T.LEADER_TIMELINE: [*kept, event(2, 1, 10, 10)],
        T.BROKER_STATEMENTS: [stated_start(0, 0), stated_start(1, 10), stated_start(2, 10)],
        T.TRUNCATIONS: [
            {**HERE, "replica_id": 1, "leader_epoch": 2, "event_time": at(25), "from_offset": 11, "to_offset": 10,
             "high_watermark_before": 11, "partition_high_watermark_before": 11, "method": "high_watermark",
             "is_stated": True},
        ],
    }  # fmt: skip


def frames(spark: SparkSession, history: History) -> dict[str, DataFrame]:
    """The history's tables by name, as the check reads them."""
    return {table.name: rows(spark, table, *given) for table, given in history.items()}
