"""Times without a request log, and logs that got shorter without a word, on literal rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from replay.events.heard import AT_US, HEARD_UNTIL_US, IS_CUT_AFTER, IS_CUT_BEFORE, heard, in_silence
from replay.events.silence import silent_batches, silent_changes
from replay.findings.contacts import contacts
from replay.findings.silent_cuts import silent_truncations
from replay.findings.spans import spans
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind as S
from tests.frames import rows
from tests.sessions import with_unbroken

pytestmark = pytest.mark.spark

BEGIN = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
HERE = {"cluster_id": "c", "capture_id": "one", "topic": "t", "topic_id": "x", "partition": 0}


def at(second: float) -> datetime:
    """A time of the story."""
    return BEGIN + timedelta(seconds=second)


def test_silence_is_a_minute_without_any_request_of_the_broker(spark: SparkSession) -> None:
    """Broker 1 has requests in two stretches, broker 2 one append that only a dump tells of: that is none."""
    landed = {
        T.FETCH_EVENTS.name: rows(
            spark, T.FETCH_EVENTS,
            *[{**HERE, "broker_id": 1, "replica_id": 2, "event_time": at(s)} for s in (100, 130, 150, 400, 420)],
        ),
        T.PRODUCE_EVENTS.name: rows(
            spark, T.PRODUCE_EVENTS, {**HERE, "broker_id": 2, "event_time": at(100), "append_source": "segment"}
        ),
        T.LEADER_CHANGES.name: rows(
            spark, T.LEADER_CHANGES,
            *[
                {**HERE, "broker_id": b, "leader_id": 1, "event_time": at(s), "change_kind": "isr_updated"}
                for b, s in ((1, 50), (1, 39), (1, 209), (1, 300), (2, 300))
            ],
        ),
    }  # fmt: skip
    second = (F.col(AT_US) - F.unix_micros(F.lit(BEGIN))) / 1_000_000
    until = (F.col(HEARD_UNTIL_US) - F.unix_micros(F.lit(BEGIN))) / 1_000_000
    told = silent_changes(landed).select(C.BROKER_ID, second.alias("second"), until.alias("until")).orderBy("second")
    moments = spark.createDataFrame([("c", 2, 0)], f"{C.CLUSTER_ID} string, {C.BROKER_ID} int, {AT_US} bigint")

    # Half a minute before a stretch and after it is near enough; broker 2 is no leader of these.
    assert [tuple(row) for row in told.collect()] == [(1, 39.0, None), (1, 300.0, 150.0)]
    assert in_silence(moments, heard(landed)).count() == 1


def test_a_leader_that_must_have_been_asked_is_silent_after_seconds(spark: SparkSession) -> None:
    """Not one that is alone in its ISR, or steps down at once. A client's batch needs a request as well.

    Nothing that was appended between the same two requests is as it seems then, a marker of a transaction neither.
    """
    changed = {"broker_id": 1, "leader_id": 1, "change_kind": "become_leader", "isr": [1, 2]}
    after = {"broker_id": 1, "leader_id": 2, "change_kind": "become_follower", "isr": []}
    dumped = {"broker_id": 1, "append_source": "segment", "is_control": False}
    landed = {table.name: rows(spark, table) for table in (T.METADATA_CHANGES, T.BROKER_STATEMENTS)} | {
        T.FETCH_EVENTS.name: rows(
            spark, T.FETCH_EVENTS, *[{**HERE, "broker_id": 1, "event_time": at(s)} for s in (10, 14, 30)]
        ),
        T.LEADER_CHANGES.name: rows(
            spark, T.LEADER_CHANGES,
            {**HERE, **changed, "partition": 0, "event_time": at(1)},
            {**HERE, **changed, "partition": 1, "event_time": at(2), "isr": [1]},
            {**HERE, **changed, "partition": 2, "event_time": at(3)},
            {**HERE, **after, "partition": 2, "event_time": at(4)},
            {**HERE, **changed, "partition": 3, "event_time": at(6)},
            {**HERE, **changed, "partition": 4, "event_time": at(22)},
        ),
        T.PRODUCE_EVENTS.name: rows(
            spark, T.PRODUCE_EVENTS,
            {**HERE, **dumped, "event_time": at(16)}, {**HERE, **dumped, "event_time": at(20)},
            {**HERE, **dumped, "event_time": at(21), "is_control": True},
            {**HERE, **dumped, "event_time": at(22), "topic": "__consumer_offsets"},
        ),
    }  # fmt: skip
    second = ((F.col(AT_US) - F.unix_micros(F.lit(BEGIN))) / 1_000_000).alias("second")

    assert [row[0] for row in silent_changes(landed).select(second).orderBy("second").collect()] == [1.0, 22.0]
    batches = silent_batches(landed).select(second).orderBy("second")
    assert [row[0] for row in batches.collect()] == [16.0, 20.0, 21.0, 22.0]
    calm = {**landed, T.LEADER_CHANGES.name: rows(spark, T.LEADER_CHANGES)}
    alone = {
        **calm,
        T.PRODUCE_EVENTS.name: landed[T.PRODUCE_EVENTS.name].where("is_control or topic like '!_%' escape '!'"),
    }
    assert silent_batches(alone).isEmpty()


def test_a_log_that_goes_on_with_a_session_was_cut(spark: SparkSession) -> None:
    """Of two brokers alike: a session begins with epoch 0. What the second one answered before is lost.

    It goes on at 40 s with an epoch that does not follow: so is what was answered since 11 s.
    """
    changed, told = {"change_kind": "become_leader", "isr": [1, 2]}, (9, 12)
    asked = [(1, 10, 7, 0), (1, 11, 7, 1), (1, 30, 8, 4), (1, 50, 9, 1)]
    asked += [(2, 10, 7, 3), (2, 11, 7, 4), (2, 40, 7, 6), (2, 41, 7, 7), (2, 60, 7, 8)]
    landed = {
        T.PRODUCE_EVENTS.name: rows(spark, T.PRODUCE_EVENTS),
        T.FETCH_EVENTS.name: rows(
            spark, T.FETCH_EVENTS,
            *with_unbroken(
                {**HERE, "broker_id": b, "event_time": at(s - 2), "response_time": at(s), "session_id": session,
                 "session_epoch": epoch}
                for b, s, session, epoch in asked
            ),
        ),
        T.LEADER_CHANGES.name: rows(
            spark, T.LEADER_CHANGES,
            *[{**HERE, **changed, "broker_id": b, "leader_id": b, "event_time": at(s)} for b in (1, 2) for s in told],
        ),
    }  # fmt: skip
    second = (F.col(AT_US) - F.unix_micros(F.lit(BEGIN))) / 1_000_000

    changes = silent_changes(landed).select(C.BROKER_ID, second.alias("second")).orderBy("second", C.BROKER_ID)
    assert [tuple(row) for row in changes.collect()] == [(2, 9.0), (1, 12.0), (2, 12.0)]
    columns = (C.BROKER_ID, IS_CUT_BEFORE, IS_CUT_AFTER)
    stretches = heard(landed).orderBy(C.BROKER_ID, "from_us").select(*columns).collect()
    assert [tuple(row) for row in stretches] == [
        (1, False, True), (1, True, False), (1, False, False), (2, True, True), (2, True, False), (2, False, False)
    ]  # fmt: skip


def test_a_short_hole_is_known_by_a_session_that_breaks(spark: SparkSession) -> None:
    """Of two seconds without a request at broker 1; at broker 2 none is missing, at 3 one is, and nothing else."""
    told = {1: ((10, 0), (14, 1), (16, 9)), 2: ((10, 0), (14, 1), (16, 2)), 3: ((10, 0), (14.9, 1), (15.2, 3))}
    asked = [(b, s, epoch) for b, of_broker in told.items() for s, epoch in of_broker]
    changed = {"change_kind": "leader_metadata", "isr": [1, 2]}
    landed = {
        T.PRODUCE_EVENTS.name: rows(spark, T.PRODUCE_EVENTS),
        T.FETCH_EVENTS.name: rows(
            spark, T.FETCH_EVENTS,
            *with_unbroken(
                {**HERE, "broker_id": b, "event_time": at(s), "response_time": at(s), "session_id": 7,
                 "session_epoch": epoch}
                for b, s, epoch in asked
            ),
        ),
        T.LEADER_CHANGES.name: rows(
            spark, T.LEADER_CHANGES,
            *[
                {**HERE, **changed, "broker_id": b, "leader_id": b, "event_time": at(s)}
                for b in (1, 2, 3)
                for s in (15.1, 15.5)
            ],
        ),
    }  # fmt: skip

    silent = silent_changes(landed).groupBy(C.BROKER_ID).count().collect()
    assert [tuple(row) for row in silent] == [(1, 2)]


def test_an_idle_session_is_no_cut_log(spark: SparkSession) -> None:
    """Of fetches that name nothing, for a minute, only the last has a row: it tells that all of them are logged.

    At broker 2 the session goes on with a fetch that names the partition: those between are lost.
    """
    named = {"is_implied": False, "response_high_watermark": 9}
    omitted = {"is_implied": True, "response_high_watermark": -1}
    asked = [(1, 10, 0, named), (1, 70, 118, omitted), (1, 70.1, 119, named)]
    asked += [(2, 10, 0, named), (2, 70, 118, named), (2, 70.1, 119, named)]
    changed = {"change_kind": "become_leader", "isr": [1, 2]}
    landed = {
        T.PRODUCE_EVENTS.name: rows(spark, T.PRODUCE_EVENTS),
        T.FETCH_EVENTS.name: rows(
            spark, T.FETCH_EVENTS,
            *with_unbroken(
                {**HERE, **told, "broker_id": b, "event_time": at(s), "response_time": at(s), "session_id": 7,
                 "session_epoch": epoch}
                for b, s, epoch, told in asked
            ),
        ),
        T.LEADER_CHANGES.name: rows(
            spark, T.LEADER_CHANGES,
            *[{**HERE, **changed, "broker_id": b, "leader_id": b, "event_time": at(45)} for b in (1, 2)],
        ),
    }  # fmt: skip

    assert [row[0] for row in silent_changes(landed).select(C.BROKER_ID).collect()] == [2]
    cut = heard(landed).where(IS_CUT_BEFORE).select(C.BROKER_ID)
    assert [row[0] for row in cut.collect()] == [2]


def statement(kind: S, second: float, offset: int, epoch: int = -1, **more: Any) -> dict[str, Any]:
    """A broker's word, broker 2's unless said otherwise."""
    line = {"source_file": "broker-2/server.log", "source_line": int(second * 10), "event_time": at(second)}
    return {**HERE, **line, "kind": kind.value, "broker_id": 2, "leader_epoch": epoch, "offset": offset, **more}


def follower(second: float, leo: int, hw: int, epoch: int, **more: Any) -> list[dict[str, Any]]:
    """The two statements of a "Follower … starts at" line."""
    return [
        statement(S.BECAME_FOLLOWER_LEO, second, leo, epoch, **more),
        statement(S.BECAME_FOLLOWER_HW, second, hw, epoch, **more),
    ]


def test_a_log_that_begins_below_its_own_high_watermark_was_cut_silently(spark: SparkSession) -> None:
    """A wiped disk; not where a line tells of the cut, nor a topic without an id that may have been made again."""
    wiped = [
        *follower(1, 500, 480, 3),
        statement(S.LOADED_LEO, 9, 0),
        statement(S.LOADED_HW, 9.5, 0),
        *follower(10, 0, 0, 4),
    ]
    told = [
        {**row, "topic": "told"}
        for row in (*follower(1, 500, 480, 3), statement(S.TRUNCATED_TO, 5, 100), *follower(10, 100, 100, 4))
    ]
    again = [{**row, "topic": "again", "topic_id": ""} for row in (*follower(1, 500, 480, 0), *follower(10, 0, 0, 0))]
    landed = {T.BROKER_STATEMENTS.name: rows(spark, T.BROKER_STATEMENTS, *wiped, *told, *again)}
    landed |= {table.name: rows(spark, table) for table in (T.LEADER_CHANGES, T.METADATA_CHANGES)}
    leaders, replicas, cuts = (rows(spark, table) for table in (T.LEADER_TIMELINE, T.REPLICA_TIMELINE, T.TRUNCATIONS))
    found = silent_truncations(landed, spans(leaders), contacts(replicas, leaders, leaders), cuts).collect()

    assert [(r["topic"], r["replica_id"], r["leader_epoch"], r["from_offset"], r["to_offset"]) for r in found] == [
        ("t", 2, 4, 0, 480)
    ]
    assert found[0]["severity"] == "warning"
