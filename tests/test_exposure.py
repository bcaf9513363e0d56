"""`exposure` on literal timelines: what only the leader held, each topic a small history."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from replay.views.exposure import exposure
from replay.views.states import leader_states
from schemas import tables as T
from tests.checked_rows import Given, appended, at, became_leader, event, fetched
from tests.frames import rows
from tests.test_views import clock, known, timeline

pytestmark = pytest.mark.spark


def exposed(led: DataFrame, **told: list[Given]) -> DataFrame:
    """`exposure` of events, beside which these rows of other tables are all that is told."""
    others = (T.LEADER_CHANGES, T.METADATA_CHANGES, T.BROKER_STATEMENTS, T.PRODUCE_EVENTS, T.FETCH_EVENTS)
    return exposure(led, *[rows(led.sparkSession, table, *told.get(table.name, ())) for table in others])


def test_exposure_of_a_leaders_death(spark: SparkSession) -> None:
    """Example e: LEO 10, 8, 7, all in the ISR: 7 to 9 can be lost, 8 and 9 will be, and only the leader has those."""
    led = timeline(
        spark,
        e=[
            event(0, 1, 10, 7, **known([1, 2, 3], {2: 8, 3: 7}, [3])),
            event(0, 3, 10, 10, **known([1, 2, 3], {2: 10, 3: 10}, [])),
        ],
        alone=[event(0, 1, 10, 10, **known([1], {2: 8}, []))],
        unheard=[event(0, 1, 10, 0, **known([1, 2], {2: -1}, [2]))],
        one_unheard=[event(0, 1, 10, 0, **known([1, 2, 3], {2: 9, 3: -1}, [3]))],
    )  # fmt: skip
    found = {(row["topic"], row["event_seq"]): row for row in exposed(led).collect()}

    def lose(row: Row) -> tuple[int | None, ...]:
        return row["single_copy_records"], row["would_lose"], row["could_lose"]

    assert lose(found["e", 1]) == (2, 2, 3)
    assert found["e", 1]["record_seconds"] == 4.0
    assert lose(found["e", 3]) == (0, 0, 0)
    assert lose(found["alone", 1]) == (2, None, None)
    assert lose(found["unheard", 1]) == (None, None, None)
    assert lose(found["one_unheard", 1]) == (1, 1, None)


def test_exposure_lasts_until_whatever_comes_next(spark: SparkSession) -> None:
    """Be it a leader whose LEO no line tells; that one was killed is known long after the next has begun."""
    first = event(0, 1, 10, 7, **known([1, 2], {2: 8}, [2]))
    led = timeline(
        spark,
        unknown=[first, event(1, 1, -1, 7), event(1, 9, 12, 12)],
        killed=[first, {**first, "event_seq": 2, "event_type": "RESTART", "event_time": at(3600)}, event(1, 1, 8, 8)],
    )
    found = exposed(led).orderBy("topic", "leader_epoch", "event_seq").collect()

    assert [(row["topic"], row["valid_from"], row["valid_to"], row["record_seconds"]) for row in found[:4]] == [
        ("killed", clock(1), clock(11), 20.0), ("killed", clock(11), clock(11), 0.0), ("killed", clock(11), None, None),
        ("unknown", clock(1), clock(11), 20.0),
    ]  # fmt: skip


def test_deleted_records_have_no_copy(spark: SparkSession) -> None:
    """Of [4, 10), which follower 2 had not, only [8, 10) is left; with one replica all that is left is one copy.

    Of an empty log nothing is; and an ISR with others in it says that its replicas are not told.
    """
    led = timeline(
        spark,
        retention=[event(0, 1, 10, 10, **known([1], {2: 4}, []), log_start_offset=8)],
        members=[event(0, 1, 10, 9, **known([1, 2, 3], {2: 4, 3: 9}, []), log_start_offset=8)],
        unheard=[event(0, 1, 10, 8, **known([1, 2], {2: -1}, []), log_start_offset=8)],
        rf1=[event(0, 1, 10, 10, isr=[1], log_start_offset=3)],
        rf1_of_unknown_start=[event(0, 1, 10, 10, isr=[1], log_start_offset=-1)],
        rf1_emptied=[event(0, 1, 10, 10, isr=[1], log_start_offset=10)],
        assignment_untold=[event(0, 1, 10, 10, isr=[1, 2])],
    )
    found = {
        row["topic"]: (row["single_copy_records"], row["would_lose"], row["could_lose"])
        for row in exposed(led).collect()
    }

    assert found == {
        "retention": (2, None, None), "members": (1, 1, 2), "unheard": (None, None, None), "rf1": (7, None, None),
        "rf1_of_unknown_start": (10, None, None), "rf1_emptied": (0, None, None),
        "assignment_untold": (None, None, None),
    }  # fmt: skip


def test_what_lasts_still_counts_until_the_leaders_last_request(spark: SparkSession) -> None:
    """Of whichever partition; not another broker's; where no request was logged since, nobody knows for how long."""
    still = event(0, 1, 10, 10, **known([1], {2: 4}, []))
    led = timeline(
        spark,
        heard=[still, event(0, 3, 10, 10, **known([1], {2: 4}, []))],
        of_another=[event(1, 1, 10, 10, **known([2], {1: 4}, []))],
        after_the_last=[{**still, "event_time": at(14)}],
        at_the_last=[{**still, "event_time": at(13)}],
    )
    requests = {
        "produce_events": [appended(0, 9, event_time=at(5), response_time=at(6))],
        "fetch_events": [fetched(2, event_time=at(12), response_time=at(13), topic="elsewhere")],
    }
    found = exposed(led, **requests).orderBy("topic", "event_seq").collect()

    assert [(row["topic"], row["valid_to"], row["record_seconds"]) for row in found] == [
        ("after_the_last", None, None), ("at_the_last", None, 0.0), ("heard", clock(3), 12.0), ("heard", None, 60.0),
        ("of_another", None, None),
    ]  # fmt: skip


def test_nobody_is_exposed_while_nobody_leads(spark: SparkSession) -> None:
    """The line of epoch 1 ends it, an hour before the next leader begins; spans are those of `leader_states`."""
    led = timeline(
        spark,
        leaderless=[event(0, 1, 10, 7, **known([1, 2], {2: 7}, [2])), event(2, 1, 7, 7, event_time=at(3600))],
        recorded=[event(0, 1, 10, 7, **known([1, 2], {2: 7}, [2]))],
    )
    told = {
        "leader_changes": [became_leader(1, 2, topic="leaderless", leader_id=-1)],
        "metadata_changes": [became_leader(1, 2, topic="recorded", leader_id=-1, event_time=at(6))],
        "fetch_events": [fetched(2, event_time=at(4000))],
    }
    found = exposed(led, **told).orderBy("topic", "leader_epoch").collect()
    landed = (T.LEADER_CHANGES, T.METADATA_CHANGES, T.BROKER_STATEMENTS)
    epochs = [rows(spark, table, *told.get(table.name, ())) for table in landed]
    states = leader_states(led, *epochs).orderBy("topic", "leader_epoch").collect()

    assert [(row["topic"], row["valid_from"], row["valid_to"], row["record_seconds"]) for row in found] == [
        ("leaderless", clock(1), clock(10), 27.0), ("leaderless", clock(3600), None, None),
        ("recorded", clock(1), clock(6), 15.0),
    ]  # fmt: skip
    assert [(row["valid_from"], row["valid_to"]) for row in found] == [
        (row["valid_from"], row["valid_to"]) for row in states
    ]


def test_exposure_never_ends_before_it_began(spark: SparkSession) -> None:
    """The clock of the next leader is two seconds behind: its state begins where the one before it ends."""
    led = timeline(
        spark,
        skew=[
            event(0, 1, 10, 7, **known([1, 2], {2: 8}, [2]), event_time=at(5)),
            event(1, 1, 8, 8, event_time=at(3)), event(1, 2, 9, 8, **known([2], {1: 8}, []), event_time=at(4)),
            event(1, 3, 9, 9, event_time=at(7)),
        ],
    )  # fmt: skip
    found = exposed(led).orderBy("leader_epoch", "event_seq").collect()

    assert [(row["valid_from"], row["valid_to"], row["record_seconds"]) for row in found] == [
        (clock(5), clock(5), 0.0), (clock(5), clock(5), None), (clock(5), clock(7), 2.0), (clock(7), None, None),
    ]  # fmt: skip
