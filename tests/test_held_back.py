"""How long the HW was held back, on literal rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from replay.findings.held_back import held_back, high_watermark_held
from replay.findings.stalls import stalled_high_watermarks
from replay.findings.told_epochs import told_epochs, with_deletions
from replay.profile import Profile
from replay.views.catalog import VIEWS
from schemas.tables import BROKER_STATEMENTS, LEADER_CHANGES, LEADER_TIMELINE, METADATA_CHANGES
from tests.checked_rows import Given, at, became_leader, event, log_deleted
from tests.frames import nothing_else, rows
from tests.nothing_told import untold
from tests.test_views import known, timeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

(HELD_OF,) = (view.of for view in VIEWS if view.make is high_watermark_held)


@pytest.mark.spark
def test_a_leader_that_was_killed_holds_nothing_after_the_next_one_begins(spark: SparkSession) -> None:
    """That it ended is known when it is started again, long after the next leader began."""
    killed = event(0, 30, 5, 0, event_type="RESTART", replica_id=1)
    timeline = rows(
        spark, LEADER_TIMELINE, event(0, 1, 0, 0), event(0, 2, 5, 0, event_type="APPEND"), killed, event(1, 1, 5, 5)
    )

    (stretch,) = held_back(timeline, *untold(spark)).collect()
    assert (stretch["high_watermark"], stretch["log_end_offset"], stretch["lasted_ms"]) == (0, 5, 9_000)


@pytest.mark.spark
def test_what_is_known_between_bounds_is_behind_where_it_surely_is(spark: SparkSession) -> None:
    """A HW that may be at the LEO is not held back. A killed process ends no stretch, though its HW may have risen."""
    open_end, low = (
        {"exactness": "bounded", "high_watermark_high": 5},
        {"exactness": "bounded", "high_watermark_high": 4},
    )
    killed = {"event_type": "RESTART", "replica_id": 1, **open_end}
    timeline = rows(
        spark, LEADER_TIMELINE,
        *[{**event(0, seq, 5, 0, **open_end), "topic": "may_be_at_the_end"} for seq in (1, 2)],
        *[{**event(0, seq, 5, 0, **low), "topic": "surely_behind"} for seq in (1, 3)],
        *[{**row, "topic": "killed"} for row in (event(0, 1, 5, 0), event(0, 2, 5, 0, **killed), event(1, 1, 5, 5))],
    )  # fmt: skip

    found = {row["topic"]: row["lasted_ms"] for row in held_back(timeline, *untold(spark)).collect()}
    assert found == {"surely_behind": 2_000, "killed": 10_000}


@pytest.mark.spark
def test_the_end_of_a_killed_process_begins_no_stretch(spark: SparkSession) -> None:
    """Its HW may have risen before, and what its end is known by comes long after the next leader began."""
    open_end = {"exactness": "bounded", "high_watermark_high": 5}
    end = event(0, 30, 5, 4, event_type="RESTART", replica_id=1, **open_end)
    before = [event(0, 1, 5, 5), event(0, 2, 5, 4, **open_end), end]
    kept_its_epoch = event(0, 33, 5, 4, event_seq=(1 << 40) + 1)
    timeline = rows(
        spark, LEADER_TIMELINE, *[{**row, "topic": "followed"} for row in (*before, event(1, 1, 5, 5))],
        *[{**row, "topic": "started_again"} for row in (*before, kept_its_epoch)],
    )  # fmt: skip

    found = held_back(timeline, *untold(spark)).collect()
    begun = [(row["topic"], (row["started_at"] - at(0).replace(tzinfo=None)).total_seconds()) for row in found]
    assert (begun, [row["lasted_ms"] for row in found]) == ([("started_again", 33.0)], [0])


@pytest.mark.spark
def test_what_a_killed_leader_waited_for_ends_with_the_next_one(spark: SparkSession) -> None:
    """Also where its own end, known an hour later, tells of another reason."""
    waits, untold = ({"high_watermark_limited_by": replicas} for replicas in ([2], None))
    end = event(0, 3, 5, 4, event_type="RESTART", replica_id=1, event_time=at(3600), **untold)
    timeline = rows(spark, LEADER_TIMELINE, event(0, 1, 5, 4, **waits), end, event(1, 1, 5, 5))

    assert [
        row["lasted_ms"] for row in high_watermark_held(timeline, *nothing_else(spark, *HELD_OF[1:])).collect()
    ] == [10_000]


@pytest.mark.spark
def test_a_stall_names_whom_its_evidence_names(spark: SparkSession) -> None:
    """Under min ISR nobody; of two that are last the one that did not fetch."""
    small = {"isr": [1], "is_under_min_isr": True, "high_watermark_limited_by": [2]}
    two = {"maximal_isr": [1, 2, 3], "high_watermark_limited_by": [2, 3], "remote_log_end_offset": {2: 0, 3: 0}}
    timeline = rows(
        spark, LEADER_TIMELINE,
        *[{**event(0, seq, 5, 0, **small), "topic": "too_small"} for seq in (1, 3)],
        *[{**event(0, seq, 5, 0, **two), "replica_id": 3, "topic": "of_two"} for seq in (1, 3)],
    )  # fmt: skip

    found = stalled_high_watermarks(timeline, *untold(spark), Profile()).collect()
    told = {row["topic"]: (row["replica_id"], row["evidence"].split("; ")[1]) for row in found}
    assert told == {
        "too_small": (-1, "the ISR [1] is under min.insync.replicas 2"), "of_two": (2, "[2] did not fetch"),
    }  # fmt: skip


@pytest.mark.spark
def test_why_it_stood_is_what_was_last_known_of_it(spark: SparkSession) -> None:
    """In the leader's next epoch nothing tells whom it waits for: it waited for 2."""
    two = {"maximal_isr": [1, 2], "remote_log_end_offset": {2: 0}, "high_watermark_limited_by": [2]}
    untold_end = {**two, "high_watermark_limited_by": []}
    timeline = rows(
        spark, LEADER_TIMELINE, event(0, 1, 5, 0, **two), event(1, 1, 5, 0, leader_id=1, **untold_end),
        event(1, 3, 5, 5, leader_id=1),
    )  # fmt: skip

    (found,) = stalled_high_watermarks(timeline, *untold(spark), Profile()).collect()
    assert (found["replica_id"], found["leader_epoch"], found["evidence"].split("; ")[1]) == (2, 0, "[2] did not fetch")


@pytest.mark.spark
def test_a_deleted_topic_stalls_no_longer(spark: SparkSession) -> None:
    """It is deleted between an append and the fetch that would have committed it: there is no HW any more."""
    state = {"remote_log_end_offset": {2: 0}, "high_watermark_limited_by": [2]}
    timeline = rows(spark, LEADER_TIMELINE, *[event(0, seq, 5, 0, **state) for seq in (1, 3)])
    told = told_epochs(rows(spark, LEADER_CHANGES, became_leader(0, 1)), rows(spark, METADATA_CHANGES))
    epochs = with_deletions(told, rows(spark, BROKER_STATEMENTS, log_deleted("ledger", 1, 3.5)))
    _, heard = untold(spark)

    (stretch,) = held_back(timeline, epochs, heard).collect()
    assert (stretch["lasted_ms"], stretch["ended_at"]) == (2_500, at(3.5).replace(tzinfo=None))


@pytest.mark.spark
def test_a_stretch_has_one_reason(spark: SparkSession) -> None:
    """Whom the HW waits for stays; why it does changes with the first fetch, and as its ISR changes."""

    def step(seq: int, leo: int, hw: int, remote: int, isr: list[int], *joining: int, **more: Any) -> Given:
        waits_for = [2] if hw < leo else []
        return event(0, seq, leo, hw, **known(isr, {2: remote}, waits_for, maximal_isr=[*isr, *joining]), **more)

    fetch, append, change = {"replica_id": 2}, {"event_type": "APPEND"}, {"event_type": "ISR_CHANGE"}
    led = timeline(
        spark,
        first_then_behind=[
            step(1, 12, 5, -1, [1, 2]), step(30, 12, 5, 5, [1, 2], **fetch), step(31, 12, 12, 12, [1, 2], **fetch),
        ],
        isr_removed=[
            step(2, 9, 4, 4, [1, 2], **append), step(40, 9, 4, 4, [1], **change), step(41, 9, 9, 4, [1], **append),
        ],
        in_flight=[
            step(2, 9, 4, 4, [1], 2, **append), step(30, 9, 4, 4, [1, 2], **change), step(60, 9, 9, 9, [1, 2], **fetch),
        ],
    )  # fmt: skip
    held = high_watermark_held(led, *nothing_else(spark, *HELD_OF[1:]))
    found: dict[str, list[tuple[str, int]]] = {}
    for row in held.orderBy("topic", "started_at").collect():
        found.setdefault(row["topic"], []).append((row["why"], row["lasted_ms"]))

    assert found == {
        "first_then_behind": [("FIRST_FETCH", 29_000), ("BEHIND", 1_000)],
        "isr_removed": [("NOT_FETCHING", 38_000), ("CAUGHT_UP_OUTSIDE_ISR", 1_000)],
        "in_flight": [("ISR_CHANGE_IN_FLIGHT", 28_000), ("NOT_FETCHING", 30_000)],
    }
