"""Views on literal timelines: each topic is a small history, all of them looked at in one frame."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from replay.findings.held_back import high_watermark_held
from replay.releases import profile_for
from replay.views.catalog import VIEWS
from replay.views.commits import commit_latency, commit_times
from schemas import tables as T
from schemas.kinds import KAFKA_VERSION
from tests.checked_rows import Given, at, event
from tests.frames import nothing_else, rows

pytestmark = pytest.mark.spark


def append(epoch: int, seq: int, leo: int, hw: int, **more: Any) -> Given:
    """An append at the leader."""
    return event(epoch, seq, leo, hw, event_type="APPEND", **more)


def again(number: int) -> dict[str, int]:
    """The place of an event of a leader that restarted and kept its epoch."""
    return {"event_seq": (1 << 40) + number}


def known(isr: list[int], remote: dict[int, int], limited_by: list[int], **more: Any) -> dict[str, Any]:
    """What a leader knew of the others."""
    return {
        "isr": isr, "maximal_isr": isr, "remote_log_end_offset": remote, "high_watermark_limited_by": limited_by, **more
    }  # fmt: skip


def clock(second: float) -> datetime:
    """A time of the history, as `collect` gives it."""
    return at(second).replace(tzinfo=None)


def timeline(spark: SparkSession, **histories: list[Given]) -> Any:
    """Leaders' events, a topic a history."""
    told = [{**row, "topic": topic} for topic, history in histories.items() for row in history]
    return rows(spark, T.LEADER_TIMELINE, *told)


def held_in(timeline: DataFrame, *told: Any) -> DataFrame:
    """`high_watermark_held` of events beside which no line tells anything but these settings."""
    spark = timeline.sparkSession
    (of,) = (view.of for view in VIEWS if view.make is high_watermark_held)
    return high_watermark_held(timeline, *nothing_else(spark, *of[1:-1]), rows(spark, T.SETTINGS, *told))


def test_who_held_the_high_watermark_and_why(spark: SparkSession) -> None:
    """By what the leader knew: one stretch a reason, from its first event to the next that is not of it."""
    held = timeline(
        spark,
        behind=[event(0, 1, 9, 4, **known([1, 2], {2: 4}, [2]), replica_id=2, event_type="FETCH"), event(0, 3, 9, 9)],
        silent=[append(0, 2, 9, 4, **known([1, 2], {2: 4}, [2]))],
        unheard=[event(0, 1, 9, 4, **known([1, 2, 3], {2: -1, 3: 9}, [2]))],
        joining=[append(0, 2, 9, 4, **known([1], {2: 4}, [2], maximal_isr=[1, 2]))],
        outside=[append(0, 2, 9, 4, **known([1], {2: 4}, [2]))],
        too_few=[append(0, 2, 9, 4, **known([1], {2: 4}, []), is_under_min_isr=True)],
    )  # fmt: skip
    found = {row["topic"]: row for row in held_in(held).collect()}

    assert {topic: (row["why"], row["waits_for"]) for topic, row in found.items()} == {
        "behind": ("BEHIND", [2]),
        "silent": ("NOT_FETCHING", [2]),
        "unheard": ("FIRST_FETCH", [2]),
        "joining": ("ISR_CHANGE_IN_FLIGHT", [2]),
        "outside": ("CAUGHT_UP_OUTSIDE_ISR", [2]),
        "too_few": ("UNDER_MIN_ISR", []),
    }
    assert (found["behind"]["lasted_ms"], found["silent"]["ended_at"]) == (2000, None)


@pytest.mark.parametrize(
    ("version", "why"),
    [
        (None, "UNDER_MIN_ISR"), ("4.1.0", "UNDER_MIN_ISR"), ("3.7.0", "UNDER_MIN_ISR"), ("3.10.0", "UNDER_MIN_ISR"),
        ("7.7.0-ccs", "UNDER_MIN_ISR"), ("8.0.0-ccs", "UNDER_MIN_ISR"), ("3.6.2", "NOT_FETCHING"),
        ("2.8.1", "NOT_FETCHING"), ("7.6.0-ccs", "NOT_FETCHING"), ("5.5.1-ce", "NOT_FETCHING"),
    ],
)  # fmt: skip
def test_before_3_7_min_isr_holds_nothing(spark: SparkSession, version: str | None, why: str) -> None:
    """By the release that the leader told of last before; one that tells none is taken for new."""
    held = timeline(spark, a=[append(0, 2, 9, 4, **known([1, 2], {2: 4}, [2]), is_under_min_isr=True)])
    told = {"cluster_id": "c", "broker_id": 1, "topic": "", "name": KAFKA_VERSION}
    settings = [{**told, "event_time": at(1), "value": "3.0.0"}, {**told, "event_time": at(2), "value": version}]

    assert [row["why"] for row in held_in(held, *(settings if version else [])).collect()] == [why]
    assert profile_for(version).min_isr_gate == (why == "UNDER_MIN_ISR")


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ([(1, 1, "3.6.2"), (1, 3, "3.7.1")], "NOT_FETCHING"),
        ([(2, 1, "3.7.1"), (1, 1, "3.6.2")], "NOT_FETCHING"),
        ([(2, 1, "3.6.2"), (2, 3, "3.7.1")], "NOT_FETCHING"),
        ([(-1, None, "3.6.2"), (1, 1, "3.7.1")], "UNDER_MIN_ISR"),
    ],
    ids=["is upgraded later", "another is upgraded already", "tells nothing of itself", "of all, and then of itself"],
)
def test_each_leader_plays_by_its_own_release(
    spark: SparkSession, told: list[tuple[int, int | None, str]], why: str
) -> None:
    """While brokers are upgraded one by one: the last that it told of itself, else the first that anybody did."""
    held = timeline(spark, a=[append(0, 2, 9, 4, **known([1, 2], {2: 4}, [2]), is_under_min_isr=True)])
    cluster = {"cluster_id": "c", "topic": "", "name": KAFKA_VERSION}
    settings = [
        {**cluster, "broker_id": broker, "event_time": None if second is None else at(second), "value": version}
        for broker, second, version in told
    ]

    assert [row["why"] for row in held_in(held, *settings).collect()] == [why]


def test_a_stretch_ends_where_another_replica_holds_it(spark: SparkSession) -> None:
    """The HW is the same, who holds it is not."""
    held = timeline(
        spark,
        turns=[
            append(0, 2, 9, 4, **known([1, 2, 3], {2: 4, 3: 4}, [2, 3])),
            event(0, 3, 9, 4, **known([1, 2, 3], {2: 4, 3: 9}, [2]), replica_id=3),
        ],
    )

    found = held_in(held).orderBy("started_at").collect()

    assert [row["waits_for"] for row in found] == [[2, 3], [2]]


def test_commits_are_the_first_time_the_high_watermark_was_past(spark: SparkSession) -> None:
    """Each append its own; not in its epoch: NULL; a shorter log of a restarted leader had other records."""
    appended = timeline(
        spark,
        plain=[append(0, 1, 5, 0), append(0, 2, 7, 0), event(0, 4, 7, 5), event(0, 8, 7, 7)],
        too_late=[append(0, 1, 5, 0), event(1, 1, 5, 5)],
        # It had reached 5 before it restarted, with another record.
        restarted=[event(0, 1, 5, 5), append(0, 2, 5, 3, **again(2)), event(0, 3, 5, 5, **again(3))],
        repeated=[event(0, 1, 5, 5), append(0, 2, 5, 5)],
    )
    found: dict[str, list[float | None]] = {}
    for row in commit_times(appended).orderBy("topic", "log_end_offset").collect():
        found.setdefault(row["topic"], []).append(row["latency_ms"])

    assert found == {"plain": [3000.0, 6000.0], "too_late": [None], "restarted": [1000.0], "repeated": [0.0]}


def test_commit_latency_is_by_minute(spark: SparkSession) -> None:
    """Percentiles of the appends that were committed, and how many were not."""
    appended = timeline(
        spark, plain=[append(0, 1, 5, 0), append(0, 2, 7, 0), event(0, 4, 7, 5), append(0, 9, 8, 5)]
    )  # fmt: skip
    (row,) = commit_latency(appended).collect()

    assert (row["appends"], row["not_committed_in_epoch"], row["p50_ms"], row["max_ms"]) == (3, 2, 3000.0, 3000.0)


def test_percentiles_are_told_to_the_microsecond(spark: SparkSession) -> None:
    """Between 10.1 and 300.7 ms lie 286.17 at 0.95: as doubles are added up, 286.16999999999996."""
    two = timeline(
        spark,
        plain=[
            append(0, 1, 5, 0), event(0, 2, 5, 5, event_time=at(1.0101)),
            append(0, 3, 7, 5), event(0, 4, 7, 7, event_time=at(3.3007)),
        ],
    )  # fmt: skip
    (row,) = commit_latency(two).collect()

    assert (row["p50_ms"], row["p95_ms"], row["p99_ms"]) == (155.4, 286.17, 297.794)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_nothing_gives_nothing(view: Any, spark: SparkSession) -> None:
    """Of an empty warehouse each view is empty, with the columns that it says it has."""
    tables = [rows(spark, table) for table in view.of]
    made, told = view.make(*tables), view.rows(*tables)

    assert made.isEmpty()
    assert [(field.name, field.dataType.simpleString()) for field in made.schema] == [
        (column, column.type.simpleString()) for column in view.columns
    ]
    assert [field.metadata for field in told.schema] == [{"comment": column.comment} for column in view.columns]
