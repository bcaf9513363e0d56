"""Where consumers' positions lie in their leader's log, on literal rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from replay.views.positions import consumer_positions
from schemas import tables as T
from tests.checked_rows import HERE, Given, at, event
from tests.frames import rows

pytestmark = pytest.mark.spark

COOKBOOK = Path(__file__).parent.parent / "examples" / "sql"


def consumed(second: float, offset: int, error: int = 0, isolation: int = 0, answer: int = -1, **more: int) -> Given:
    """A consumer's fetch from the leader of epoch 0, answered with a HW."""
    return {
        **HERE, "leader_epoch": 0, "broker_id": 1, "event_time": at(second), "replica_id": -1, "client_id": "reader",
        "fetch_offset": offset, "error_code": error, "isolation_level": isolation, "source_line": int(second * 10),
        "response_high_watermark": answer, **more,
    }  # fmt: skip


def timeline(spark: SparkSession, histories: Mapping[str, Sequence[Given]]) -> DataFrame:
    """Leaders' events, a topic a history."""
    told = [{**row, "topic": topic} for topic, history in histories.items() for row in history]
    return rows(spark, T.LEADER_TIMELINE, *told)


def told_of(spark: SparkSession, asked: Mapping[str, Given], led: Mapping[str, Sequence[Given]]) -> dict[str, object]:
    """The position and the lag of each topic's only fetch."""
    fetches = rows(spark, T.FETCH_EVENTS, *[{**fetch, "topic": topic} for topic, fetch in asked.items()])
    found = consumer_positions(fetches, timeline(spark, led)).collect()
    assert len(found) == len(asked)
    return {row["topic"]: (row["position_is"], row["lag"]) for row in found}


def test_positions_tell_two_causes_apart(spark: SparkSession) -> None:
    """Truncated, deleted, ahead of an old HW, ahead of one that went back; read_committed is held by the LSO."""
    led = {
        "ledger": [
            event(0, 1, 10, 8, log_start_offset=2, last_stable_offset=5),
            event(0, 5, 10, 6, log_start_offset=2, last_stable_offset=5),
        ],
        "untold": [event(0, 1, 10, -1)],
        "of_unknown_end": [event(0, 1, -1, 8)],
    }  # fmt: skip
    asked = {0.5: 4, 2.5: 9, 3.0: 8, 5.5: 7, 6.0: 4}
    answers = {2.5: 8, 5.5: 6}
    fetches = rows(
        spark, T.FETCH_EVENTS,
        *[consumed(second, offset, answer=answers.get(second, -1)) for second, offset in asked.items()],
        consumed(1.5, 1, error=1), consumed(2.0, 11, error=1),
        consumed(7.0, 5, isolation=1), {**consumed(1.2, 4), "topic": "untold"},
        {**consumed(9.0, 6), "topic": "of_unknown_end"},
    )  # fmt: skip
    found = consumer_positions(fetches, timeline(spark, led)).orderBy("event_time").collect()

    assert [(row["position_is"], row["lag"]) for row in found] == [
        ("UNKNOWN", None), ("UNKNOWN", None), ("BELOW_LOG_START", 7), ("BEYOND_LOG_END", -3),
        ("BEYOND_HIGH_WATERMARK", -1), ("AT_END", 0), ("BEYOND_REGRESSED_HIGH_WATERMARK", -1), ("BEHIND", 2),
        ("AT_END", 0), ("BEHIND", 2),
    ]  # fmt: skip


def test_a_follower_serves_up_to_its_own_high_watermark(spark: SparkSession) -> None:
    """KIP-392: the leader's HW is 8 and its LEO 10, the follower told 5, and 4 under read_committed."""
    led = {"ledger": [event(0, 1, 10, 8, log_start_offset=2)]}
    answers = {"response_high_watermark": 5, "response_last_stable_offset": 4, "broker_id": 2}
    asked = [consumed(2, offset, **answers) for offset in (4, 5, 6)]
    asked += [consumed(3, offset, isolation=1, **answers) for offset in (4, 5)]
    asked += [consumed(4, 9, error=1, broker_id=2)]
    asked += [consumed(5, 1, error=1, broker_id=2), consumed(6, 5, broker_id=2)]
    found = consumer_positions(rows(spark, T.FETCH_EVENTS, *asked), timeline(spark, led))

    assert [
        (row["may_read_to"], row["lag"], row["position_is"])
        for row in found.orderBy("event_time", "fetch_offset").collect()
    ] == [
        (5, 1, "BEHIND"), (5, 0, "AT_END"), (5, -1, "BEYOND_HIGH_WATERMARK"), (4, 0, "AT_END"),
        (4, -1, "BEYOND_LAST_STABLE_OFFSET"), (-1, None, "OUTSIDE_FOLLOWERS_LOG"), (-1, None, "BELOW_LOG_START"),
        (-1, None, "UNKNOWN"),
    ]  # fmt: skip


def test_between_bounds_nobody_knows_where_a_position_is(spark: SparkSession) -> None:
    """Of the HW: from its low bound on, at which it may be at the end or behind. Of the LEO: past the low one."""
    led = {
        "hw": [event(0, 1, 10, 4, high_watermark_high=6, exactness="bounded")],
        "leo": [event(0, 1, 100, 90, log_end_offset_high=150)],
    }
    asked = {"hw": (3, 4, 5, 6, 7), "leo": (90, 100, 120, 150, 151)}
    answers = {7: 6, 100: 90}
    fetches = [
        {**consumed(2, offset, error=int(offset == 151), answer=answers.get(offset, -1)), "topic": topic}
        for topic, offsets in asked.items()
        for offset in offsets
    ]
    found = consumer_positions(rows(spark, T.FETCH_EVENTS, *fetches), timeline(spark, led))
    told = {(row["topic"], row["fetch_offset"]): row["position_is"] for row in found.collect()}

    assert told == {
        ("hw", 3): "BEHIND", ("hw", 4): "UNKNOWN", ("hw", 5): "UNKNOWN", ("hw", 6): "UNKNOWN",
        ("hw", 7): "BEYOND_HIGH_WATERMARK", ("leo", 90): "AT_END", ("leo", 100): "BEYOND_HIGH_WATERMARK",
        ("leo", 120): "UNKNOWN", ("leo", 150): "UNKNOWN", ("leo", 151): "BEYOND_LOG_END",
    }  # fmt: skip


def test_a_step_of_the_high_watermark_in_the_same_millisecond(spark: SparkSession) -> None:
    """The HW in the response decides, or its fetch session's where that leaves it out; without, nobody knows.

    So it is beyond an old HW, and one that went back; of what is refused, beyond the LEO, a response tells no HW.
    """
    led = [event(0, 1, 10, 8), event(0, 2, 10, 6), event(0, 3, 10, 4)]
    asked = {
        "parked": consumed(1.5, 9, answer=9), "beyond": consumed(1.5, 9, answer=8), "untold": consumed(1.5, 9),
        "in_session": consumed(1.5, 9, session_high_watermark=8), "went_back": consumed(3.5, 8, answer=4),
        "not_back_yet": consumed(3.5, 8, answer=8), "appended_meanwhile": consumed(1.5, 11, answer=11),
        "refused": consumed(1.5, 11, error=1),
    }  # fmt: skip
    fetches = rows(spark, T.FETCH_EVENTS, *[{**fetch, "topic": topic} for topic, fetch in asked.items()])
    found = consumer_positions(fetches, timeline(spark, dict.fromkeys(asked, led))).collect()

    assert {row["topic"]: (row["position_is"], row["lag"]) for row in found} == {
        "parked": ("UNKNOWN", None), "beyond": ("BEYOND_HIGH_WATERMARK", -1), "untold": ("UNKNOWN", None),
        "in_session": ("BEYOND_HIGH_WATERMARK", -1), "went_back": ("BEYOND_REGRESSED_HIGH_WATERMARK", -4),
        "not_back_yet": ("UNKNOWN", None), "appended_meanwhile": ("UNKNOWN", None), "refused": ("BEYOND_LOG_END", -3),
    }  # fmt: skip


def test_a_follower_refuses_what_the_leader_has(spark: SparkSession) -> None:
    """KIP-392: nothing is lost up to the leader's LEO, of whose records a follower has no more than it fetched.

    Nor is it known what the leader of a new epoch has before its first event; the one before may have had less.
    """
    led = event(0, 1, 10, 10, remote_log_end_offset={2: 8})
    new = event(1, 1, 10, 10, log_start_offset=5)
    of_new = {"error": 1, "leader_epoch": 1, "broker_id": 2}
    cases = {
        "lags": (consumed(2, 9, error=1, broker_id=2), [led]),
        "at_leaders_end": (consumed(2, 10, error=1, broker_id=2), [led]),
        "beyond": (consumed(2, 11, error=1, broker_id=2), [led]),
        "between": (consumed(2, 11, error=1, broker_id=2), [{**led, "log_end_offset_high": 12}]),
        "of_unknown_end": (consumed(2, 9, error=1, broker_id=2), [event(0, 1, -1, 8)]),
        "of_unknown_start": (consumed(2, 9, error=1, broker_id=2), [event(0, 1, 10, 8, log_start_offset=-1)]),
        "before_its_leader": (consumed(10.9997, 3, **of_new), [led, new]),
        "above_the_one_before": (consumed(10.9997, 12, **of_new), [led, new]),
        "after_its_leader": (consumed(11.0003, 3, **of_new), [led, new]),
        "of_the_same_leader": (consumed(10.9997, 12, **{**of_new, "broker_id": 1}), [led, {**new, "leader_id": 1}]),
    }  # fmt: skip

    assert told_of(spark, *[{topic: case[i] for topic, case in cases.items()} for i in (0, 1)]) == {
        "lags": ("OUTSIDE_FOLLOWERS_LOG", None), "at_leaders_end": ("OUTSIDE_FOLLOWERS_LOG", None),
        "beyond": ("BEYOND_LOG_END", None), "between": ("UNKNOWN", None), "of_unknown_end": ("UNKNOWN", None),
        "of_unknown_start": ("UNKNOWN", None), "before_its_leader": ("UNKNOWN", None),
        "above_the_one_before": ("UNKNOWN", None), "after_its_leader": ("BELOW_LOG_START", 7),
        "of_the_same_leader": ("UNKNOWN", None),
    }  # fmt: skip


def test_what_was_served_was_in_the_log_and_what_was_refused_was_not(spark: SparkSession) -> None:
    """LEO and log start move in the fetch's millisecond, before it or after: the response decides, not the clocks."""
    first = event(0, 1, 10, 10)
    deleted = event(0, 2, 10, 10, event_type="LOG_START", log_start_offset=8)
    cases = {
        "served_beyond_leo": (consumed(2, 37, answer=36), [event(0, 1, 36, 36)]),
        "served_of_unknown_hw": (consumed(2, 37), [event(0, 1, 36, 36)]),
        "served_past_low_leo": (consumed(2, 37, answer=36), [event(0, 1, 36, 36, log_end_offset_high=40)]),
        "served_below_start": (consumed(2, 5), [first, deleted]),
        "refused_before_start": (consumed(1.9996, 5, error=1), [first, deleted]),
        "refused_after_start": (consumed(2.0004, 5, error=1), [first, deleted]),
        "refused_at_end": (consumed(2, 10, error=1), [first]),
        "not_leader": (consumed(2, 5, error=6), [first, deleted]),
    }

    assert told_of(spark, *[{topic: case[i] for topic, case in cases.items()} for i in (0, 1)]) == {
        "served_beyond_leo": ("BEYOND_HIGH_WATERMARK", -1), "served_of_unknown_hw": ("UNKNOWN", None),
        "served_past_low_leo": ("BEYOND_HIGH_WATERMARK", -1), "served_below_start": ("BEHIND", 5),
        "refused_before_start": ("UNKNOWN", None), "refused_after_start": ("BELOW_LOG_START", 5),
        "refused_at_end": ("UNKNOWN", None), "not_leader": ("UNKNOWN", 5),
    }  # fmt: skip


def test_read_committed_ends_at_the_last_stable_offset(spark: SparkSession) -> None:
    """Above the LSO there is nothing to read, whatever the HW; the response's LSO decides, or a lower HW in it."""
    led, untold = event(0, 1, 10, 8, last_stable_offset=5), event(0, 1, 10, 8, last_stable_offset=-1)
    asked = {
        "behind": (4, {}), "at_end": (5, {}), "waits": (7, {"response_last_stable_offset": 5}), "no_answer": (7, {}),
        "moved": (7, {"response_last_stable_offset": 8}), "old_hw": (7, {"session_high_watermark": 6}),
        "beyond_hw": (9, {"answer": 8, "response_last_stable_offset": 5}), "no_lso": (7, {"answer": 8}),
        "beyond_lso_alone": (9, {"answer": 9, "response_last_stable_offset": 5}),
    }  # fmt: skip
    fetches = {topic: consumed(2, offset, isolation=1, **more) for topic, (offset, more) in asked.items()}

    assert told_of(spark, fetches, {topic: [untold if topic == "no_lso" else led] for topic in asked}) == {
        "behind": ("BEHIND", 1), "at_end": ("AT_END", 0), "waits": ("BEYOND_LAST_STABLE_OFFSET", -2),
        "no_answer": ("UNKNOWN", None), "moved": ("UNKNOWN", None), "old_hw": ("BEYOND_LAST_STABLE_OFFSET", -2),
        "beyond_hw": ("BEYOND_HIGH_WATERMARK", -4), "no_lso": ("UNKNOWN", None),
        "beyond_lso_alone": ("BEYOND_LAST_STABLE_OFFSET", -4),
    }  # fmt: skip


def test_what_the_cookbook_says_of_them(spark: SparkSession) -> None:
    """A follower's refusal took no record away, and read_committed waits for a transaction."""
    led = {"ledger": [event(0, 1, 10, 8, last_stable_offset=5)]}
    asked = [
        consumed(2, 9, error=1, broker_id=2), consumed(3, 7, error=1),
        consumed(4, 7, isolation=1, response_last_stable_offset=5),
    ]  # fmt: skip
    found = consumer_positions(rows(spark, T.FETCH_EVENTS, *asked), timeline(spark, led))
    found.createOrReplaceTempView("consumer_positions")
    told = {
        name: [row["cause"] for row in spark.sql((COOKBOOK / f"{name}.sql").read_text(encoding="utf-8")).collect()]
        for name in ("why-out-of-range", "negative-lag")
    }

    assert told == {
        "why-out-of-range": [
            "neither: a follower has other ends, the leader has the offset", "the capture does not tell",
        ],
        "negative-lag": ["a transaction is open: read_committed waits"],
    }  # fmt: skip
