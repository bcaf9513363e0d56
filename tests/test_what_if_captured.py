"""The bundled failover under other rules, beside a fold of its timeline that has nothing of the engine's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.keeping import keeping
from jobs.replay_inputs import made_whole, profile_of, slots_of
from replay.assignment import assignments
from replay.timelines import reconstruct
from replay.what_if.high_watermark import differences, would_be
from schemas import columns as C
from tests.captured import Tables

pytestmark = [pytest.mark.spark, pytest.mark.captured, pytest.mark.long]

Row = Mapping[str, Any]
Key = tuple[str, int, int, int]
THREE, GATED = "min isr 3", "the gate that it has"


def with_clusters(rows: DataFrame) -> DataFrame:
    """The rows twice, each a cluster by what is asked of it."""
    return reduce(DataFrame.unionByName, [rows.withColumn(C.CLUSTER_ID, F.lit(name)) for name in (THREE, GATED)])


@dataclass
class Failover:
    """Its timeline as it was, by partition and in order; and by what was asked, the HW of the rows that differ."""

    was: Mapping[tuple[str, int], list[Row]]
    differing: Mapping[str, Mapping[Key, int]]


@pytest.fixture(scope="module")
def failover(landed_capture: Callable[[str], Tables]) -> Failover:
    """All of it in one plan; the gate came with 3.7, and this is 4.1.0."""
    with keeping() as keep:
        landed = made_whole(landed_capture("failover"), keep)
        assigned = keep(assignments(landed))
        slots, spoken = slots_of(assigned), profile_of(landed, assigned)
        was = keep(reconstruct(landed, assigned, slots, spoken, keep).leader_timeline)
        both = {name: with_clusters(rows) for name, rows in landed.items()}
        min_isr = F.when(F.col(C.CLUSTER_ID) == THREE, 3).otherwise(F.col(C.MIN_ISR))
        changed = spoken.with_changes(min_isr_gate=True)
        twice = keep(assignments(both))
        other = would_be(both, twice, slots, spoken, changed, min_isr, keep)
        found: dict[str, dict[Key, int]] = {THREE: {}, GATED: {}}
        for row in differences(with_clusters(was), other, "otherwise").collect():
            found[row["cluster_id"]][key_of(row)] = row["what_if_high_watermark"]
        return Failover(by_partition(was.collect()), found)


def key_of(row: Row) -> Key:
    """Which event it is."""
    return row["topic"], row["partition"], row["leader_epoch"], row["event_seq"]


def by_partition(rows: Sequence[Row]) -> Mapping[tuple[str, int], list[Row]]:
    """The rows of each partition in order, but for Kafka's own."""
    found = defaultdict(list)
    for row in sorted(rows, key=key_of):
        if not row["topic"].startswith("__"):
            found[row["topic"], row["partition"]].append(row)
    return found


def folded(rows: Sequence[Row], min_isr: int | None = None) -> Iterator[int]:
    """The leader's HW after each event of a partition, under its own min ISR or another.

    It is evaluated when a leader begins, appends, or has its ISR changed, and when the recorded LEO of a follower is
    another; not while the ISR is smaller than min ISR. It rises to the smallest LEO of the maximal ISR. A leader begins
    with what it knew as a follower: what its leader's HW would have been when that was what it began with.
    """
    hw, recorded, earlier = 0, {}, list[tuple[int, int]]()
    for row in rows:
        remote = dict(row["remote_log_end_offset"])
        if row["event_type"] == "BECOME_LEADER":
            known = [would for was, would in earlier if was <= row["high_watermark"]]
            hw, recorded = min([*known[-1:], row["high_watermark"], row["log_end_offset"]]), {}
        is_new = row["event_type"] == "FETCH" and recorded.get(row["replica_id"], -1) != remote[row["replica_id"]]
        least = min(row["min_isr"] if min_isr is None else min_isr, len(remote) + 1)
        if (is_new or row["event_type"] in ("BECOME_LEADER", "APPEND", "ISR_CHANGE")) and len(row["isr"]) >= least:
            held = [leo for replica, leo in remote.items() if replica in row["maximal_isr"]]
            hw = max(hw, min([row["log_end_offset"], *held]))
        recorded = remote
        earlier.append((row["high_watermark"], hw))
        yield hw


def outside(rows: Sequence[Row], hws: Iterator[int]) -> Iterator[tuple[Row, int]]:
    """Each row whose HW was another, with the one that it should have."""
    for row, hw in zip(rows, hws, strict=True):
        if not row["high_watermark_low"] <= hw <= row["high_watermark_high"]:
            yield row, hw


def test_what_is_so_makes_no_difference(failover: Failover) -> None:
    """A rule that the cluster had: also what no request that was logged explains was as it was."""
    assert failover.differing[GATED] == {}


def test_the_fold_is_one_of_the_protocol(failover: Failover) -> None:
    """Under the rules that were it comes to what was, but where a replica outside the ISR was waited for."""
    found = [row for rows in failover.was.values() for row, _ in outside(rows, folded(rows))]

    assert len(found) == 7
    assert all(len(row["isr"]) < 3 for row in found)


def test_the_hw_with_three_in_sync(failover: Failover) -> None:
    """Row by row: with three replicas and three asked for, nobody is outside the ISR where the HW may rise."""
    expected = {key_of(row): hw for rows in failover.was.values() for row, hw in outside(rows, folded(rows, min_isr=3))}

    assert len(expected) == 2_954
    assert failover.differing[THREE] == expected
