"""What came between two appends, of which no response tells an offset: transaction markers, and acks=0."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from pyspark.sql import DataFrame, SparkSession

from schemas.kinds import StatementKind
from schemas.tables import BROKER_STATEMENTS, FETCH_EVENTS, PRODUCE_EVENTS, SEGMENT_BATCHES, Table
from sources.append_ends import with_ends
from sources.resolve_appends import batch_ends
from tests.test_resolve_appends import append, batch, fetched, rows_of

pytestmark = pytest.mark.spark

Told = dict[str, object]


def marker(at: float, producer: int = 7, error: int = 0, local_ms: float = 0) -> Told:
    """A marker that a request tells of."""
    told = {"base_offset": -1, "leader_epoch": 0, "event_time": at, "error_code": error, "producer_id": producer}
    return {**told, "is_control": True, "is_transactional": True, "local_time_us": int(local_ms * 1000)}


def unasked(at: float) -> Told:
    """An append with acks=0."""
    return {"base_offset": -1, "leader_epoch": 0, "event_time": at, "error_code": 0, "acks": 0}


@dataclass(frozen=True)
class Log:
    """What is told of a log, and first and last offset of each append that is left, in the order of the lines."""

    appends: tuple[Told, ...]
    ends: list[tuple[int, int]]
    fetches: tuple[Told, ...] = ()
    dump: tuple[Told, ...] = ()
    stated: tuple[Told, ...] = ()


def at_the_end(*offsets: int, ends: list[tuple[int, int]]) -> Log:
    """An append and its marker: of one offset that was asked for nobody knows on which side of the marker it is."""
    return Log((append(0, at=10), marker(11)), ends, fetches=tuple(fetched(offset) for offset in offsets))


BEGINS: Told = {"kind": StatementKind.BECAME_LEADER_LEO.value, "event_time": 10}
SLOW = {"is_transactional": True, "local_time_us": 200}
INTERNAL = {"topic": "__consumer_offsets"}
LOGS = {
    # Two of them after the first append, in the order of their times, and none after the second.
    "markers_end_an_append_before_the_next_one": Log(
        (append(0, at=10), marker(12, producer=8), marker(11), append(9, at=13), append(12, at=14)),
        [(0, 6), (8, 8), (7, 7), (9, 11), (12, -1)],
    ),
    # Both were worked on at the same time; the gaps on both sides are open, the next one is not.
    "where_a_marker_may_lie_before_or_after_an_append_nothing_is_told": Log(
        (
            append(0, at=10), append(5, at=11), append(8, at=11.5), marker(11.4995, local_ms=2), append(15, at=12),
            append(20, at=13),
        ),
        [(0, 4), (5, -1), (8, -1), (-1, -1), (15, 19), (20, -1)],
    ),
    # Nor whether a marker is there that was refused after it may have been appended; one that was not, is not.
    "how_many_records_came_without_acks_nothing_tells": Log(
        (
            append(0, at=10), unasked(10.5), append(5, at=11), marker(11.5, error=6), append(8, at=12),
            marker(12.5, error=47), append(15, at=13),
        ),
        [(0, -1), (-1, -1), (5, -1), (-1, -1), (8, 14), (-1, -1), (15, -1)],
    ),
    # There is no room for it: a clock is wrong, or a line is lost. The append itself has one record at least.
    "a_marker_that_does_not_fit_is_placed_nowhere": Log(
        (append(0, at=10), marker(11), append(1, at=12)), [(0, 0), (-1, -1), (1, -1)]
    ),
    "at_the_end_of_a_log_fetches_tell_of_one_between_and_one_after": at_the_end(4, 5, ends=[(0, 3), (4, 4)]),
    "at_the_end_of_a_log_one_maybe_between_tells_nothing": at_the_end(4, ends=[(0, -1), (-1, -1)]),
    "at_the_end_of_a_log_one_maybe_after_tells_nothing": at_the_end(5, ends=[(0, -1), (-1, -1)]),
    "at_the_end_of_a_log_no_fetch_tells_nothing": at_the_end(ends=[(0, -1), (-1, -1)]),
    # The first marker is in it, and gets its row by `unlogged_appends`; the second one was truncated.
    "what_a_dump_has_the_dump_tells": Log(
        (append(0, at=10), marker(11), append(5, at=12), marker(13), append(10, at=14)),
        [(0, 3), (5, 8), (9, 9), (10, -1)],
        dump=(batch(0, 3), batch(4, 4, is_control=True), batch(5, 8)),
    ),
    # The marker came before the repeat, and after the append.
    "a_repeat_is_answered_with_the_offset_of_the_first": Log(
        (append(0, at=10), marker(11), append(0, at=12), append(5, at=13)), [(0, 3), (4, 4), (0, 3), (5, -1)]
    ),
    # Of a log that has 5 records, or none;
    "a_marker_may_be_what_a_leader_begins_with": Log(
        (marker(11), append(6, at=12), marker(11, producer=8) | {"leader_epoch": 1}, append(1, epoch=1, at=12)),
        [(5, 5), (6, -1), (0, 0), (1, -1)],
        stated=({"offset": 5, "leader_epoch": 0, **BEGINS}, {"offset": 0, "leader_epoch": 1, **BEGINS}),
    ),
    # and where an append is the first, it is that.
    "a_leader_begins_with_an_append": Log(
        (append(5, at=11), marker(12), append(9, at=13)),
        [(5, 7), (8, 8), (9, -1)],
        stated=({"offset": 5, "leader_epoch": 0, **BEGINS},),
    ),
    # In another epoch, or of another partition, nothing is silent.
    "each_log_is_counted_by_itself": Log(
        (
            append(0, at=10), marker(11), append(5, at=12), append(0, epoch=1, at=10), append(5, epoch=1, at=12),
            append(7, at=10, partition=3), append(9, at=12, partition=3),
        ),
        [(0, 3), (4, 4), (5, -1), (0, 4), (5, -1), (7, 8), (9, -1)],
    ),
    # Where the next one begins right behind that, or a follower asks, nothing lies between, whatever came.
    "an_append_has_one_record_at_least": Log(
        (append(0, at=10), unasked(10.5), append(1, at=11), unasked(11.5)),
        [(0, 0), (-1, -1), (1, 1), (-1, -1)],
        fetches=(fetched(2),),
    ),
    # Until the response, that is: a marker that came meanwhile may lie before them, and others after it.
    "the_coordinator_of_a_transaction_is_asked_before_its_records_are_appended": Log(
        (append(0, at=10), append(6, at=11.002, response_time=11.020, **SLOW), marker(11.010), append(9, at=12)),
        [(0, -1), (6, -1), (-1, -1), (9, -1)],
    ),
    # The slow one was done before the next: the marker came later than that.
    "no_append_was_worked_on_before_one_of_a_lower_offset_nor_after_one_of_a_higher": Log(
        (
            append(0, at=10), append(6, at=11, response_time=11.9, **SLOW), append(9, at=11.1), marker(11.5),
            append(12, at=13),
        ),
        [(0, 5), (6, 8), (9, 10), (11, 11), (12, -1)],
    ),
    # Their coordinators append besides, as no line tells.
    "of_internal_topics_no_marker_is_placed": Log(
        (append(0, at=10, **INTERNAL), marker(11) | INTERNAL, append(9, at=13, **INTERNAL)),
        [(0, -1), (-1, -1), (9, -1)],
    ),
    # The next leader answers with the offset of the first (KIP-98), by its request or its dump; of 7 nobody knows.
    "a_repeat_in_a_later_epoch_ends_where_its_original_did": Log(
        (
            append(0, at=10), append(5, at=11), append(8, at=12), append(0, epoch=1, at=20), append(7, epoch=1, at=21),
            append(8, epoch=1, at=22), append(10, epoch=1, at=23), append(13, epoch=1, at=24),
        ),
        [(0, 4), (5, 7), (8, 9), (0, 4), (7, -1), (8, 9), (10, 12), (13, -1)],
        stated=({**BEGINS, "offset": 10, "leader_epoch": 1, "event_time": 19},),
        dump=(batch(8, 9),),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def resolved(spark: SparkSession) -> Mapping[str, list[tuple[int, int]]]:
    """First and last offset of each append that is left, in the order of the lines, by log: all in one plan."""

    def rows(table: Table, told: str) -> DataFrame:
        each = [{"topic": name, **row, "topic_id": name} for name, log in LOGS.items() for row in getattr(log, told)]
        return rows_of(spark, table, *each)

    appends, statements = rows(PRODUCE_EVENTS, "appends"), rows(BROKER_STATEMENTS, "stated")
    ends = batch_ends(rows(FETCH_EVENTS, "fetches"), rows_of(spark, BROKER_STATEMENTS))
    placed = with_ends(appends, statements, rows(SEGMENT_BATCHES, "dump"), ends)
    assert placed.columns == appends.columns
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in placed.orderBy("source_line").collect():
        found[row.topic_id].append((row.base_offset, row.last_offset))
    return found


@pytest.mark.parametrize("name", LOGS)
def test_where_appends_end(name: str, resolved: Mapping[str, list[tuple[int, int]]]) -> None:
    """As far as what came between them tells."""
    assert resolved[name] == LOGS[name].ends
