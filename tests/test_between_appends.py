"""What came between two appends, of which no response tells an offset: transaction markers, and acks=0."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from schemas.kinds import StatementKind
from schemas.tables import BROKER_STATEMENTS, FETCH_EVENTS, PRODUCE_EVENTS, SEGMENT_BATCHES
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


def resolved(
    spark: SparkSession,
    *appends: Told,
    fetches: tuple[Told, ...] = (),
    dump: tuple[Told, ...] = (),
    stated: tuple[Told, ...] = (),
) -> list[tuple[int, int]]:
    """First and last offset of each append that is left, in the order of the lines."""
    told = rows_of(spark, PRODUCE_EVENTS, *appends)
    batches = rows_of(spark, SEGMENT_BATCHES, *dump)
    statements = rows_of(spark, BROKER_STATEMENTS, *stated)
    ends = batch_ends(rows_of(spark, FETCH_EVENTS, *fetches), rows_of(spark, BROKER_STATEMENTS))
    placed = with_ends(told, statements, batches, ends)
    assert placed.columns == told.columns
    return [(row.base_offset, row.last_offset) for row in placed.orderBy("source_line").collect()]


def test_markers_end_an_append_before_the_next_one(spark: SparkSession) -> None:
    """Two of them after the first append, in the order of their times, and none after the second."""
    told = append(0, at=10), marker(12, producer=8), marker(11), append(9, at=13), append(12, at=14)

    assert resolved(spark, *told) == [(0, 6), (8, 8), (7, 7), (9, 11), (12, -1)]


def test_where_a_marker_may_lie_before_or_after_an_append_nothing_is_told(spark: SparkSession) -> None:
    """Both were worked on at the same time; the gaps on both sides are open, the next one is not."""
    told = (
        append(0, at=10), append(5, at=11), append(8, at=11.5), marker(11.4995, local_ms=2), append(15, at=12),
        append(20, at=13),
    )  # fmt: skip

    assert resolved(spark, *told) == [(0, 4), (5, -1), (8, -1), (-1, -1), (15, 19), (20, -1)]


def test_how_many_records_came_without_acks_nothing_tells(spark: SparkSession) -> None:
    """Nor whether a marker is there that was refused after it may have been appended; one that was not, is not."""
    told = append(0, at=10), unasked(10.5), append(5, at=11), marker(11.5, error=6), append(8, at=12)
    refused = marker(12.5, error=47), append(15, at=13)

    assert resolved(spark, *told, *refused) == [(0, -1), (-1, -1), (5, -1), (-1, -1), (8, 14), (-1, -1), (15, -1)]


def test_a_marker_that_does_not_fit_is_placed_nowhere(spark: SparkSession) -> None:
    """There is no room for it: a clock is wrong, or a line is lost. The append itself has one record at least."""
    assert resolved(spark, append(0, at=10), marker(11), append(1, at=12)) == [(0, 0), (-1, -1), (1, -1)]


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [((4, 5), [(0, 3), (4, 4)]), ((4,), [(0, -1), (-1, -1)]), ((5,), [(0, -1), (-1, -1)]), ((), [(0, -1), (-1, -1)])],
    ids=["one between, and one after", "maybe between", "maybe after", "none"],
)
def test_at_the_end_of_a_log_fetches_tell(
    spark: SparkSession, offsets: tuple[int, ...], expected: list[tuple[int, int]]
) -> None:
    """An append and its marker: of one offset that was asked for nobody knows on which side of the marker it is."""
    fetches = tuple(fetched(offset) for offset in offsets)

    assert resolved(spark, append(0, at=10), marker(11), fetches=fetches) == expected


def test_what_a_dump_has_the_dump_tells(spark: SparkSession) -> None:
    """The first marker is in it, and gets its row by `unlogged_appends`; the second one was truncated."""
    dump = batch(0, 3), batch(4, 4, is_control=True), batch(5, 8)
    told = append(0, at=10), marker(11), append(5, at=12), marker(13), append(10, at=14)

    assert resolved(spark, *told, dump=dump) == [(0, 3), (5, 8), (9, 9), (10, -1)]


def test_a_repeat_is_answered_with_the_offset_of_the_first(spark: SparkSession) -> None:
    """The marker came before the repeat, and after the append."""
    told = append(0, at=10), marker(11), append(0, at=12), append(5, at=13)

    assert resolved(spark, *told) == [(0, 3), (4, 4), (0, 3), (5, -1)]


def test_a_marker_may_be_what_a_leader_begins_with(spark: SparkSession) -> None:
    """Of a log that has 5 records, or none; and where an append is the first, it is that."""
    line = {"kind": "became_leader_log_end_offset", "event_time": 10}
    begins = {"offset": 5, "leader_epoch": 0, **line}, {"offset": 0, "leader_epoch": 1, **line}
    of_1 = marker(11, producer=8) | {"leader_epoch": 1}, append(1, epoch=1, at=12)

    assert resolved(spark, marker(11), append(6, at=12), *of_1, stated=begins) == [(5, 5), (6, -1), (0, 0), (1, -1)]
    assert resolved(spark, append(5, at=11), marker(12), append(9, at=13), stated=begins[:1]) == [
        (5, 7), (8, 8), (9, -1),
    ]  # fmt: skip


def test_each_log_is_counted_by_itself(spark: SparkSession) -> None:
    """In another epoch, or of another partition, nothing is silent."""
    other = (
        append(0, epoch=1, at=10),
        append(5, epoch=1, at=12),
        append(7, at=10, partition=3),
        append(9, at=12, partition=3),
    )

    assert resolved(spark, append(0, at=10), marker(11), append(5, at=12), *other) == [
        (0, 3), (4, 4), (5, -1), (0, 4), (5, -1), (7, 8), (9, -1),
    ]  # fmt: skip


def test_an_append_has_one_record_at_least(spark: SparkSession) -> None:
    """Where the next one begins right behind that, or a follower asks, nothing lies between, whatever came."""
    told = append(0, at=10), unasked(10.5), append(1, at=11), unasked(11.5)

    assert resolved(spark, *told, fetches=(fetched(2),)) == [(0, 0), (-1, -1), (1, 1), (-1, -1)]


def test_the_coordinator_of_a_transaction_is_asked_before_its_records_are_appended(spark: SparkSession) -> None:
    """Until the response, that is: a marker that came meanwhile may lie before them, and others after it."""
    slow = append(6, at=11.002, is_transactional=True, response_time=11.020, local_time_us=200)
    told = append(0, at=10), slow, marker(11.010), append(9, at=12)

    assert resolved(spark, *told) == [(0, -1), (6, -1), (-1, -1), (9, -1)]


def test_no_append_was_worked_on_before_one_of_a_lower_offset_nor_after_one_of_a_higher(spark: SparkSession) -> None:
    """The slow one was done before the next: the marker came later than that."""
    slow = append(6, at=11, is_transactional=True, response_time=11.9, local_time_us=200)
    told = append(0, at=10), slow, append(9, at=11.1), marker(11.5), append(12, at=13)

    assert resolved(spark, *told) == [(0, 5), (6, 8), (9, 10), (11, 11), (12, -1)]


def test_of_internal_topics_no_marker_is_placed(spark: SparkSession) -> None:
    """Their coordinators append besides, as no line tells."""
    internal = {"topic": "__consumer_offsets"}
    told = append(0, at=10, **internal), {**marker(11), **internal}, append(9, at=13, **internal)

    assert resolved(spark, *told) == [(0, -1), (-1, -1), (9, -1)]


def test_a_repeat_in_a_later_epoch_ends_where_its_original_did(spark: SparkSession) -> None:
    """The next leader answers with the offset of the first (KIP-98), by its request or its dump; of 7 nobody knows."""
    first = append(0, at=10), append(5, at=11), append(8, at=12)
    repeats = append(0, epoch=1, at=20), append(7, epoch=1, at=21), append(8, epoch=1, at=22)
    told = *first, *repeats, append(10, epoch=1, at=23), append(13, epoch=1, at=24)
    begins = {"kind": StatementKind.BECAME_LEADER_LEO.value, "offset": 10, "leader_epoch": 1, "event_time": 19}

    found = resolved(spark, *told, stated=(begins,), dump=(batch(8, 9),))

    assert found == [(0, 4), (5, 7), (8, 9), (0, 4), (7, -1), (8, 9), (10, 12), (13, -1)]
