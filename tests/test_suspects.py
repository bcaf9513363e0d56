"""Who is suspected of a long finding: nobody that has one is left out, and a busy and healthy partition is none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from jobs.keeping import keeping
from replay.findings import stale_members
from replay.findings.late_members import MEMBER, late_members
from replay.findings.stale_members import stale_isr_members
from replay.findings.stalls import STALL_MS, stalled_high_watermarks
from replay.findings.suspects import IS_BOUNDED, MAY_STALL, WAS_UNDER_MIN_ISR, only, suspects
from replay.findings.under_min_isr import times_under_min_isr
from replay.releases import profile_for
from schemas import columns as C
from schemas.tables import BROKER_STATEMENTS, LEADER_TIMELINE, SETTINGS
from tests.checked_rows import Given, at, event
from tests.frames import rows
from tests.nothing_told import untold
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.twin.histories import history

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

pytestmark = pytest.mark.spark

HASTY = profile_for("4.1.0").with_changes(lag_time_ms=700)
"""A member may be behind for 2.05 s: in drawn histories few are for 16 s."""


@asked
def drawn() -> Logs:
    """Histories with what their faults lead to."""
    return logs_of([history(seed) for seed in range(60, 80)], 6)


def test_who_is_no_suspect_has_no_finding(rebuilt: Answers) -> None:
    """Of all that the tests replay: each finder finds the same in the suspects' events as in all."""
    leaders = rebuilt.with_all_beside(drawn).leader_timeline
    with keeping() as keep:
        told = untold(leaders.sparkSession)
        landed = {table.name: rows(leaders.sparkSession, table) for table in (SETTINGS, BROKER_STATEMENTS)}
        suspected = keep(suspects(leaders, told[1], STALL_MS), is_small=True)
        looks = {
            MAY_STALL: lambda events: stalled_high_watermarks(events, *told, HASTY),
            WAS_UNDER_MIN_ISR: lambda events: times_under_min_isr(events, told[0], landed, HASTY),
        }
        for of, look in looks.items():
            everything = sorted(map(str, look(leaders).collect()))
            assert everything
            assert sorted(map(str, look(only(leaders, suspected, of)).collect())) == everything


def everyone(leader_timeline: DataFrame, _: Column) -> DataFrame:
    """One row per leader epoch and broker that there may be."""
    brokers = F.explode(F.sequence(F.lit(0), F.lit(9))).alias("who")
    return leader_timeline.select(*C.EPOCH_KEY).distinct().select(*C.EPOCH_KEY, brokers).select(*MEMBER)


def test_who_is_not_late_has_no_finding(rebuilt: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all that the tests replay: members of all leaderships in order have no finding that late ones have not."""
    leaders = rebuilt.with_all_beside(drawn).leader_timeline
    with keeping() as keep:
        of_late = sorted(map(str, stale_isr_members(leaders, HASTY, keep).collect()))
        monkeypatch.setattr(stale_members, "late_members", everyone)
        assert sorted(map(str, stale_isr_members(leaders, HASTY, keep).collect())) == of_late
    assert of_late


def steps(topic: str, *, until_ms: int, stands_from: int = -1, stands_for: int = 0) -> Iterator[Given]:
    """An append and the fetches of it every 50 ms, from `at(0)` on; for a while nobody fetches."""
    hw = 0
    for number, ms in enumerate(range(0, until_ms, 50), 1):
        is_held = stands_from <= ms < stands_from + stands_for
        hw = hw if is_held else number
        remote = {"remote_log_end_offset": {2: hw, 3: hw}, "maximal_isr": [1, 2, 3], "topic": topic}
        time: dict[str, Any] = {"event_time": at(ms / 1000), **remote}
        yield event(0, 2 * number - 1, number, hw if is_held else number - 1, event_type="APPEND", **time)
        yield event(0, 2 * number, number, hw, replica_id=2, event_type="FETCH", **time)


def test_a_stall_is_suspected_whenever_it_begins(spark: SparkSession) -> None:
    """One of a second, in the midst of a busy time, however it lies in the slices; one of a third of that is none."""
    given = [
        row
        for begin in range(2_000, 2_500, 50)
        for length in (1_000, 300)
        for row in steps(f"{begin} {length}", until_ms=6_000, stands_from=begin, stands_for=length)
    ]
    # The HW rises with each append, and is always behind it.
    lagging = [{**row, "high_watermark": row["log_end_offset"] - 1} for row in steps("lagging", until_ms=6_000)]
    leaders = rows(
        spark, LEADER_TIMELINE, *given, *[{**row, "high_watermark_high": row["high_watermark"]} for row in lagging]
    )
    suspected = suspects(leaders, untold(spark)[1], STALL_MS).where(MAY_STALL)

    assert {row["topic"] for row in suspected.collect()} == {f"{begin} 1000" for begin in range(2_000, 2_500, 50)}
    assert stalled_high_watermarks(leaders, *untold(spark), HASTY).count() == 10


def test_what_goes_on_at_the_end_of_an_epoch_is_suspected(spark: SparkSession) -> None:
    """The leader is killed after an append; the next one begins seconds later, and nothing happens in between."""
    killed = [*steps("killed", until_ms=3_000), event(0, 999, 61, 60, event_time=at(3), topic="killed")]
    begun = [{**row, "leader_epoch": 1, "event_time": at(8)} for row in killed[:2]]
    elected = [*steps("elected", until_ms=3_000)]
    elected += [{**row, "leader_epoch": 1, "event_time": row["event_time"] + timedelta(seconds=3.4)} for row in elected]
    leaders = rows(spark, LEADER_TIMELINE, *killed, *begun, *elected, *steps("goes_on", until_ms=3_000))

    suspected = suspects(leaders, untold(spark)[1], STALL_MS).where(MAY_STALL)
    assert [row["topic"] for row in suspected.collect()] == ["killed"]
    assert stalled_high_watermarks(leaders, *untold(spark), HASTY).count() == 1


def names(found: DataFrame) -> set[str]:
    """The topics of these rows."""
    return {row["topic"] for row in found.collect()}


def behind(topic: str, by: int, *, since_ms: int = 1_000, until_ms: int = 6_000) -> list[dict[str, Any]]:
    """The same, but fetches of replica 3 come `by` records short of what they might have, from a time to a time."""
    given = [dict(row) for row in steps(topic, until_ms=6_000)]
    for row in given:
        if row["event_type"] == "FETCH":
            row["replica_id"] = 3
        if at(since_ms / 1000) <= row["event_time"] < at(until_ms / 1000):
            row["remote_log_end_offset"] = {2: row["log_end_offset"], 3: row["log_end_offset"] - by}
    return given


def test_a_member_behind_for_long_is_late(spark: SparkSession) -> None:
    """Whenever that begins; not who is one fetch behind all the time, which is caught up by the fetch before."""
    begins = range(1_000, 2_000, 50)
    given = [row for begin in begins for row in behind(str(begin), 2, since_ms=begin, until_ms=begin + 2_100)]
    alone = [{**row, "remote_log_end_offset": {}, "replica_id": -1} for row in steps("alone", until_ms=6_000)]
    leaders = rows(
        spark, LEADER_TIMELINE, *given, *alone, *behind("a fetch behind", 1), *behind("at the end", 0),
        *behind("not for long", 2, until_ms=2_000),
    )  # fmt: skip

    assert names(late_members(leaders, F.lit(2_050.0))) == set(map(str, begins))


def test_a_member_that_catches_up_now_and_then_is_not_late(spark: SparkSession) -> None:
    """Its fetches come short for most of each second: what they lack is not summed over the others."""
    partly = behind("partly", 40)
    for row in partly:
        if row["event_seq"] // 16 % 3 == 0:
            row["remote_log_end_offset"] = {2: 0, 3: row["log_end_offset"] - 1}
    leaders = rows(spark, LEADER_TIMELINE, *partly, *behind("never", 2))

    assert names(late_members(leaders, F.lit(4_100.0))) == {"never"}


def test_who_stops_is_late(spark: SparkSession) -> None:
    """A member that fetches no more, however well it stood, while the leader goes on; and one that never fetched."""
    gone = [row for row in behind("gone", 1) if row["event_type"] == "APPEND" or row["event_time"] < at(3)]
    begin = event(0, 0, 0, 0, event_type="BECOME_LEADER", event_time=at(0), topic="never", isr=[1, 3])
    never = [begin, *[row for row in behind("never", 1) if row["event_type"] == "APPEND"]]
    leaders = rows(spark, LEADER_TIMELINE, *gone, *never)

    assert names(late_members(leaders, F.lit(2_050.0))) == {"gone", "never"}


def test_one_event_is_enough(spark: SparkSession) -> None:
    """An ISR that is too small, or an LEO between bounds, is seen wherever it is."""
    small, bounded = (list(steps(topic, until_ms=3_000)) for topic in ("small", "bounded"))
    small[70]["is_under_min_isr"] = True  # type: ignore[index]
    bounded[70]["log_end_offset_high"] = 1_000  # type: ignore[index]
    leaders = rows(spark, LEADER_TIMELINE, *small, *bounded, *steps("healthy", until_ms=3_000))

    with keeping() as keep:
        suspected = keep(suspects(leaders, untold(spark)[1], STALL_MS), is_small=True)
        found = {of: {row["topic"] for row in suspected.where(of).collect()} for of in (WAS_UNDER_MIN_ISR, IS_BOUNDED)}
        assert found == {WAS_UNDER_MIN_ISR: {"small"}, IS_BOUNDED: {"bounded"}}
        assert only(leaders, suspected, IS_BOUNDED).count() == len(bounded)
