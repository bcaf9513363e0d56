"""Landed rows of leaders whose request log is silent: from its begin, to its end, or all the time."""

from __future__ import annotations

from typing import Any

from tests.literal_lines import append, begins, fetch, line, told_of_brokers

Row = dict[str, Any]
S = 1000
"""Milliseconds of a second."""


def begun(topic: str, leo: int, hw: int | None, **begin: Any) -> list[Row]:
    """Broker 1 leads, and the line that states what it has; before 2.4 no line states the HW."""
    stated = {"became_leader_log_end_offset": leo} | ({} if hw is None else {"became_leader_high_watermark": hw})
    return [begins(topic, **begin), *said(topic, 0, **stated)]


def said(topic: str, ms: float, **kinds: int) -> list[Row]:
    """One line of the leader that states offsets."""
    of_line = line(topic, ms)
    return [of_line | {"kind": kind, "offset": offset} for kind, offset in kinds.items()]


def becomes(topic: str, ms: float, isr: list[int], kind: str = "isr_updated", epoch: int = 1) -> Row:
    """A change that the leader applied."""
    return line(topic, ms, change_kind=kind, leader_id=1, isr=isr, partition_epoch=epoch)


def follows(topic: str, ms: float, leo: int, hw: int) -> list[Row]:
    """Broker 1 becomes a follower of 2 in the next epoch, and its line states its log."""
    change = {"change_kind": "become_follower", "leader_id": 2, "isr": [], "partition_epoch": 9, "leader_epoch": 1}
    stated = {"became_follower_log_end_offset": leo, "became_follower_high_watermark": hw}
    return [line(topic, ms, **change), *[row | {"leader_epoch": 1} for row in said(topic, ms, **stated)]]


def of_lines_alone(topic: str) -> list[Row]:
    """No request at all: a line of a shrinking ISR, one of newer metadata, and that of its next role tell."""
    remote = {"kind": "shrinking_remote_log_end_offset", "offset": 18, "replica_id": 2}
    newer = said(topic, 20 * S, leader_metadata_high_watermark=50)
    of_newer = {name: newer[0][name] for name in ("source_file", "source_line")}
    shrinking = said(topic, 10 * S, shrinking_high_watermark=20, shrinking_log_end_offset=30)
    return [
        *begun(topic, 7, 5), *shrinking, shrinking[0] | remote, becomes(topic, 10.1 * S, [1, 3]),
        *newer, becomes(topic, 20 * S, [1, 3], "leader_metadata", 2) | of_newer, *follows(topic, 30 * S, 90, 80),
    ]  # fmt: skip


def of_requests_later(topic: str) -> list[Row]:
    """Requests are logged from 100 s on: first an append, then a fetch of 2, then one of 3."""
    return [
        *begun(topic, 7, 5), append(topic, 100 * S, 20, 30), fetch(topic, 100.1 * S, 2, 25, 18),
        fetch(topic, 100.2 * S, 3, 30, 18), fetch(topic, 100.3 * S, 2, 30, 25),
    ]  # fmt: skip


def of_requests_of_members(topic: str) -> list[Row]:
    """The same, with 3 outside the ISR: it may be waited for as long as the lag time. A segment is rolled at 12."""
    return [
        *begun(topic, 7, 5, isr=[1, 2]), *said(topic, 30 * S, segment_rolled=12), append(topic, 100 * S, 20, 30),
        fetch(topic, 100.2 * S, 2, 25, 18), fetch(topic, 140 * S, 2, 30, 25),
    ]  # fmt: skip


def of_fetches_later(topic: str) -> list[Row]:
    """Fetches alone, and no append: where the log ends nobody tells."""
    return [*begun(topic, 7, 5), fetch(topic, 100.1 * S, 2, 7, 5), fetch(topic, 100.2 * S, 3, 7, 5)]


def of_requests_before(topic: str) -> list[Row]:
    """Requests are logged up to 50 s; of a change at 200 s it is told alone, and a dump has the log up to 60."""
    return [
        *begun(topic, 0, 0), append(topic, 1 * S, 0, 10), fetch(topic, 2 * S, 2, 10, 0), fetch(topic, 3 * S, 3, 10, 0),
        fetch(topic, 50 * S, 2, 10, 10), becomes(topic, 200 * S, [1, 2]),
        line(topic, 0, batch_last_offset=59),
    ]  # fmt: skip


def of_a_segment_after_requests(topic: str) -> list[Row]:
    """Requests are logged up to 3 s; a segment is rolled at 40 when none is any more."""
    return [
        *begun(topic, 0, 0), append(topic, 1 * S, 0, 10), fetch(topic, 2 * S, 2, 10, 0), fetch(topic, 3 * S, 3, 10, 0),
        *said(topic, 150 * S, segment_rolled=40),
    ]  # fmt: skip


def of_an_empty_log(topic: str) -> list[Row]:
    """No line states the HW of an empty log, which is 0; much later followers ask for what is appended."""
    return [
        *begun(topic, 0, None), append(topic, 100 * S, 0, 10), fetch(topic, 100.1 * S, 2, 0, 0),
        fetch(topic, 100.2 * S, 3, 0, 0),
    ]  # fmt: skip


def of_requests_before_of_a_log(topic: str) -> list[Row]:
    """The leader begins with 7 records, and requests are logged up to 3 s; then a change at 200 s is told alone."""
    return [
        *begun(topic, 7, 5), append(topic, 1 * S, 7, 10), fetch(topic, 2 * S, 2, 10, 5), fetch(topic, 3 * S, 3, 10, 5),
        becomes(topic, 200 * S, [1, 2]),
    ]  # fmt: skip


def of_an_append_lost_after_silence(topic: str) -> list[Row]:
    """Requests are logged from 100 s on, but not the append of [30, 40): when it came nobody knows."""
    return [
        *begun(topic, 7, 5), append(topic, 100 * S, 20, 30), fetch(topic, 100.1 * S, 2, 25, 18),
        fetch(topic, 100.2 * S, 3, 30, 18), append(topic, 100.3 * S, 40, 50),
    ]  # fmt: skip


def of_appends_alone(topic: str) -> list[Row]:
    """The ISR has all three, and nobody's fetches are logged: whoever kept the log left them out."""
    return [*begun(topic, 7, 5), append(topic, 1 * S, 7, 10), append(topic, 2 * S, 10, 12)]


TOPICS = {
    "lines_alone": of_lines_alone,
    "requests_later": of_requests_later,
    "requests_of_members": of_requests_of_members,
    "fetches_later": of_fetches_later,
    "requests_before": of_requests_before,
    "requests_before_of_a_log": of_requests_before_of_a_log,
    "append_lost_after_silence": of_an_append_lost_after_silence,
    "appends_alone": of_appends_alone,
    "alone": lambda topic: begun(topic, 7, 5, isr=[1]),
    "alone_and_heard": lambda topic: [*begun(topic, 7, 5, isr=[1]), append(topic, 100, 7, 10)],
    "of_an_empty_log": of_an_empty_log,
    "segment_after_requests": of_a_segment_after_requests,
    "no_log_stated": lambda topic: [begins(topic)],
    "nothing_stated": lambda topic: begun(topic, 7, None),
}


def landed() -> dict[str, list[Row]]:
    """All of them, a topic each."""
    rows = [row for topic, told in TOPICS.items() for row in told(topic)]
    return {
        "leader_changes": [row for row in rows if "change_kind" in row],
        "broker_statements": [row for row in rows if "kind" in row],
        "produce_events": [row for row in rows if "base_offset" in row],
        "fetch_events": [row for row in rows if "fetch_offset" in row],
        "segment_batches": [
            row | {"base_offset": 0, "last_offset": row["batch_last_offset"]}
            for row in rows
            if "batch_last_offset" in row
        ],
    } | told_of_brokers(TOPICS)
