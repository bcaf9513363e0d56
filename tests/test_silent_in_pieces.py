"""A request log that begins later than the lines of leaderships: hot partitions are cut all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from jobs.keeping import keeping
from replay.assignment import assignments
from replay.events.silence import silent_moments
from replay.keep import Keep
from replay.stretches.hot import request_counts
from replay.stretches.silent_within import silent_within
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind
from tests.engine import Row
from tests.frames import rows
from tests.pieces import Landing, Whole, at_share, differences, in_stretches, whole
from tests.test_replay_histories import MOST_REPLICAS
from tests.test_replay_in_pieces import met
from tests.test_replay_silence import HERE, at
from tests.twin.histories import combined, history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
REQUESTS = (T.PRODUCE_EVENTS.name, T.FETCH_EVENTS.name)
Rotated = Callable[[Iterable[int], float], Whole]


@pytest.fixture(scope="module")
def keep() -> Iterator[Keep]:
    """What is kept while the module runs."""
    with keeping() as it:
        yield it


@pytest.fixture(scope="module")
def rotated(spark: SparkSession, keep: Keep) -> Rotated:
    """Drawn histories in one piece, whose request logs of a first share of their time are gone."""

    def replayed(seeds: Iterable[int], share: float) -> Whole:
        drawn = [*map(history, seeds)]
        return whole(spark, drawn, MOST_REPLICAS, keep, without_requests(combined(drawn), share))

    return replayed


def without_requests(landing: Landing, until: float, since: float = 0) -> Landing:
    """The rows without the requests between two shares of each cluster's time."""
    begins, ends = at_share(landing, since), at_share(landing, until)

    def is_lost(row: Row) -> bool:
        return begins[row["cluster_id"]] <= row["event_time"] < ends[row["cluster_id"]]

    return {
        table: [row for row in rows if table not in REQUESTS or not is_lost(row)] for table, rows in landing.items()
    }


def cut_in_three(of: Whole, share: float, least: int, capsys: pytest.CaptureFixture[str]) -> None:
    """All that may be cut is there to the row, and of a good part stretches meet."""
    silent = {row[0] for row in silent_moments(of.landed).select(C.CLUSTER_ID).distinct().collect()}
    counts = request_counts(of.landed, of.keep(assignments(of.landed)))
    uncut = {row[0] for row in silent_within(of.landed, counts).select(C.CLUSTER_ID).collect()}
    assert len(silent - uncut) > 0.6 * len(of.partitions)

    timelines = in_stretches(of, 3, since=share, but=uncut)
    assert met(of, capsys) - len(uncut) >= least
    assert differences(of, timelines, {key[0] for key in of.partitions} - uncut) == []
    assert not timelines.leader_timeline.where(F.col(C.EXACTNESS) == "bounded").isEmpty()


@pytest.mark.long
@pytest.mark.parametrize(("share", "least"), [(0.3, 40), (0.5, 40)])
def test_histories_are_replayed_in_stretches_after_silence(
    rotated: Rotated, share: float, least: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hundred and fifty, whose logs begin sooner or later: their first leaderships are between bounds."""
    cut_in_three(rotated(range(100, 250), share), share, least, capsys)


def test_between_requests_silence_is_within(spark: SparkSession) -> None:
    """Partition 0 is led in silence before its first request and after its last, 1 between them, 2 is never asked."""
    asked = [(0, 100), (0, 130), (1, 10), (1, 130), (3, 130)]
    changed = [(0, 40), (0, 200), (1, 40), (2, 40), (3, 120)]
    change = {"broker_id": 1, "leader_id": 1, "isr": [1, 2], "change_kind": ChangeKind.BECOME_LEADER.value}
    empty = (T.PRODUCE_EVENTS, T.BROKER_STATEMENTS, T.METADATA_CHANGES)
    landed = {table.name: rows(spark, table) for table in empty} | {
        T.FETCH_EVENTS.name: rows(
            spark, T.FETCH_EVENTS,
            *[{**HERE, "broker_id": 1, "replica_id": 2, "partition": p, "event_time": at(s)} for p, s in asked],
        ),
        T.LEADER_CHANGES.name: rows(
            spark, T.LEADER_CHANGES, *[{**HERE, **change, "partition": p, "event_time": at(s)} for p, s in changed]
        ),
    }  # fmt: skip
    of_partition = F.unix_seconds(C.EVENT_TIME)
    counts = landed[T.FETCH_EVENTS.name].groupBy(*C.PARTITION_KEY).agg(
        F.min(of_partition).alias("first"), F.max(of_partition).alias("last")
    )  # fmt: skip

    assert [row[0] for row in silent_within(landed, counts).select(C.PARTITION).collect()] == [1]
