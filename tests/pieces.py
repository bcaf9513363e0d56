"""Timelines made in pieces beside the same in one: gone on with from a moment, or cut into stretches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jobs import whole_replay
from replay.assignment import assignments
from replay.events.heard import with_heard
from replay.going_on.continued import additions, is_in_force
from replay.going_on.news import UNTIL_US, first_news, reach_us, settled_until
from replay.going_on.tail import tail_of
from replay.going_on.unlike import unlike
from replay.keep import Keep
from replay.profile import Profile
from replay.states.settled import Settled, settled_leaderships, up_to
from replay.stretches.cut import stretches
from replay.stretches.gaps_across import gaps_across
from replay.timelines import Timelines, reconstruct
from tests.engine import Row, each_by_its_own, landed_from, profile, transactions_in
from tests.rebuilt import Logs
from tests.story import Story
from tests.twin.histories import History, combined
from tests.twin.rows import DAWN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TIMES = {"leader_timeline": "event_time", "replica_timeline": "valid_from", "truncations": "event_time"}
Landing = Mapping[str, Sequence[Row]]
Moments = Mapping[str, datetime]
"""Of each cluster one."""
KEY = "cluster_id string, topic string, topic_id string, partition int"


@dataclass(frozen=True)
class Whole:
    """Drawn histories, each a cluster of its own, replayed in one piece."""

    spark: SparkSession
    landing: Landing
    spoken: Profile
    slots: int
    keep: Keep
    timelines: Timelines
    early: Timelines | None = None
    """Those of what was written up to a moment of each, if some were asked for: replayed along with the whole."""

    @property
    def partitions(self) -> set[tuple[object, ...]]:
        """Their partitions, by key."""
        key = ("cluster_id", "topic", "topic_id", "partition")
        return {tuple(row[c] for c in key) for row in self.landing["leader_changes"]}

    @cached_property
    def landed(self) -> dict[str, DataFrame]:
        """Their rows as tables, kept: a scan of rows that Python gave goes through a Python worker each time."""
        return {table: self.keep(rows) for table, rows in landed_from(self.spark, self.landing).items()}

    def replay(self, landed: Mapping[str, DataFrame], settled: Settled | None = None) -> Timelines:
        """A replay of something else by the same rules."""
        return replay(landed, self.spoken, self.slots, self.keep, settled)


def replay(
    landed: Mapping[str, DataFrame], spoken: Profile, slots: int, keep: Keep, settled: Settled | None = None
) -> Timelines:
    """A replay, kept."""
    found = reconstruct(landed, keep(assignments(landed)), slots, spoken, keep, settled)
    return Timelines(**{name: keep(rows) for name, rows in vars(found).items()})


def whole(
    spark: SparkSession, drawn: Sequence[History | Story], slots: int, keep: Keep, silent: Landing | None = None
) -> Whole:
    """Histories and stories in one piece, transactions and all; of `silent` ones these rows are left."""
    landing = combined(drawn) if silent is None else silent
    spoken = _spoken(drawn, landing).with_changes(has_silence=silent is not None)
    return Whole(spark, landing, spoken, slots, keep, replay(landed_from(spark, landing), spoken, slots, keep))


def _rules(drawn: Sequence[History | Story]) -> dict[str, Profile]:
    """Of each its own."""
    return {each.name: profile(each) for each in drawn}


def _spoken(drawn: Sequence[History | Story], landing: Landing) -> Profile:
    """Of each cluster its own rules; and whether there are transactions."""
    return replace(each_by_its_own(_rules(drawn)), **transactions_in(landing))


EARLY = "early-"


def logs_whole_and_early(drawn: Sequence[History | Story], landing: Landing, slots: int, until: Moments) -> Logs:
    """What histories and stories tell, as `landing` has it; and what was written until a moment of each.

    The latter as clusters of their own, so that both are replayed at once.
    """
    rules = _rules(drawn)
    first, _ = cut_in_two(landing, until)
    early = {
        table: [{**row, "cluster_id": f"{EARLY}{row['cluster_id']}"} for row in rows] for table, rows in first.items()
    }
    both = {table: [*rows, *early[table]] for table, rows in landing.items()}
    return Logs(both, rules | {f"{EARLY}{name}": its for name, its in rules.items()}, slots)


def whole_and_early(
    spark: SparkSession, drawn: Sequence[History | Story], landing: Landing, slots: int, keep: Keep, both: Timelines
) -> Whole:
    """The same, replayed: `both` are the timelines of `logs_whole_and_early`."""
    is_early, own = F.col("cluster_id").startswith(EARLY), F.regexp_replace("cluster_id", EARLY, "")
    return Whole(
        spark, landing, _spoken(drawn, landing), slots, keep,
        Timelines(**{name: rows.where(~is_early) for name, rows in vars(both).items()}),
        Timelines(**{name: rows.where(is_early).withColumn("cluster_id", own) for name, rows in vars(both).items()}),
    )  # fmt: skip


def written_at(row: Row) -> datetime:
    """When the line of a row was written: a request is logged when it has been answered."""
    return row.get("response_time") or row.get("event_time") or DAWN


def ends_of(landing: Landing) -> dict[str, datetime]:
    """When the last line of each cluster was written."""
    ends: dict[str, datetime] = {}
    for row in (row for rows in landing.values() for row in rows):
        ends[row["cluster_id"]] = max(ends.get(row["cluster_id"], DAWN), written_at(row))
    return ends


def at_share(landing: Landing, share: float) -> dict[str, datetime]:
    """When a share of each cluster's time is over."""
    return {cluster: DAWN + (end - DAWN) * share for cluster, end in ends_of(landing).items()}


def cut_in_two(landing: Landing, cuts: Moments) -> tuple[Landing, Landing]:
    """Each cluster's rows that were written up to its cut, and the others."""

    def is_early(row: Row) -> bool:
        return written_at(row) <= cuts[row["cluster_id"]]

    return (
        {table: [row for row in rows if is_early(row)] for table, rows in landing.items()},
        {table: [row for row in rows if not is_early(row)] for table, rows in landing.items()},
    )


def gone_on(of: Whole, cuts: Moments) -> tuple[Timelines, set[str]]:
    """Replay each cluster's time up to a cut and go on with the rest; of which clusters that could be done."""
    early, late = cut_in_two(of.landing, cuts)
    stands = of.early or of.replay(landed_from(of.spark, early))
    second = {table: of.keep(rows) for table, rows in landed_from(of.spark, late).items()}
    landed = of.landed
    found = settled_until(landed, second, stands, of.spoken, first_news(second).scalar())
    moments = {row["cluster_id"]: row[UNTIL_US] for row in found.collect()}
    pairs = [F.lit(value) for pair in moments.items() for value in pair]
    until_us = F.element_at(F.create_map(*pairs), F.col("cluster_id"))
    since_us = until_us - reach_us(of.spoken)
    before = stands.leader_timeline.where(up_to(until_us, "event_time"))
    settled = Settled(until_us, since_us, of.keep(settled_leaderships(before, since_us)), landed)
    requests = tail_of(landed, since_us, has_transactions=of.spoken.has_transactions)
    tail = of.replay(requests, settled)
    lost = gaps_across(requests["fetch_events"], until_us).select("cluster_id")
    other = {row["cluster_id"] for row in unlike(tail, stands, settled).select("cluster_id").union(lost).collect()}
    added = additions(tail, stands, settled)
    old = {name: rows.where(settled.has(TIMES[name])) for name, rows in vars(stands).items()}
    old["replica_timeline"] = old["replica_timeline"].where(~is_in_force(settled))
    moved = {cluster for cluster, us in moments.items() if us > DAWN.timestamp() * 1e6}
    return Timelines(**{name: rows.unionByName(getattr(added, name)) for name, rows in old.items()}), moved - other


def in_stretches(of: Whole, count: int, since: float = 0, but: Container[str] = ()) -> Timelines:
    """Replay each partition in as many stretches, of the time after a share of all; those of some clusters in one."""
    ends, dawn = ends_of(of.landing), int(DAWN.timestamp())

    def cuts(cluster: str) -> list[int]:
        lasts = (ends[cluster] - DAWN).total_seconds()
        return sorted({dawn + int(lasts * (since + (1 - since) * k / count)) for k in range(1, count)})

    which = [key for key in of.partitions if key[0] not in but]
    hot = of.spark.createDataFrame([(*key, cuts(key[0])) for key in which], f"{KEY}, cuts array<bigint>")
    cut = of.keep(stretches(hot, reach_us(of.spoken)))
    return whole_replay.in_stretches(with_heard(of.landed, of.keep), cut, of.slots, of.spoken, of.keep)


def differences(of: Whole, pieces: Timelines, clusters: Iterable[str]) -> list[str]:
    """The rows of some clusters that are not in both."""
    different = []
    for name in TIMES:
        both = (getattr(timelines, name) for timelines in (pieces, of.timelines))
        two, one = (Counter(map(str, comparable(rows, sorted(clusters)).collect())) for rows in both)
        different += [f"{name}, made up: {row}" for row in islice((two - one).elements(), 3)]
        different += [f"{name}, missing: {row}" for row in islice((one - two).elements(), 3)]
    return different


def comparable(rows: DataFrame, clusters: Iterable[str]) -> DataFrame:
    """The rows of some clusters, maps as sorted arrays: maps are not compared."""
    is_map = {name for name, kind in rows.dtypes if kind.startswith("map")}
    values = [F.array_sort(F.map_entries(c)).alias(c) if c in is_map else F.col(c) for c in rows.columns]
    return rows.where(F.col("cluster_id").isin(*clusters)).select(*values)
