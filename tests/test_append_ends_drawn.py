"""Where appends ended, and which offsets markers have, of drawn logs: what the lines of requests tell, and the truth.

A log is drawn by the protocol alone. A handler thread works on a request from its begin for its local time; the leader
appends somewhere in between, one batch after another. Lines tell begins that are cut to milliseconds, base offsets of
what was answered with one, and offsets that followers asked for: where batches ended, though not each end. A repeat is
answered with the offset of the first. A leader begins with a log that may have less than the last one's; lines that
tell of its length may be lost, and some of followers' fetches. Nothing is under way when an epoch ends.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas import tables as T
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import ChangeKind, StatementKind
from sources.earlier import Earlier
from sources.resolve_epochs import terms, with_append_epoch
from sources.resolved import _with_ends
from tests.frames import rows

pytestmark = pytest.mark.spark

DRAWN = 600
MS = 1_000
BROKERS = (1, 2, 3)
MAY_BE_THERE = (3, 6, 7, 20, 56)
Row = dict[str, Any]
Key = tuple[str, int, int]
"""Topic, line and producer."""


def at_us(us: int) -> datetime:
    """So many microseconds after the beginning."""
    return datetime(2026, 1, 1) + timedelta(microseconds=us)  # noqa: DTZ001 - all times are UTC


@dataclass(frozen=True)
class Work:
    """Work on a request, in microseconds; `at` is when the leader appended."""

    row: Row
    begin: int
    at: int
    end: int
    size: int
    """Records that were appended."""
    is_repeat: bool = False


@dataclass
class Log:
    """A partition's log at its leader, and all that is told of it."""

    topic: str
    random: Random
    ends: list[int]
    """Where its first batch begins, and where each ended."""
    leader: int = 1
    epoch: int = -1
    us: int = 10_000_000
    lines: int = 0
    told: dict[T.Table, list[Row]] = field(default_factory=lambda: defaultdict(list))
    true: dict[Key, tuple[int, int]] = field(default_factory=dict)
    answers: list[tuple[int, int]] = field(default_factory=list)
    """First and last offset of each append of the epoch that has an answer."""
    markers: list[tuple[Key, int, int]] = field(default_factory=list)
    """When each was worked on."""
    leos: dict[int, int] = field(default_factory=dict)
    """Of who does not lead: a leader before is cut when it asks the next one, and not before."""

    def tell(self, table: T.Table, us: int, **row: object) -> None:
        """A line."""
        place = {"topic": self.topic, "topic_id": "id", "partition": 0, "broker_id": self.leader, "source_file": "f"}
        self.told[table].append({**place, "producer_id": -1, "event_time": at_us(us), **row})

    def later(self) -> int:
        """The time, a while later."""
        self.us += self.random.choice((150, 1_500, 6_000, 40_000)) * self.random.randint(0, 100) // 100
        return self.us

    def next_line(self) -> int:
        """The number of the next line."""
        self.lines += 1
        return self.lines

    def chance(self, of: float) -> bool:
        """Whether what is so likely happens."""
        return self.random.random() < of


def drawn(seed: int) -> Log:
    """A log of up to three leader epochs."""
    log = Log(f"log-{seed}", Random(seed), [Random(seed).choice((0, 0, 57))])
    for epoch in range(log.random.randint(1, 3)):
        lead(log, epoch)
        begin, begun_with = log.later(), log.ends[-1]
        works = [work for _ in range(log.random.randint(1, 9)) for work in request(log)]
        lengths = [(begin, begun_with)]
        for work in sorted(works, key=lambda work: work.at):
            done(log, work)
            lengths.append((work.at, log.ends[-1]))
        log.us = max(work.end for work in works)
        for follower in sorted({*BROKERS} - {log.leader}):
            if log.chance(0.7):
                ask(log, follower, begin, lengths)
        log.us = log.later() + 5 * MS
    return log


def lead(log: Log, epoch: int) -> None:
    """The next epoch begins: its leader's log ends where the last one's does, or where a batch of it ended."""
    log.leos[log.leader] = log.ends[-1]
    before, log.leader = log.leader, log.random.choice(BROKERS) if epoch else 1
    log.epoch, log.answers = epoch, []
    if log.leader != before and log.chance(0.5):
        del log.ends[log.random.randint(1, len(log.ends)) :]
    log.leos[log.leader] = log.ends[-1]
    for broker in BROKERS:
        change, kind = ChangeKind.BECOME_FOLLOWER, StatementKind.BECAME_FOLLOWER_LEO
        if broker == log.leader:
            change, kind = ChangeKind.BECOME_LEADER, StatementKind.BECAME_LEADER_LEO
        us, role = log.us // MS * MS, {"leader_epoch": epoch, "broker_id": broker}
        log.tell(T.LEADER_CHANGES, us, change_kind=change.value, leader_id=log.leader, **role)
        if log.chance(0.8):
            log.tell(T.BROKER_STATEMENTS, us, kind=kind.value, offset=log.leos.get(broker, log.ends[0]), **role)


def request(log: Log) -> Iterator[Work]:
    """Work on a request: of a producer, answered or not, once or again, or of a coordinator, of one marker or two."""
    draw, begin, line = log.random, log.later(), log.next_line()
    end = begin + draw.choice((300, 300, 3_000, 30_000)) * draw.randint(5, 100) // 100
    done_us = end + draw.choice((0, draw.randint(100, 20_000)))
    row: Row = {"source_line": line, "us": begin - done_us % MS, "local_time_us": end - begin, "error_code": 0}
    kind = draw.choices(("append", "markers", "unasked", "refused", "repeat"), (10, 6, 0.6, 1, 1.2))[0]
    if kind == "append":
        error = draw.choices((0, 6, 7, 20), (12, 1, 1, 1))[0]
        if log.chance(0.3):  # its coordinator is asked before its records are appended: that is no local time (KIP-890)
            row |= {"is_transactional": True, "response_time": at_us(done_us)}
            end = done_us
        yield Work({**row, "acks": -1, "error_code": error}, begin, draw.randint(begin, end), end, draw.randint(1, 4))
    elif kind == "markers":
        at = sorted(draw.randint(begin, end) for _ in range(2))
        for producer, us in zip(draw.sample(range(7, 12), draw.choice((1, 1, 1, 2))), at, strict=False):
            error = draw.choices((0, *MAY_BE_THERE, 47), (20, 1, 1, 1, 1, 1, 1))[0]
            size = 1 if error == 0 else draw.randint(0, 1) if error in MAY_BE_THERE else 0
            yield Work({**row, "producer_id": producer, "is_control": True, "error_code": error}, begin, us, end, size)
    elif kind == "unasked":
        yield Work({**row, "acks": 0}, begin, draw.randint(begin, end), end, draw.randint(0, 4))
    elif kind == "refused":
        yield Work({**row, "acks": -1, "error_code": draw.choice((6, 19))}, begin, begin, end, 0)
    else:
        yield Work({**row, "acks": -1}, begin, draw.randint(begin, end), end, 0, is_repeat=True)


def done(log: Log, work: Work) -> None:
    """What the leader did, and what its line tells of that."""
    key, base = (log.topic, work.row["source_line"], work.row.get("producer_id", -1)), UNKNOWN_OFFSET
    is_marker, has_answer = work.row.get("is_control", False), work.row.get("acks") == -1
    if work.is_repeat and log.answers:
        log.true[key] = log.random.choice(log.answers[-5:])
        base = log.true[key][0]
    elif work.size:
        log.true[key] = log.ends[-1], log.ends[-1] + work.size - 1
        log.ends.append(log.ends[-1] + work.size)
        if has_answer:
            log.answers.append(log.true[key])
            base = log.true[key][0]
    if is_marker and work.size:
        log.markers.append((key, work.begin, work.end))
    row: Row = {"is_control": False, **work.row, "base_offset": base, "last_offset": UNKNOWN_OFFSET}
    log.tell(T.PRODUCE_EVENTS, row.pop("us"), leader_epoch=-1, **row)


def ask(log: Log, follower: int, begin: int, lengths: list[tuple[int, int]]) -> None:
    """A follower asks from where its log ends, and gets all batches or some; what else is asked for may be anywhere."""
    draw, us = log.random, begin
    offset = max(end for end in log.ends if end <= min(lengths[0][1], log.leos.get(follower, log.ends[0])))
    while us < log.us + 20 * MS:
        fetch = {"leader_epoch": log.epoch, "error_code": 0, "diverging_epoch": -1, "local_time_us": 0}
        if log.chance(0.5):
            log.tell(T.FETCH_EVENTS, us, **fetch, replica_id=follower, fetch_offset=offset, source_line=log.next_line())
        if log.chance(0.1):
            other: Row = draw.choice(({"replica_id": -1}, {"error_code": 1}, {"diverging_epoch": 0}))
            anywhere = draw.randint(log.ends[0], log.ends[-1])
            of_other = {**fetch, "replica_id": follower, **other, "fetch_offset": anywhere}
            log.tell(T.FETCH_EVENTS, us, **of_other, source_line=log.next_line())
        there = max(length for since, length in lengths if since <= us)
        ahead = [end for end in log.ends if offset <= end <= there]
        offset = ahead[-1] if log.chance(0.7) else draw.choice(ahead)
        us += draw.choice((300, 1_500, 6_000, 40_000)) * draw.randint(10, 100) // 100
    log.leos[follower] = offset


def beside_another(log: Log) -> set[Key]:
    """Markers of which nobody knows which came first: the request had two, or another was worked on at the time."""
    return {
        one
        for one, begin, end in log.markers
        for other, other_begin, other_end in log.markers
        if one != other and begin <= other_end + MS and other_begin <= end + MS
    }


def ended(spark: SparkSession, logs: list[Log]) -> list[Any]:
    """The appends of all logs, with where they ended."""
    tables = (T.PRODUCE_EVENTS, T.FETCH_EVENTS, T.BROKER_STATEMENTS, T.LEADER_CHANGES, T.SEGMENT_BATCHES)
    appends, fetches, stated, changes, batches = (
        rows(spark, table, *(row for log in logs for row in log.told[table])).localCheckpoint() for table in tables
    )
    epochs = terms(changes, fetches, stated).localCheckpoint()
    of_epochs = with_append_epoch(appends, epochs).localCheckpoint()
    return _with_ends(of_epochs, fetches, stated, epochs, batches, Earlier({}, "capture", [])).collect()


def test_what_is_told_is_true(spark: SparkSession) -> None:
    """What is not unknown. Of markers at once each has the offset of one of them; most others have their own."""
    logs = [drawn(seed) for seed in range(DRAWN)]
    true = {key: offsets for log in logs for key, offsets in log.true.items()}
    at_once = {key for log in logs for key in beside_another(log)}
    of_markers = {(key[0], true[key][0]) for log in logs for key, _, _ in log.markers}
    wrong, known = [], Counter[bool]()
    for row in ended(spark, logs):
        key, told = (row.topic, row.source_line, row.producer_id), (row.base_offset, row.last_offset)
        expected = true.get(key, (UNKNOWN_OFFSET, UNKNOWN_OFFSET))
        known[row.is_control] += row.last_offset >= 0
        is_true = all(one in (UNKNOWN_OFFSET, truth) for one, truth in zip(told, expected, strict=True))
        if not is_true and not (key in at_once and (row.topic, row.base_offset) in of_markers):
            wrong.append((key, told, expected))

    assert wrong == []
    assert known[False] >= 1_500
    assert known[True] >= 130
