"""The physical plan of the engine: what a run costs is decided there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import assignments
from replay.events.ends import ends
from replay.events.leaderships import leaderships, roles_with_loads
from replay.events.restarts import follower_restarts
from replay.profile import Profile
from replay.replayed import ordered_events
from replay.states.leader import remembered
from replay.states.leader_rows import leader_timeline, with_high_watermark
from replay.states.log_starts import with_told_log_start
from replay.states.replica_rows import IN_ORDER_OF_REPLICA
from replay.states.starts import last_responses, leadership_starts
from replay.timelines import reconstruct
from schemas import columns as C
from schemas.tables import BROKER_STATEMENTS
from tests.codegen import MOST_BYTES, compiled, longest_method
from tests.engine import landed_from
from tests.twin.histories import history

pytestmark = pytest.mark.spark

SLOTS = 3
PLAIN = Profile(has_outsiders=False, has_returns=False, has_long_tenures=False, has_unstated_starts=False)
"""Of a log as most are: what the engine looks for before it plans is not there."""


def plan_of(frame: DataFrame) -> str:
    """The physical plan, a line a node."""
    return str(frame._jdf.queryExecution().executedPlan().toString())


def ordered_of(landed: dict[str, DataFrame], profile: Profile) -> DataFrame:
    """The events of the landing tables, in order."""
    roles, assigned = roles_with_loads(landed), assignments(landed).localCheckpoint()
    begun, restarts = leaderships(roles).localCheckpoint(), follower_restarts(roles, landed[BROKER_STATEMENTS.name])
    return ordered_events(landed, begun, restarts, ends(roles), assigned, SLOTS, profile)


@pytest.fixture(scope="module")
def landed(spark: SparkSession) -> dict[str, DataFrame]:
    """A history's landing tables."""
    return landed_from(spark, history(3).landing)


@pytest.fixture(scope="module")
def ordered(landed: dict[str, DataFrame]) -> Callable[[Profile], DataFrame]:
    """Its events in order, by a profile: one plan for all that look at it."""
    return cache(lambda profile: ordered_of(landed, profile))


def test_no_shuffle_of_ordered_events(landed: dict[str, DataFrame]) -> None:
    """From the ordered events to `leader_timeline` the events are where they must be: all windows agree on that."""
    roles, assigned = roles_with_loads(landed), assignments(landed).localCheckpoint()
    begun, restarts = leaderships(roles), follower_restarts(roles, landed[BROKER_STATEMENTS.name])
    ended = ends(roles)
    ordered = ordered_events(landed, begun, restarts, ended, assigned, SLOTS, Profile()).localCheckpoint()
    states = remembered(ordered, SLOTS, Profile())
    summaries = last_responses(states, SLOTS).localCheckpoint()
    told = with_told_log_start(begun, landed[BROKER_STATEMENTS.name])
    starts = leadership_starts(summaries, told, restarts, assigned, SLOTS).localCheckpoint()
    known = with_high_watermark(states, starts, assigned, SLOTS, Profile()).withColumn(
        C.LAST_STABLE_OFFSET, F.col(C.HIGH_WATERMARK)
    )
    plan = plan_of(leader_timeline(known, SLOTS, Profile()))

    assert re.findall(r"\bExchange |SortMergeJoin|ShuffledHashJoin", plan) == []
    assert len(re.findall(r"\bWindow \[", plan)) > 5


def test_nothing_leaves_the_jvm(landed: dict[str, DataFrame]) -> None:
    """No Python worker, no pandas, no RDD: only Spark's own nodes."""
    stages: list[DataFrame] = []

    def keep(stage: DataFrame, *, is_small: bool = False) -> DataFrame:  # noqa: ARG001 - as a job's
        stages.append(stage)
        return stage.localCheckpoint(eager=False)

    timelines = reconstruct(landed, assignments(landed), SLOTS, Profile(has_transactions=True), keep)
    for stage in (*stages, timelines.leader_timeline, timelines.replica_timeline, timelines.truncations):
        plan = plan_of(stage)
        assert re.findall(r"Python|Pandas|Arrow|ExternalRDD|MapPartitions", plan) == []
    assert "Window [" in plan_of(timelines.leader_timeline)


@pytest.mark.parametrize(("profile", "windows"), [(Profile(has_outsiders=False), 13), (PLAIN, 9)], ids=["any", "plain"])
def test_events_are_shuffled_once_and_sorted_four_times(
    ordered: Callable[[Profile], DataFrame], profile: Profile, windows: int
) -> None:
    """By stream, by replica, by the clock, and by the evidence: every other window goes along with one of these."""
    plan = plan_of(remembered(ordered(profile), SLOTS, profile))

    assert len(re.findall(r"Exchange hashpartitioning\(partition_number", plan)) == 1
    assert len(re.findall(r"Sort \[partition_number", plan)) == 4
    assert len(re.findall(r"Window \[.*\], \[partition_number", plan)) == windows


def test_what_is_never_null_is_known_to_be(ordered: Callable[[Profile], DataFrame]) -> None:
    """A column that may be NULL is looked at, row by row, in every window that it goes through."""
    known = {field.name for field in ordered(PLAIN).schema if not field.nullable}

    assert {N.EVENT, N.SLOT, *N.LEADERSHIP, *N.IN_ORDER} <= known


@dataclass(frozen=True)
class Kept:
    """A replay for which stages are kept in memory, as Java compiles it."""

    columns: list[set[str]]
    """Of each stage kept that is not small."""
    replica_timeline: str
    """Its plan."""
    longest: list[int]
    """Bytes of the longest method that Spark makes of each stage, and of the timelines."""


@pytest.fixture(scope="module")
def kept(spark: SparkSession, landed: dict[str, DataFrame]) -> Kept:
    """Of a log as most are."""
    stages: list[DataFrame] = []
    longest: list[int] = []

    def keep(stage: DataFrame, *, is_small: bool = False) -> DataFrame:
        if is_small:
            return stage.localCheckpoint()
        longest.append(longest_method(spark, stage))
        stages.append(stage.persist())
        assert stages[-1].count() > 0
        return stages[-1]

    assigned = assignments(landed).localCheckpoint()
    with compiled(spark):
        timelines = reconstruct(landed, assigned, SLOTS, PLAIN, keep)
        longest += [longest_method(spark, one) for one in (timelines.leader_timeline, timelines.replica_timeline)]
        plan = plan_of(timelines.replica_timeline)
    for stage in stages:
        stage.unpersist()
    return Kept([{*stage.columns} for stage in stages], plan, longest)


def test_replicas_states_are_kept_in_order(kept: Kept) -> None:
    """Until when each lasts is found without another shuffle or sort of them; what they are sorted by is kept apart."""
    above, below, *_ = kept.replica_timeline.split("InMemoryRelation", 1)

    in_order = ((*N.LEADERSHIP, *N.IN_ORDER), IN_ORDER_OF_REPLICA)
    assert kept.columns == [{*columns, "rest"} for columns in in_order]
    assert "Window [lead(" in above
    assert "Sort [" in below
    assert re.findall(r"Sort \[|Exchange ", above) == []


def test_java_compiles_what_spark_makes_of_a_row(kept: Kept) -> None:
    """Of more than 8,000 bytes it compiles no method, and Spark then copies a row at each step."""
    assert len(kept.longest) == 4
    assert all(0 < size <= MOST_BYTES for size in kept.longest), kept.longest


def test_a_partition_s_replicas_are_told_apart_before_they_are_collected(landed: dict[str, DataFrame]) -> None:
    """Else all events are sorted by their partition, to find a few replicas of each."""
    plan = plan_of(assignments(landed))

    assert len(re.findall(r"(?<!Object)HashAggregate\(keys=\[[^]]*replica_id", plan)) == 2
    assert len(re.findall(r"ObjectHashAggregate\(", plan)) == 2
