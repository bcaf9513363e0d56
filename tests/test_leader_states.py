"""`leader_states` on literal timelines: at any moment one row of a partition is in force, or none."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from replay.views.states import leader_states
from schemas import tables as T
from tests.checked_rows import at, became_leader, event, log_deleted
from tests.frames import rows
from tests.test_views import clock, timeline

pytestmark = pytest.mark.spark


def nothing_told(spark: SparkSession) -> tuple[DataFrame, DataFrame, DataFrame]:
    """No line of brokers or the controller about epochs, or about logs."""
    return rows(spark, T.LEADER_CHANGES), rows(spark, T.METADATA_CHANGES), rows(spark, T.BROKER_STATEMENTS)


def test_one_state_of_a_partition_at_any_moment(spark: SparkSession) -> None:
    """The clock of the next leader is ten seconds behind: what the first one still did is in force until it is past."""
    told = timeline(spark, skewed=[event(0, 1, 4, 4), event(0, 25, 6, 4), event(1, 1, 6, 5), event(1, 20, 7, 7)])
    states = leader_states(told, *nothing_told(spark)).orderBy("leader_epoch", "event_seq").collect()

    assert [(row["high_watermark"], row["valid_from"], row["valid_to"]) for row in states] == [
        (4, clock(1), clock(25)), (4, clock(25), clock(25)), (5, clock(25), clock(30)), (7, clock(30), None),
    ]  # fmt: skip


def test_a_killed_leader_is_none_until_it_is_started_again(spark: SparkSession) -> None:
    """Its end has the time of the load; where nothing comes after it, that is all that is known."""
    end = event(0, 3, 6, 4, event_type="RESTART", event_time=at(3600))
    told = timeline(
        spark, followed=[event(0, 1, 4, 4), end, event(1, 1, 6, 5), event(1, 20, 7, 7)], last=[event(0, 1, 4, 4), end]
    )
    states = leader_states(told, *nothing_told(spark)).orderBy("topic", "leader_epoch", "event_seq").collect()

    assert [(row["topic"], row["event_type"], row["valid_from"], row["valid_to"]) for row in states] == [
        ("followed", "BECOME_LEADER", clock(1), clock(11)), ("followed", "RESTART", clock(11), clock(11)),
        ("followed", "BECOME_LEADER", clock(11), clock(30)), ("followed", "FETCH", clock(30), None),
        ("last", "BECOME_LEADER", clock(1), clock(3600)), ("last", "RESTART", clock(3600), None),
    ]  # fmt: skip


def test_in_an_epoch_of_which_no_leader_tells_none_is_in_force(spark: SparkSession) -> None:
    """By whoever tells of it first; a line of a broker that was away holds back no later leader."""
    end = event(0, 3, 6, 4, event_type="RESTART", event_time=at(3600))
    told = timeline(
        spark,
        last=[event(0, 1, 4, 4), end], between=[event(0, 1, 4, 4), event(3, 1, 6, 6)],
        late=[event(0, 1, 4, 4), event(3, 1, 6, 6)], led=[event(0, 1, 4, 4), event(1, 1, 6, 6)],
    )  # fmt: skip
    lines = [
        *[
            became_leader(epoch, 2, topic="last", leader_id=-1, event_time=at(second))
            for epoch, second in ((1, 9), (2, 7))
        ],
        became_leader(1, 2, topic="last", event_time=at(8)),
        *[became_leader(epoch, 2, topic="late", event_time=at(90)) for epoch in (1, 2)],
        became_leader(1, 2, topic="led", event_time=at(5)),
    ]
    records = [became_leader(1, 2, topic="between", leader_id=-1, event_time=at(6))]
    landed = ((T.LEADER_CHANGES, lines), (T.METADATA_CHANGES, records), (T.BROKER_STATEMENTS, ()))
    states = leader_states(told, *[rows(spark, table, *given) for table, given in landed])
    spans = [(row["topic"], row["leader_epoch"], row["valid_from"], row["valid_to"])
             for row in states.orderBy("topic", "leader_epoch", "event_seq").collect()]  # fmt: skip

    assert spans == [
        ("between", 0, clock(1), clock(6)), ("between", 3, clock(31), None),
        ("last", 0, clock(1), clock(8)), ("last", 0, clock(8), clock(8)),
        ("late", 0, clock(1), clock(31)), ("late", 3, clock(31), None),
        ("led", 0, clock(1), clock(11)), ("led", 1, clock(11), None),
    ]  # fmt: skip


def test_a_log_that_its_leader_deletes_ends_what_it_knew(spark: SparkSession) -> None:
    """A follower that deletes its own is no replica any more, and so is a leader of before; the rest goes on."""
    topics = ("deleted", "dropped", "moved", "begun_anew")
    told = timeline(spark, **{topic: [event(0, 1, 4, 4), event(1, 1, 6, 5), event(1, 3, 7, 5)] for topic in topics})
    lines = [became_leader(epoch, epoch + 1, topic=topic) for topic in topics for epoch in (0, 1)]

    statements = [
        *[log_deleted("deleted", broker_id, 20 + broker_id) for broker_id in (1, 2, 3)],
        log_deleted("dropped", 3, 20), log_deleted("moved", 1, 20), log_deleted("begun_anew", 2, 5),
    ]  # fmt: skip
    landed = ((T.LEADER_CHANGES, lines), (T.METADATA_CHANGES, ()), (T.BROKER_STATEMENTS, statements))
    states = leader_states(told, *[rows(spark, table, *given) for table, given in landed])
    last = states.where("leader_epoch = 1 AND event_seq = 3").collect()

    assert {row["topic"]: row["valid_to"] for row in last} == {
        "deleted": clock(22), "dropped": None, "moved": None, "begun_anew": None,
    }  # fmt: skip
