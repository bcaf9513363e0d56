"""Logs that parted at an election, and whether somebody cut since: each topic is a small history of its own."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame

from replay.findings import begun_behind, differing, parted_followers, parted_logs
from replay.findings.divergence import divergences
from replay.profile import Profile, Truncation
from schemas import tables as T
from tests.checked_rows import HERE, Given, at, event, state
from tests.incident_histories import changes, cut, led
from tests.mutants import Mutant
from tests.small_histories import Findings, Histories, Told, by_topic, told_once

pytestmark = pytest.mark.spark


def fetched(replica: int, epoch: int, leo: int, hw: int = 8) -> Given:
    """A follower that fetched at a LEO in an epoch."""
    return state(replica, epoch, 3, leo, hw, remote_log_end_offset=leo)


def begins(offset: int | None, second: float, **more: Any) -> Given:
    """A line of replica 1 by which its log begins at an offset."""
    line = {"kind": "truncated_fully_at", "broker_id": 1, "event_time": at(second), **more}
    return {**HERE, "source_file": f"broker-{line['broker_id']}/server.log", "source_line": 1, **line, "offset": offset}


def asked(log_start: int, second: float) -> Given:
    """A fetch of replica 1, which tells where its own log begins."""
    who = {"replica_id": 1, "broker_id": 2, "event_time": at(second)}
    return {**HERE, "source_file": "broker-2/kafka-request.log", "source_line": 1, **who, "log_start_offset": log_start}


# Of leader 1's [0, 10) leader 2 has [0, 8), and appends up to 12.
TAKEN_OVER = (event(0, 1, 0, 0), event(0, 2, 10, 8), event(1, 1, 8, 8), event(1, 2, 12, 12))
SLOWLY = (*TAKEN_OVER[:3], event(1, 2, 9, 8), event(1, 3, 12, 12))
UNTOLD = (*TAKEN_OVER[:2], event(1, 1, 8, 8, log_end_offset_high=20), TAKEN_OVER[3])
# 3 led before 1 did.
THIRD = (
    event(0, 1, 0, 0, leader_id=3), event(0, 2, 9, 8, leader_id=3), event(1, 1, 9, 8, leader_id=1),
    event(1, 2, 10, 8, leader_id=1), event(2, 1, 8, 8, leader_id=2), event(2, 2, 12, 12, leader_id=2),
)  # fmt: skip
# 3 had [0, 10) below its HW when 2 was elected without [9, 10).
KEPT = (event(0, 1, 0, 0), event(0, 2, 10, 10), event(1, 1, 9, 9), event(1, 2, 12, 9))
WENT_ON = [fetched(3, 0, 10, hw=10), fetched(3, 1, 10, hw=9)]
SILENT = (event(0, 1, 0, 0), event(0, 2, 10, 10), event(2, 1, 9, 9), event(2, 2, 12, 9))
HISTORIES: Histories = {
    "not_back": led(*TAKEN_OVER),
    "back": led(*TAKEN_OVER) | {T.REPLICA_TIMELINE: [fetched(1, 1, 11)]},
    "cut": led(*TAKEN_OVER) | {
        T.TRUNCATIONS: [cut(1, 1, 10, 8, event_time=at(15)), cut(1, 1, 9, 8, event_time=at(17))],
    },
    # Until 12 s leader 2 has nothing that 1 has not, then [8, 9), and at 13 s the rest.
    "cut_before_any": led(*TAKEN_OVER) | {T.TRUNCATIONS: [cut(1, 1, 10, 8, event_time=at(11.5))]},
    "cut_before_all": led(*SLOWLY) | {T.TRUNCATIONS: [cut(1, 1, 10, 8, event_time=at(12.5))]},
    "cut_before_what_is_told": led(*UNTOLD) | {T.TRUNCATIONS: [cut(1, 1, 10, 8, event_time=at(11.5))]},
    "cut_too_little": led(*TAKEN_OVER) | {T.TRUNCATIONS: [cut(1, 1, 10, 9, event_time=at(15))]},
    "cut_before": led(*TAKEN_OVER) | {T.TRUNCATIONS: [cut(1, 0, 12, 8, event_time=at(1))]},
    "cut_by_another": led(*TAKEN_OVER) | {T.TRUNCATIONS: [cut(3, 1, 10, 8, event_time=at(15))]},
    # Away for longer than retention, it gave its whole log up: that is no truncation.
    "given_up": led(*TAKEN_OVER) | {
        T.REPLICA_TIMELINE: [fetched(1, 1, 11)],
        T.BROKER_STATEMENTS: [begins(9, 14), begins(10, 15), begins(11, 16)],
    },
    "given_up_before": led(*TAKEN_OVER) | {T.BROKER_STATEMENTS: [begins(10, 9)]},
    "given_up_by_another": led(*TAKEN_OVER) | {T.BROKER_STATEMENTS: [begins(10, 15, broker_id=3)]},
    "deleted": led(*TAKEN_OVER) | {T.BROKER_STATEMENTS: [begins(None, 15, kind="log_deleted")]},
    "asked_from_behind": led(*TAKEN_OVER) | {T.FETCH_EVENTS: [asked(9, 14), asked(10, 15)]},
    "followed_long_before": led(*THIRD) | {T.REPLICA_TIMELINE: [fetched(1, 0, 9)]},
    # Leader 3 has not all of 2, but what 2 appended in place of 1's records: 1 fetches on over its own.
    "back_later": led(*TAKEN_OVER, event(2, 1, 11, 11)) | {T.REPLICA_TIMELINE: [fetched(1, 2, 11)]},
    "hw_went_on": led(*KEPT) | {T.REPLICA_TIMELINE: WENT_ON},
    "hw_cut": led(*KEPT) | {
        T.REPLICA_TIMELINE: WENT_ON,
        T.TRUNCATIONS: [cut(3, 1, 12, 9, event_time=at(16)), cut(3, 1, 10, 9, event_time=at(18))],
    },
    "hw_given_up": led(*KEPT) | {
        T.REPLICA_TIMELINE: WENT_ON,
        T.BROKER_STATEMENTS: [begins(10, 16, broker_id=3)], T.TRUNCATIONS: [cut(3, 1, 10, 9, event_time=at(18))],
    },
    "hw_cut_before_any": led(*KEPT) | {
        T.REPLICA_TIMELINE: WENT_ON, T.TRUNCATIONS: [cut(3, 1, 10, 9, event_time=at(11.5))],
    },
    "hw_cut_too_little": led(*KEPT) | {
        T.REPLICA_TIMELINE: WENT_ON, T.TRUNCATIONS: [cut(3, 1, 12, 10, event_time=at(16))],
    },
    "hw_cut_before": led(*KEPT) | {
        T.REPLICA_TIMELINE: WENT_ON, T.TRUNCATIONS: [cut(3, 0, 12, 9, event_time=at(1))],
    },
    # Its HW reached as far as where the two part, and so it has cut the rest.
    "hw_not_beyond": led(*KEPT) | {T.REPLICA_TIMELINE: [fetched(3, 0, 10, hw=9), fetched(3, 1, 10, hw=9)]},
    "hw_asked_for_all": led(*KEPT) | {T.REPLICA_TIMELINE: [fetched(3, 0, 10, hw=10), fetched(3, 1, 9, hw=9)]},
    # What leader 9 had in between nobody knows: 3 may have had it from there.
    "hw_over_silence": led(*SILENT) | {
        T.REPLICA_TIMELINE: [fetched(3, 0, 10, hw=10), fetched(3, 2, 10, hw=9)], T.LEADER_CHANGES: changes((1, 3, 9)),
    },
}  # fmt: skip
FOUND: Findings = {
    "not_back": {("warning", 1, 1, 8, 10, None)},
    "back": {("critical", 1, 1, 8, 10, None)},
    "cut": {("info", 1, 1, 8, 10, 15)},
    "cut_before_all": {("info", 1, 1, 8, 9, 12.5)},
    "cut_before_what_is_told": {("info", 1, 1, 8, 10, 11.5)},
    "cut_too_little": {("warning", 1, 1, 8, 9, None)},
    "cut_before": {("warning", 1, 1, 8, 10, None)},
    "cut_by_another": {("warning", 1, 1, 8, 10, None)},
    "given_up": {("info", 1, 1, 8, 10, 15)},
    "given_up_before": {("warning", 1, 1, 8, 10, None)},
    "given_up_by_another": {("warning", 1, 1, 8, 10, None)},
    "deleted": {("info", 1, 1, 8, 10, 15)},
    "asked_from_behind": {("info", 1, 1, 8, 10, 15)},
    "followed_long_before": {("warning", 2, 1, 8, 10, None)},
    "back_later": {("critical", 1, 1, 8, 10, None)},
    "hw_went_on": {("warning", 1, 1, 9, 10, None), ("critical", 1, 3, 9, 10, None)},
    "hw_cut": {("warning", 1, 1, 9, 10, None), ("info", 1, 3, 9, 10, 16)},
    "hw_given_up": {("warning", 1, 1, 9, 10, None), ("info", 1, 3, 9, 10, 16)},
    "hw_cut_before_any": {("warning", 1, 1, 9, 10, None)},
    "hw_cut_too_little": {("warning", 1, 1, 9, 10, None), ("critical", 1, 3, 9, 10, None)},
    "hw_cut_before": {("warning", 1, 1, 9, 10, None), ("critical", 1, 3, 9, 10, None)},
    "hw_not_beyond": {("warning", 1, 1, 9, 10, None)},
    "hw_asked_for_all": {("warning", 1, 1, 9, 10, None)},
    "hw_over_silence": {("warning", 2, 1, 9, 10, None)},
}
"""Severity, epoch, the replica that has to cut, range, and the second at which it did."""

UNTIL, END, CUTS = parted_logs._with_until, parted_logs._with_end, parted_followers._with_cuts
MUTANTS = (
    Mutant(UNTIL, ' & (it[SPLIT_AT] <= F.col("begin"))', "", "whatever an election loses it has lost these"),
    Mutant(UNTIL, "(it[C.LEADER_EPOCH] >= since)\n", "F.lit(True)\n", "who followed long before is back"),
    Mutant(END, "(it[C.LEADER_EPOCH] >= F.col(since)) & ", "", "a cut long before ends it"),
    Mutant(END, ' & (it[C.TO_OFFSET] <= F.col("begin"))', "", "any cut ends it"),
    Mutant(END, "F.array_min", "F.array_max", "the last cut ends it"),
    Mutant(CUTS, "(it[C.LEADER_EPOCH] >= F.col(C.LEADER_EPOCH)) & ", "", "a follower's cut long before ends it"),
    Mutant(CUTS, ' & (it[C.TO_OFFSET] <= F.col("begin"))', "", "any cut of a follower ends it"),
    Mutant(CUTS, "F.array_min", "F.array_max", "a follower's last cut ends it"),
    Mutant(begun_behind.with_behind, "(F.col(_BEGINS_AT) >= F.col(END)) & ", "", "any start is behind the range"),
    Mutant(begun_behind.with_behind, " & (F.col(_TOLD_AT) >= F.col(C.STARTED_AT))", "", "it began behind them before"),
    Mutant(begun_behind.with_behind, "F.min(_TOLD_AT)", "F.max(_TOLD_AT)", "the last start counts"),
    Mutant(parted_followers.parted_followers, "begin >= start AND is_heard", "begin >= start",
           "what a silent leader had is known"),
    Mutant(parted_followers.parted_followers, '(F.col(OWN_HW) > F.col("begin"))', '(F.col(OWN_HW) >= F.col("begin"))',
           "who cut to its HW kept what lies above"),
    Mutant(differing.with_differing, "F.greatest(C.LOG_END_OFFSET, C.LOG_END_OFFSET_HIGH)", "F.col(C.LOG_END_OFFSET)",
           "what is not told was not appended"),
    Mutant(differing.with_differing, "F.max(F.when(is_until, ", "F.max(F.when(F.lit(True), ",
           "what is appended after the cut differs"),
)  # fmt: skip


told = told_once(HISTORIES)


def apart(told: Told) -> DataFrame:
    """The findings; followers are looked at under truncation to the HW alone."""
    profile = Profile(truncation=Truncation.HIGH_WATERMARK.value)
    leaders = told.landed[T.LEADER_TIMELINE.name]
    return divergences(told.landed, told.lost, told.took_part, told.truncations, leaders, profile)


def found(told: Told) -> Findings:
    """What is found of each history."""
    begin = at(0).replace(tzinfo=None)
    shown = by_topic(apart(told), "severity", "leader_epoch", "replica_id", "from_offset", "to_offset", "ended_at")
    return {
        topic: {(*of, ended and (ended - begin).total_seconds()) for *of, ended in rows}
        for topic, rows in shown.items()
    }


def test_whose_logs_are_apart(told: Told) -> None:
    """What the new leader appended until who has to cut has cut to where they part."""
    assert found(told) == FOUND


def test_logs_are_apart_from_the_first_append(told: Told) -> None:
    """Not from the election on; where nobody knows of it, it may be from there."""
    started = by_topic(apart(told).where("leader_epoch = 1"), "replica_id", "started_at")
    seconds = {
        topic: {(replica, (since - at(0).replace(tzinfo=None)).total_seconds()) for replica, since in rows}
        for topic, rows in started.items() if topic in {"cut", "cut_before_what_is_told", "hw_went_on"}
    }  # fmt: skip

    assert seconds == {"cut": {(1, 12.0)}, "cut_before_what_is_told": {(1, 11.0)}, "hw_went_on": {(1, 12.0), (3, 12.0)}}


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_dies(mutant: Mutant, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some history is told otherwise."""
    mutant.live(monkeypatch)

    assert found(told) != FOUND
