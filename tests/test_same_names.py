"""Two deliveries that hold a file of the same name, as of one that is rotated every day: each line is its own."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from expectations.reads import IS_BELOW_BY_THEN
from expectations.record_subjects import IS_RECORDED, fetches
from replay.profile import Profile
from replay.what_if.high_watermark import differences
from schemas import tables as T
from schemas.kinds import StatementKind as S
from tests.checked_rows import HERE, Given, at, became_leader, event, fetched, frames
from tests.frames import rows
from tests.rebuilt import Answers, Logs, asked

pytestmark = pytest.mark.spark


def shrinking(second: float, capture_id: str, remote_leo: int) -> list[Given]:
    """The statements of leader 1's line "Shrinking ISR" that replica 2 is to leave, always line 7 of its file."""
    line = {"capture_id": capture_id, "source_file": "broker-1/server.log", "source_line": 7}
    of_line = {**HERE, **line, "broker_id": 1, "leader_epoch": 0, "event_time": at(second)}
    return [
        {**of_line, "kind": S.SHRINKING_LEO.value, "offset": 9, "replica_id": -1},
        {**of_line, "kind": S.SHRINKING_REMOTE_LEO.value, "offset": remote_leo, "replica_id": 2},
    ]


@asked
def namesakes() -> Logs:
    """A leader's lines of two files of the same name."""
    begins = became_leader(0, 1, isr=[1, 2], replicas=[1, 2], event_time=at(0), partition_epoch=0)
    told = [*shrinking(100, "one", 5), *shrinking(200, "two", 7)]
    landing = {T.LEADER_CHANGES.name: [begins], T.BROKER_STATEMENTS.name: told}
    return Logs(landing, {HERE["cluster_id"]: Profile(has_silence=True)}, 2)


def test_what_a_leader_told_is_told_once(rebuilt: Answers) -> None:
    """In silence each line is an event of its own, with the remote LEOs that it states."""
    (told,) = rebuilt[namesakes].values()
    shown = [row for row in told.leader if row["source_line"] == 7]

    assert [row["remote_log_end_offset"] for row in shown] == [{2: 5}, {2: 7}]


def test_what_is_rebuilt_of_a_fetch_is_rebuilt_of_no_other(spark: SparkSession) -> None:
    """A diverging fetch is not recorded by an event of its namesake, and a read not excused by the other's HW."""
    line: dict[str, Any] = {"source_file": "broker-1/state-change.log", "source_line": 2}
    reader = {
        "replica_id": -1,
        "records_size": 9,
        "fetch_offset": 9,
        "response_time": at(2),
        "response_high_watermark": 9,
    }
    tables = frames(spark, {
        T.LEADER_TIMELINE: [event(0, 1, 9, 5), event(0, 2, 12, 10)],
        T.FETCH_EVENTS: [
            fetched(2, **line, diverging_epoch=3), fetched(2, **line, diverging_epoch=3, capture_id="two"),
            fetched(3, **reader, event_time=at(2)),
            fetched(3, **reader | {"response_time": at(1)}, event_time=at(1), capture_id="two"),
        ],
    })  # fmt: skip
    found = {(row["capture_id"], row["source_line"]): row for row in fetches(tables).collect()}

    assert len(found) == 4
    assert [found[capture_id, 2][IS_RECORDED] for capture_id in ("one", "two")] == [True, False]
    assert [found[capture_id, 3][IS_BELOW_BY_THEN] for capture_id in ("one", "two")] == [True, False]


def test_an_event_is_compared_with_itself(spark: SparkSession) -> None:
    """Under other rules: by its line, and where no line tells of it by its time."""
    unlined = {"source_file": None, "source_line": None, "event_type": "WITNESS"}
    # Two markers of one request, at the end.
    markers = [{"event_type": "APPEND", "source_line": 7}] * 2
    more = [{}, {"capture_id": "two", "source_line": 1}, unlined, {**unlined, "event_time": at(9)}, *markers]
    was, would_be = (
        rows(spark, T.LEADER_TIMELINE, *[event(0, n, 99, hw + n, **it) for n, it in enumerate(more, start=1)])
        for hw in (0, 10)
    )
    found = differences(was, would_be, "min_isr=1").orderBy("event_seq").collect()

    hws = [(row["high_watermark"], row["what_if_high_watermark"]) for row in found]
    assert hws == [(n, 10 + n) for n in range(1, 7)]
