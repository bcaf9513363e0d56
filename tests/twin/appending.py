"""Appends at a leader, and the producers that wait for them."""

from __future__ import annotations

from typing import Any

from tests.twin.commands import Append, EndTransaction, MoveLogStart, NotNowError, TimeOutProduces
from tests.twin.log import BATCH, Record
from tests.twin.model import Broker, Cluster, WaitingProduce
from tests.twin.rows import Row, at

NOT_LEADER, TIMED_OUT, NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND = 6, 7, 19, 20


def _line(cluster: Cluster, broker: Broker, acks: int | None, base: int, last: int, **more: Any) -> Row:
    return {
        "leader_epoch": broker.leader_epoch, "event_time": at(cluster.clock.now), "acks": acks, "base_offset": base,
        "last_offset": last, **more,
    }  # fmt: skip


def _write(cluster: Cluster, broker: Broker, count: int, txn: int, marker: str | None = None) -> tuple[int, int]:
    """Append a batch; of none, find the one it repeats. The HW is evaluated either way."""
    assert broker.leading is not None
    if count > 0:
        base = broker.log.log_end_offset
        record = Record(broker.leader_epoch, cluster.new_serial(), txn, marker)
        broker.last_batch = base, [record._replace(serial=record.serial * BATCH + i) for i in range(count)]
        broker.log.append(broker.last_batch[1])
    assert broker.last_batch is not None
    broker.leading.try_raise_high_watermark(cluster.clock.now)
    cluster.note_leader(broker, "APPEND")
    base, records = broker.last_batch
    return base, base + len(records) - 1


def _may_repeat(broker: Broker) -> bool:
    """Whether its producers' state knows the batch still: it is loaded anew when the log is truncated."""
    if broker.last_batch is None:
        return False
    base, records = broker.last_batch
    return broker.log.records[base : base + len(records)] == records


def append(cluster: Cluster, command: Append) -> None:
    """A produce request: its answer is at once, or with acks=all when the HW has passed its last record."""
    broker, leader = cluster.leading(command.at)
    if command.count == 0 and not _may_repeat(broker):
        raise NotNowError("there is no batch to repeat")
    cluster.clock.tick()
    more: dict[str, Any] = {"is_transactional": command.txn >= 0, "producer_id": command.txn}
    if command.acks == -1 and leader.is_under_min_isr:
        line = _line(cluster, broker, -1, -1, -1, **more)
        _answer(cluster, broker, line, NOT_ENOUGH_REPLICAS)
        return
    base, last = _write(cluster, broker, command.count, command.txn)
    line = _line(cluster, broker, command.acks, base, last, **more)
    if command.acks == -1:
        cluster.waiting.setdefault(broker.id, []).append(WaitingProduce(last, line))
    else:
        _answer(cluster, broker, line, 0)


def end_transaction(cluster: Cluster, command: EndTransaction) -> None:
    """A transaction marker: a batch of one that no PRODUCE request made; the dump of the segments shows it, in time."""
    broker, _ = cluster.leading()
    cluster.clock.tick()
    base, last = _write(cluster, broker, 1, command.txn, command.result)
    line = _line(
        cluster, broker, None, base, last, is_transactional=True, is_control=True, producer_id=command.txn,
        transaction_result=command.result.upper(), append_source="segment", local_time_us=0,
    )  # fmt: skip
    cluster.clock.tick()
    cluster.rows.produce(broker.id, **line, response_time=None, error_code=0)


def _answer(cluster: Cluster, broker: Broker, line: Row, error_code: int) -> None:
    cluster.clock.tick()
    cluster.rows.produce(broker.id, **line, response_time=at(cluster.clock.now), error_code=error_code)


def complete_produces(cluster: Cluster, broker: Broker) -> None:
    """Answer the appends that the HW has passed."""
    leader = broker.leading
    waiting = cluster.waiting.get(broker.id, [])
    if leader is None:
        return
    for produce in [p for p in waiting if p.last_offset < broker.log.high_watermark]:
        waiting.remove(produce)
        enough = len(leader.maximal_isr) >= leader.min_isr
        _answer(cluster, broker, produce.line, 0 if enough else NOT_ENOUGH_REPLICAS_AFTER_APPEND)


def fail_produces(cluster: Cluster, broker: Broker, error_code: int) -> None:
    """Answer all that wait with an error: appended, but not acknowledged."""
    for produce in cluster.waiting.pop(broker.id, []):
        _answer(cluster, broker, produce.line, error_code)


def time_out(cluster: Cluster, _: TimeOutProduces) -> None:
    """The request timeout of all that wait is over."""
    if not any(cluster.waiting.values()):
        raise NotNowError("no produce waits")
    for broker in cluster.brokers.values():
        fail_produces(cluster, broker, TIMED_OUT)


def move_log_start(cluster: Cluster, command: MoveLogStart) -> None:
    """Delete records, at most up to the HW. Followers hear of it in their next response."""
    broker, _ = cluster.leading()
    if not broker.log.log_start_offset < command.offset <= broker.log.high_watermark:
        raise NotNowError(f"the log starts at {broker.log.log_start_offset}, HW {broker.log.high_watermark}")
    now = cluster.clock.tick()
    broker.log.move_log_start(command.offset)
    cluster.rows.state("log_start_offset", broker.id, now, broker.leader_epoch, command.offset)
    cluster.note_leader(broker, "LOG_START")
