"""Brokers' clocks that are apart: what two logs tell of them, and a real cluster replayed as if its clocks were one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from chispa import assert_df_equality
from pyspark.sql import functions as F

from jobs.clocks import clocks_ahead, say_whose_clock
from jobs.keeping import keeping
from jobs.reconstruct_timelines import incidents_in
from jobs.replay_marks import mark_of
from jobs.whole_replay import whole_replay
from replay.clocks.ahead import TOGETHER_US
from replay.clocks.bounds import clock_bounds
from replay.clocks.one_clock import on_one_clock
from replay.timelines import Timelines
from schemas import columns as C
from schemas.tables import BROKER_STATEMENTS, FETCH_EVENTS, LEADER_CHANGES, METADATA_CHANGES, Table
from tests.captured import Tables, union
from tests.frames import rows
from tests.truth import rebuilt_steps, starts, stated_steps, truth_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HERE = {"cluster_id": "here", "capture_id": "one", "topic": "t", "topic_id": "T", "partition": 0}
Made = dict[str, dict[str, list[dict[str, Any]]]]
AS_CAPTURED, APART = "as captured", "apart"
SHIFTS = {1: 5, 2: -40, 3: 120}
"""Seconds by which the clock of each broker is made to be ahead."""


def at(ms: int) -> datetime:
    """So many milliseconds after noon."""
    return NOON + timedelta(milliseconds=ms)


def role(broker: int, epoch: int, ms: int, kind: str = "become_follower", **more: Any) -> dict[str, Any]:
    """A broker takes a role."""
    told = {"broker_id": broker, "leader_epoch": epoch, "event_time": at(ms), "change_kind": kind}
    return {**HERE, "partition_epoch": -1, **told, **more}


def fetch(leader: int, follower: int, epoch: int, ms: int, leo: int = 5) -> dict[str, Any]:
    """A follower asks a leader, and says in which epoch."""
    who = {"broker_id": leader, "replica_id": follower, "current_leader_epoch": epoch, "fetch_offset": leo}
    return {**HERE, **who, "event_time": at(ms)}


def record(partition_epoch: int, ms: int) -> dict[str, Any]:
    """The controller writes of a partition epoch."""
    epochs = {"leader_epoch": 1, "partition_epoch": partition_epoch, "metadata_offset": 100 + partition_epoch}
    return {**HERE, **epochs, "event_time": at(ms)}


def bounds_of(spark: SparkSession, told: Mapping[Table, list[dict[str, Any]]], *expected: tuple[Any, ...]) -> None:
    """Hold what some rows tell of clocks against what is expected: earlier, later, at least so many us, sure."""
    tables = (LEADER_CHANGES, FETCH_EVENTS, METADATA_CHANGES, BROKER_STATEMENTS)
    landed = {table.name: rows(spark, table, *told.get(table, ())) for table in tables}
    found = clock_bounds(landed).drop(C.CLUSTER_ID)
    wanted = spark.createDataFrame(list(expected), "earlier_id int, later_id int, at_least_us bigint, is_sure boolean")
    assert_df_equality(
        found, wanted, ignore_row_order=True, ignore_column_order=True, ignore_nullable=True, ignore_metadata=True
    )


def test_a_role_comes_before_the_first_request_in_it(spark: SparkSession) -> None:
    """And after the last one of before; the greatest of all such bounds counts, a second line of a role does not."""
    roles = [role(2, 0, -900), role(2, 1, 50), role(2, 1, 9_000), role(2, 3, 400), role(1, 1, 20, "become_leader")]
    fetches = [fetch(1, 2, 1, 80), fetch(1, 2, 1, 300), fetch(3, 2, 3, 410), fetch(1, -1, 1, 5), fetch(1, 2, -1, 7)]
    bounds_of(
        spark,
        {LEADER_CHANGES: roles, FETCH_EVENTS: fetches},
        (2, 1, -30_000, True),
        (1, 2, -100_000, False),
        (2, 3, -10_000, True),
    )


def test_a_line_may_be_that_of_a_restart(spark: SparkSession) -> None:
    """The log of 2 begins with it, that of its leader before: only of a log that was empty it is the first."""
    told = {"kind": "became_follower_log_end_offset", "broker_id": 2, "leader_epoch": 1, "event_time": at(9_000)}
    restarted = {LEADER_CHANGES: [role(2, 1, 9_000)], FETCH_EVENTS: [fetch(1, 2, 1, 80), fetch(1, 2, 1, 9_020)]}
    empty = {**restarted, FETCH_EVENTS: [fetch(1, 2, 1, 80, leo=0)], BROKER_STATEMENTS: [{**HERE, **told, "offset": 0}]}
    created = {**empty, FETCH_EVENTS: [fetch(1, 2, 1, 9_020, leo=0), fetch(1, 2, 1, 9_090)]}

    bounds_of(spark, restarted | {BROKER_STATEMENTS: [{**HERE, **told, "offset": 7}]})
    bounds_of(spark, empty)
    bounds_of(spark, created, (2, 1, -20_000, True))


def test_what_the_controller_wrote_comes_before_a_broker_applies_it(spark: SparkSession) -> None:
    """And after the leader asked for it; a snapshot, with which the log begins, is of any time before."""
    shrink = {"leader_id": 1, "isr": [1, 2]}
    changes = [
        role(1, 1, 130, "isr_shrink_proposed", **shrink),
        role(1, 1, 190, "isr_updated", **shrink, partition_epoch=5),
        role(2, 1, 60, "follower_metadata", partition_epoch=4),
        role(1, 1, 70, "become_leader", partition_epoch=3),
    ]
    records = [record(3, 9_000), record(4, 40), record(5, 150)]
    bounds_of(
        spark,
        {LEADER_CHANGES: changes, METADATA_CHANGES: records},
        (-1, 1, -40_000, True),
        (-1, 2, -20_000, True),
        (1, -1, -20_000, False),
    )


@pytest.fixture(scope="module")
def told(landed_capture: Callable[[str], Tables]) -> Tables:
    """`failover` as it was captured, and beside it as if its brokers' clocks were apart."""
    captured = landed_capture("failover")
    by = {("failover", broker): -seconds * 1_000_000 for broker, seconds in SHIFTS.items()}
    named = {AS_CAPTURED: captured, APART: on_one_clock(captured, by)}
    return union(
        {name: frame.withColumn(C.CLUSTER_ID, F.lit(cluster)) for name, frame in tables.items()}
        for cluster, tables in named.items()
    )


@pytest.fixture(scope="module")
def made(told: Tables) -> Iterator[Made]:
    """By cluster and table, what is rebuilt of both."""
    found: Made = {AS_CAPTURED: {}, APART: {}}
    with keeping() as keep:
        replay = whole_replay(told, keep)
        written = Timelines(**{name: keep(frame) for name, frame in vars(replay.timelines).items()})
        incidents = incidents_in(told, written, replay.profile, replay.ahead, keep)
        for name, frame in {**vars(written), "incidents": incidents}.items():
            every = [row.asDict() for row in frame.where("NOT startswith(topic, '__')").collect()]
            for cluster in found:
                found[cluster][name] = [row for row in every if row["cluster_id"] == cluster]
        assert replay.profile.has_clocks_apart
        assert not mark_of(APART, replay.profile, 1).is_plain
        yield found


def test_clocks_are_found_to_a_tenth_of_a_second(told: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    """Each against broker 1's, the controllers' too; and none of the cluster as it was captured."""
    ahead = clocks_ahead(told)
    say_whose_clock(ahead)

    assert {cluster for cluster, _ in ahead} == {APART}
    differences = {broker: us - (SHIFTS.get(broker, 0) - SHIFTS[1]) * 1_000_000 for (_, broker), us in ahead.items()}
    assert {broker for broker, us in differences.items() if abs(us) <= TOGETHER_US} == {-1, 2, 3}
    lines = capsys.readouterr().err
    assert "the clock of broker 2 is 45.0 s behind the others'" in lines
    assert "the clock of the controllers is 5.0 s behind the others'" in lines


@pytest.mark.long
def test_cuts_and_incidents_are_those_of_one_clock(made: Made) -> None:
    """To the offset: clocks that are apart made cuts by restart that never were."""
    cut = ("topic", "partition", "replica_id", "leader_epoch", "from_offset", "to_offset", "method", "is_stated")
    incident = ("kind", "severity", "topic", "partition", "replica_id", "leader_epoch", "from_offset", "to_offset")
    for table, columns in (("truncations", cut), ("incidents", incident)):
        as_captured, apart = (Counter(tuple(r[c] for c in columns) for r in made[of][table]) for of in made)
        assert sum(as_captured.values()) > 0
        differing = (as_captured - apart) + (apart - as_captured)
        # What ends as something of another broker begins may be a little shorter than a finding needs.
        assert sum(differing.values()) <= (1 if table == "incidents" else 0), differing


@pytest.mark.long
def test_steps_of_the_high_watermark_are_found(made: Made, captures: Path) -> None:
    """As many as without: each leader's, on its own clock."""
    truth = truth_of(captures / "failover")
    stated = {key: [hw for _, hw in steps] for key, steps in stated_steps(truth).items()}
    wanted = {(key, hw) for key, hws in stated.items() for hw in hws}

    def missing_and_extra(cluster: str) -> tuple[int, int]:
        steps = rebuilt_steps(made[cluster]["leader_timeline"], starts(truth))
        found = {(key, hw) for key, of in steps.items() if key in stated for _, hw in of}
        return len(wanted - found), len(found - wanted)

    missing, extra = missing_and_extra(APART)
    missing_before, extra_before = missing_and_extra(AS_CAPTURED)
    assert missing <= missing_before + len(wanted) * 0.001
    assert extra <= extra_before + len(wanted) * 0.001


@pytest.mark.long
def test_rows_are_told_on_the_clock_of_their_leader(made: Made) -> None:
    """The times of all rows but a few are what the leader's log has; a stated cut has its replica's."""

    def later(row: dict[str, Any], broker: str, cluster: str) -> datetime:
        time: datetime = row["event_time"]
        return time + timedelta(seconds=SHIFTS[row[broker]] if cluster == AS_CAPTURED else 0)

    lines = {
        cluster: Counter(
            (row["source_file"], row["source_line"], row["event_type"], later(row, "leader_id", cluster))
            for row in tables["leader_timeline"]
            if row["source_line"] is not None
        )
        for cluster, tables in made.items()
    }
    cuts = {
        cluster: {
            (row["topic"], row["partition"], row["replica_id"], later(row, "replica_id", cluster))
            for row in tables["truncations"]
            if row["is_stated"]
        }
        for cluster, tables in made.items()
    }
    assert sum(lines[AS_CAPTURED].values()) > 14_000
    assert sum((lines[AS_CAPTURED] - lines[APART]).values()) <= 5
    assert cuts[AS_CAPTURED]
    assert cuts[APART] == cuts[AS_CAPTURED]


def test_whose_clocks_are_one_nothing_is_moved(told: Tables) -> None:
    """The same frames, so the same plans."""
    assert on_one_clock(told, {}) is told
