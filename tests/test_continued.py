"""A replay that goes on from an earlier one: what stands and what it adds are what a replay of everything gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from jobs.keeping import keeping
from replay.assignment import assignments
from replay.continued import additions, is_in_force, unlike
from replay.news import UNTIL_US, reach_us, settled_until
from replay.profile import Profile
from replay.settled import Settled, settled_leaderships, up_to
from replay.tail import tail_of
from replay.timelines import Keep, Timelines, reconstruct
from tests.engine import Row, each_by_its_own, landed_from, profile
from tests.test_replay_histories import MOST_REPLICAS
from tests.twin.histories import combined, history
from tests.twin.rows import DAWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

TIMES = {"leader_timeline": "event_time", "replica_timeline": "valid_from", "truncations": "event_time"}
Landing = Mapping[str, list[Row]]


def written_at(row: Row) -> datetime | None:
    """When the line of a row was written: a request is logged when it has been answered."""
    return row.get("response_time") or row.get("event_time")


def cut_in_two(landing: Landing, share: float) -> tuple[Landing, Landing]:
    """Each cluster's rows that were written in the first share of its time, and the others."""
    ends: dict[str, datetime] = {}
    for row in (row for rows in landing.values() for row in rows):
        ends[row["cluster_id"]] = max(ends.get(row["cluster_id"], DAWN), written_at(row) or DAWN)

    def is_early(row: Row) -> bool:
        return (written_at(row) or DAWN) <= DAWN + (ends[row["cluster_id"]] - DAWN) * share

    return (
        {table: [row for row in rows if is_early(row)] for table, rows in landing.items()},
        {table: [row for row in rows if not is_early(row)] for table, rows in landing.items()},
    )


@dataclass(frozen=True)
class GoneOn:
    """Timelines made in two goes, and in one."""

    in_two: Timelines
    in_one: Timelines
    clusters: set[str]
    """Those that a replay could go on with."""


def gone_on(spark: SparkSession, landing: Landing, share: float, spoken: Profile, keep: Keep) -> GoneOn:
    """Replay the first share of each cluster's time, then go on with the rest; every cluster from its own moment."""

    def replay(landed: Mapping[str, DataFrame], settled: Settled | None = None) -> Timelines:
        found = reconstruct(landed, keep(assignments(landed)), MOST_REPLICAS, spoken, keep, settled)
        return Timelines(**{name: keep(rows) for name, rows in vars(found).items()})

    whole = landed_from(spark, landing)
    first, second = (landed_from(spark, part) for part in cut_in_two(landing, share))
    stands = replay(first)
    moments = {row["cluster_id"]: row[UNTIL_US] for row in settled_until(second, stands, spoken).collect()}
    pairs = [F.lit(value) for pair in moments.items() for value in pair]
    until_us = F.element_at(F.create_map(*pairs), F.col("cluster_id"))
    since_us = until_us - reach_us(spoken)
    before = stands.leader_timeline.where(up_to(until_us, "event_time"))
    settled = Settled(until_us, since_us, keep(settled_leaderships(before)))
    tail = replay(tail_of(whole, since_us), settled)
    other = {row["cluster_id"] for row in unlike(tail, stands, settled).collect()}
    added = additions(tail, stands, settled)
    old = {name: rows.where(settled.has(TIMES[name])) for name, rows in vars(stands).items()}
    old["replica_timeline"] = old["replica_timeline"].where(~is_in_force(settled))
    both = {name: rows.unionByName(getattr(added, name)) for name, rows in old.items()}
    late = {cluster for cluster, us in moments.items() if us > DAWN.timestamp() * 1e6}
    return GoneOn(Timelines(**both), replay(whole), late - other)


def comparable(rows: DataFrame, clusters: Sequence[str]) -> DataFrame:
    """The rows of some clusters, maps as sorted arrays: maps are not compared."""
    of_map = [F.array_sort(F.map_entries(name)).alias(name) if kind.startswith("map") else F.col(name)
              for name, kind in rows.dtypes]  # fmt: skip
    return rows.where(F.col("cluster_id").isin(*clusters)).select(*of_map)


def differences(spark: SparkSession, seeds: range, share: float) -> tuple[int, list[str]]:
    """How many histories were gone on with, and the rows that are not in both."""
    drawn = [history(seed) for seed in seeds]
    spoken = each_by_its_own({each.name: profile(each) for each in drawn})
    with keeping() as keep:
        found = gone_on(spark, combined(drawn), share, spoken, keep)
        different = []
        for name in TIMES:
            two, one = (
                keep(comparable(getattr(t, name), sorted(found.clusters))) for t in (found.in_two, found.in_one)
            )
            different += [f"{name}, made up: {row}" for row in two.exceptAll(one).take(3)]
            different += [f"{name}, missing: {row}" for row in one.exceptAll(two).take(3)]
    return len(found.clusters), different


@pytest.mark.spark
def test_histories_are_gone_on_with(spark: SparkSession) -> None:
    """Of thirty with faults of all kinds a good part; and there to the row."""
    gone, different = differences(spark, range(30), 0.8)

    assert gone >= 10
    assert different == []


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_many_histories_are_gone_on_with(spark: SparkSession, share: float) -> None:
    """Two hundred, cut at other places."""
    gone, different = differences(spark, range(100, 300), share)

    assert gone >= 60
    assert different == []
