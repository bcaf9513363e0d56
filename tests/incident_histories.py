"""Small histories, a topic each, of which the findings are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas import tables as T
from tests.checked_rows import Given, at, became_leader, event, lost, state, stated_start
from tests.sessions import with_unbroken

Rows = Mapping[T.Table, list[Given]]


def of(topic: str, history: Mapping[T.Table, Any]) -> Rows:
    """The history as one of another topic."""
    return {table: [{**row, "topic": topic} for row in given] for table, given in history.items()}


def led(*events: Given, **more: Any) -> Rows:
    """A history of leaders' events alone."""
    return {T.LEADER_TIMELINE: [{**row, **more} for row in events]}


def changed_isr(epoch: int, seq: int, leo: int, hw: int, **more: Any) -> Given:
    """A change of the committed ISR of leader 1, whose followers are 2 and 3."""
    return event(epoch, seq, leo, hw, event_type="ISR_CHANGE", remote_log_end_offset={2: hw, 3: hw}, **more)


def changes(*epochs: tuple[int, int, int], **more: Any) -> list[Given]:
    """Lines of leader changes: epoch, the broker that wrote the line, and the leader it names."""
    return [became_leader(e, broker, leader_id=leader, **more) for e, broker, leader in epochs]


def fetch(**more: Any) -> Given:
    """A successful fetch from the leader of epoch 0."""
    silent = {"error_code": 0, "session_id": 0, "session_epoch": -1, "records_size": 0, "response_high_watermark": -1}
    return {**became_leader(0, 1), "replica_id": 2, "is_implied": False, "source_line": 9, **silent, **more}


def read(client: str, second: int, offset: int, **more: Any) -> Given:
    """A consumer's fetch from the leader of epoch 0 whose HW is 5, answered with records."""
    given = {"records_size": 9, "response_high_watermark": 5, "isolation_level": 0, "source_line": second}
    return fetch(replica_id=-1, client_id=client, event_time=at(second), fetch_offset=offset, **{**given, **more})


def produce(base: int, last: int, acks: int, error: int = 0) -> Given:
    """An append at the leader of epoch 0."""
    return {**became_leader(0, 1), "base_offset": base, "last_offset": last, "acks": acks, "error_code": error}


def metadata(*records: tuple[int, int, list[int], bool]) -> Rows:
    """Records of the metadata log in order, with all leaders' events: leader epoch, leader, ISR, and if RECOVERING."""
    begins = {epoch: (leader, isr) for epoch, leader, isr, _ in reversed(records) if leader >= 0}
    return {
        T.LEADER_TIMELINE: [event(e, 1, 0, 0, leader_id=leader, isr=isr) for e, (leader, isr) in begins.items()],
        T.METADATA_CHANGES: [
            {**became_leader(epoch, leader), "partition_epoch": number, "isr": isr, "is_unclean": is_recovering}
            for number, (epoch, leader, isr, is_recovering) in enumerate(records)
        ],
    }


def said(*epochs: tuple[int, int, list[int], bool | None]) -> Rows:
    """What lines say of each epoch, without metadata: leader epoch, leader, ISR, and if RECOVERING."""
    return {
        T.LEADER_TIMELINE: [event(e, 1, 0, 0, leader_id=leader, isr=isr) for e, leader, isr, _ in epochs],
        T.LEADER_CHANGES: [became_leader(e, leader, isr=isr, is_unclean=state) for e, leader, isr, state in epochs],
    }


def cut(replica_id: int, epoch: int, begin: int, end: int, **more: Any) -> Given:
    """A replica's truncation from a LEO to a smaller one."""
    return {
        "replica_id": replica_id, "leader_epoch": epoch, "from_offset": begin, "to_offset": end,
        "high_watermark_before": end, "partition_high_watermark_before": end, "method": "fetch_divergence",
        "is_stated": True, **more,
    }  # fmt: skip


TAKEN_OVER = (event(0, 1, 0, 0), event(0, 2, 10, 8), event(1, 1, 8, 8), event(1, 2, 12, 12))
HELD_BEFORE = (
    state(1, 0, 2, 10, 8, role="LEADER"),
    *(state(n, 0, n + 1, leo, 8, remote_log_end_offset=leo) for n, leo in ((2, 8), (3, 10))),
)
SHORTER = (event(0, 1, 0, 0), event(0, 2, 10, 8), event(1, 1, 6, 6))
WENT_ON = (state(3, 0, 2, 10, 10, remote_log_end_offset=10), state(3, 1, 2, 10, 9, remote_log_end_offset=10))
HELD_UP = {"isr": [1, 2], "maximal_isr": [1, 2], "remote_log_end_offset": {2: 4}, "high_watermark_limited_by": [2]}
UNCLEAN = {T.METADATA_CHANGES: [{**became_leader(1, 2), "is_unclean": True}]}

HISTORIES: Mapping[str, Mapping[T.Table, Any]] = {
    "ledger": lost() | {
        T.FETCH_EVENTS: [
            read("reader", 3, 10, response_high_watermark=11), read("reader", 4, 11, records_size=0),
            read("below", 3, 9, response_high_watermark=10),
        ],
        T.PRODUCE_EVENTS: [produce(10, 10, acks=-1)],
    },
    "whole": led(event(0, 1, 0, 0), event(0, 2, 10, 10), event(1, 1, 10, 10, log_start_offset=10)),
    "split": led(event(0, 1, 0, 0), event(0, 2, 10, 8, isr=[1]), event(1, 1, 6, 6, isr=[2])) | UNCLEAN | {
        T.PRODUCE_EVENTS: [produce(6, 7, acks=-1), produce(8, 8, acks=1), produce(9, 9, acks=-1, error=7)],
    },
    "bounds": led(event(0, 1, 0, 0), event(0, 2, 10, 5, high_watermark_high=8), event(1, 1, 4, 4)),
    "silent": led(event(0, 1, 0, 0), event(0, 2, 10, 5), event(2, 1, 4, 4)) | {
        T.LEADER_CHANGES: changes((1, 2, 9)),
    },
    "old_tail": led(
        event(0, 1, 0, 0), event(0, 2, 10, 8), event(1, 1, 8, 8), event(1, 2, 12, 12),
        event(2, 1, 10, 8, leader_id=1),
    ) | {
        T.REPLICA_TIMELINE: [state(1, 0, 2, 10, 8, role="LEADER"), state(2, 0, 2, 8, 8, remote_log_end_offset=8)],
    },
    "in_flight": led(event(0, 1, 0, 0), event(0, 2, 10, 10), event(1, 1, 10, 10)) | {
        T.TRUNCATIONS: [{
            "replica_id": 1, "leader_epoch": 1, "event_time": at(15), "from_offset": 12, "to_offset": 10,
            "high_watermark_before": 9, "partition_high_watermark_before": 10, "method": "fetch_divergence",
            "is_stated": True,
        }],
    },
    "isr": led(
        event(0, 1, 5, 5), changed_isr(0, 2, 5, 5, isr=[1, 2], is_under_min_isr=False),
        changed_isr(0, 3, 5, 5, isr=[1], is_under_min_isr=True), changed_isr(0, 8, 5, 5),
    ),
    "stalled": led(event(0, 1, 5, 5), event(0, 2, 9, 5, **HELD_UP), event(0, 4, 9, 9)),
    "stale": led(
        event(0, 1, 5, 5, remote_log_end_offset={2: -1, 3: -1}, maximal_isr=[1, 2, 3]),
        *[
            event(0, n, 5 + n, 5, event_type="APPEND", remote_log_end_offset={2: 5, 3: 5 + n}, maximal_isr=[1, 2, 3])
            for n in range(2, 60)
        ],
        event(0, 60, 70, 70, maximal_isr=[1, 2, 3]),
    ),
    "leaderless": {T.LEADER_CHANGES: changes((0, 1, 1), (1, 1, -1), (2, 1, 1))},
    # Broker 5 is told to stop two seconds before nobody leads.
    "told_to_stop": {
        T.LEADER_CHANGES: changes((0, 5, 5), (1, 5, -1), (2, 5, 5)),
        T.BROKER_STATEMENTS: [stated_start(0, -1, kind="process_stopping", broker_id=5, event_time=at(8))],
    },
    "two_leaders": {T.LEADER_CHANGES: changes((3, 1, 1), (3, 2, 2))},
    "stranger": {T.LEADER_CHANGES: changes((0, 1, 1), isr=[1, 7], replicas=[1, 2])},
    # A controller with ZooKeeper drops a replica from the assignment before it does from the ISR.
    "leaving": {T.LEADER_CHANGES: [
        became_leader(0, 1, change_kind="assigned", isr=[1, 2, 3], replicas=[1, 2]),
        became_leader(0, 1, isr=[1, 2, 3], replicas=None, event_time=at(1)),
    ]},
    "back": {
        T.LEADER_CHANGES: [became_leader(0, 2, change_kind="become_follower", leader_id=1)],
        T.BROKER_STATEMENTS: [stated_start(0, 5, kind="loaded_high_watermark", broker_id=2)],
        T.REPLICA_TIMELINE: [state(2, 0, 1, 8, 5, remote_log_end_offset=8)],
        T.TRUNCATIONS: [{
            "replica_id": 2, "leader_epoch": 0, "event_time": at(5), "from_offset": 8, "to_offset": 6,
            "high_watermark_before": 5, "partition_high_watermark_before": 5, "method": "leader_epoch",
            "is_stated": False,
        }],
    },
    "session": {T.FETCH_EVENTS: with_unbroken([
        *[fetch(session_id=7, session_epoch=n, fetch_offset=n, source_line=n) for n in (1, 2, 5)],
        # Of the run 6 to 8 of fetches that name nothing the last is a row: no gap.
        fetch(session_id=7, session_epoch=8, fetch_offset=5, source_line=8, is_implied=True),
        # Partition 0 is forgotten by request 3 and comes back with 5; the run of partition 1 goes through all of them.
        *[fetch(session_id=8, session_epoch=n, fetch_offset=n, source_line=10 + n) for n in (1, 2, 5)],
        *[
            fetch(session_id=8, session_epoch=n, fetch_offset=5, source_line=20 + n, partition=1, is_implied=n == 6)
            for n in (1, 6)
        ],
        # All have failed and are forgotten, by request 3.
        *[
            fetch(
                session_id=9, session_epoch=n, session_unbroken_since=1, fetch_offset=5, source_line=30 + n,
                error_code=code,
            )
            for n, code in ((1, 0), (2, 75), (4, 0))
        ],
    ])},
    # Leaders that begin below a HW: 2 never had the rest, was in the ISR that had it, or had asked for more.
    "lagged": led(*SHORTER, isr=[1]) | {T.REPLICA_TIMELINE: [state(2, 0, 2, 6, 5, remote_log_end_offset=6)]},
    "was_in_the_isr": led(*SHORTER, isr=[1, 2]),
    "had_more": led(*SHORTER, isr=[1]) | {T.REPLICA_TIMELINE: [state(2, 0, 2, 7, 5, remote_log_end_offset=7)]},
    "had_cut": led(*SHORTER, isr=[1, 2]) | {T.TRUNCATIONS: [cut(2, 1, 7, 6, event_time=at(8))]},
    # Of [0, 5) the leader of epoch 1 has [0, 2).
    "consumed": led(event(0, 1, 0, 0), event(0, 2, 5, 5), event(1, 1, 2, 2)) | {
        T.FETCH_EVENTS: [
            read("went_on", 1, 0), read("went_on", 2, 3, records_size=0),
            read("committed", 1, 0, isolation_level=1, response_last_stable_offset=2),
            read("last", 1, 0), read("last", 2, 1),
            read("beyond", 1, 0), read("beyond", 11, 5, leader_epoch=1, error_code=1),
            read("set_back", 1, 1), read("set_back", 11, 2, leader_epoch=1, records_size=0),
            read("later", 11, 0, leader_epoch=1), read("later", 12, 2, leader_epoch=1, records_size=0),
        ],
    },
    # Uncleanly elected, 2 appends where 1 has records; then 1 leads again, or 3 with the same log, and 2 has to cut.
    "led_again": led(*TAKEN_OVER, event(2, 1, 10, 8, leader_id=1)) | {
        T.REPLICA_TIMELINE: [*HELD_BEFORE, state(1, 2, 1, 10, 8, role="LEADER")],
        T.TRUNCATIONS: [cut(2, 2, 12, 8, event_time=at(25))],
    },
    "led_by_another": led(*TAKEN_OVER, event(2, 1, 10, 8, leader_id=3)) | {
        T.REPLICA_TIMELINE: [*HELD_BEFORE, state(1, 2, 2, 10, 8, remote_log_end_offset=10)],
    },
    "diverged": led(event(0, 1, 0, 0), event(0, 2, 10, 10), event(1, 1, 9, 9), event(1, 2, 12, 9)) | {
        T.REPLICA_TIMELINE: [state(1, 1, 3, 11, 9, remote_log_end_offset=11), *WENT_ON],
    },
    # Of three followers that cut to their own HWs one has its HW beyond the new leader's LEO.
    "left_apart": led(event(0, 1, 0, 0), event(0, 2, 10, 10), event(1, 1, 9, 9), event(1, 2, 12, 9)) | {
        T.REPLICA_TIMELINE: [
            *WENT_ON,
            state(4, 0, 2, 10, 9, remote_log_end_offset=10), state(4, 1, 2, 10, 9, remote_log_end_offset=9),
            state(5, 0, 2, 9, 9, remote_log_end_offset=9), state(5, 1, 2, 12, 9, remote_log_end_offset=12),
        ],
    },
    # RECOVERING is carried over clean elections, until the leader changes the ISR.
    "recovering": metadata(
        (0, 1, [1], False), (1, 2, [2], True), (2, -1, [2], True), (3, 2, [2], True), (3, 2, [1, 2], False),
        (4, 1, [1, 2], False),
    ),
    "recovering_again": metadata((0, 1, [1], False), (1, 2, [2], True), (2, -1, [2], True), (3, 3, [3], True)),
    "in_the_isr": metadata((0, 1, [1, 2], False), (1, 2, [2], True)),
    # ELR: the ISR becomes empty, and its last member is elected; another one is not eligible.
    "eligible": metadata((0, 1, [1], False), (1, 2, [2], True), (2, -1, [], True), (3, 2, [2], True)),
    "not_eligible": metadata(
        (0, 1, [1], False), (1, -1, [], False), (2, 1, [1], True), (3, -1, [], True), (4, 3, [3], True),
    ),
    "shrunk_by_the_controller": metadata((0, 1, [1], False), (1, 2, [2], True), (2, 2, [2], True)),
    "recovering_by_lines": said((0, 1, [1], None), (1, 2, [2], True), (3, 2, [2], True), (4, 2, [2], None)),
    "recovering_at_first": metadata((5, 2, [2], True), (6, -1, [2], True), (7, 2, [2], True)),
    "isr_not_up_to_date": said((0, 1, [1, 2], False), (1, 2, [2], True)),
    "inferred": said((0, 1, [1, 2], None), (1, 3, [3], None)),
    # Whom leader 9 had in its ISR nobody knows.
    "inferred_over_silence": led(event(0, 1, 9, 9, isr=[1, 2]), event(2, 1, 9, 9, isr=[3])) | {
        T.LEADER_CHANGES: changes((1, 3, 9)),
    },
    # Nobody knows how epoch 1 began; that of epoch 2 has not what epoch 0 had.
    "begin_untold": led(
        event(0, 1, 0, 0), event(0, 2, 10, 8),
        event(1, 2, 3, 3, log_end_offset_high=50, high_watermark_high=9, exactness="bounded"), event(2, 1, 5, 5),
    ),
    "hw_unknown": led(event(0, 1, 0, -1), event(0, 2, 10, -1, exactness="bounded"), event(1, 1, 4, 4)),
    "leo_unknown": led(event(0, 1, 0, 0), event(0, 2, 10, 10), event(1, 1, -1, 5)),
    # The clock of the next leader is behind by some seconds.
    "clock_behind": led(
        event(0, 1, 5, 5, isr=[1, 2]), changed_isr(0, 7, 9, 5, isr=[1], is_under_min_isr=True),
        event(0, 9, 9, 5, isr=[1], is_under_min_isr=True), event(1, 1, 9, 9, isr=[1, 2], event_time=at(5)),
    ) | {
        T.LEADER_CHANGES: [*changes((0, 1, 1), (1, 1, -1)), became_leader(2, 2, event_time=at(6))],
    },
}  # fmt: skip
