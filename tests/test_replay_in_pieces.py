"""A replay in pieces gives what one in one piece does: gone on with from an earlier one, or in stretches at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from jobs.keeping import keeping
from tests.engine import landed_from, profile
from tests.pieces import Whole, at_share, differences, ends_of, gone_on, in_stretches, replay, whole
from tests.story import tell
from tests.test_replay_histories import MOST_REPLICAS
from tests.twin.histories import combined, history
from tests.two_deliveries import GONE_ON, all_of_them

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def some(spark: SparkSession) -> Iterator[Whole]:
    """Twenty histories with faults of all kinds, under all protocols; and stories of two deliveries."""
    with keeping() as keep:
        stories = [each.story for each in all_of_them()]
        yield whole(spark, [*map(history, range(20)), *stories], MOST_REPLICAS, keep)


@pytest.fixture(scope="module")
def many(spark: SparkSession) -> Iterator[Whole]:
    """Two hundred."""
    with keeping() as keep:
        yield whole(spark, [*map(history, range(100, 300))], MOST_REPLICAS, keep)


def test_histories_are_gone_on_with(some: Whole) -> None:
    """A good part of them; and there to the row. Of the stories those that can be, and no other."""
    stories = all_of_them()
    assert [each.story.disputes for each in stories if each.story.disputes] == []
    cuts = at_share(some.landing, 0.8) | {each.story.name: each.until for each in stories}
    timelines, gone = gone_on(some, cuts)

    assert len(gone - {each.story.name for each in stories}) >= 7
    assert gone & {each.story.name for each in stories} == GONE_ON
    assert differences(some, timelines, gone) == []


def test_histories_are_replayed_in_stretches(some: Whole, capsys: pytest.CaptureFixture[str]) -> None:
    """A good part of them meets, the others are replayed apart; and all are there to the row."""
    timelines = in_stretches(some, 3)

    assert met(some, capsys) >= 8
    assert differences(some, timelines, ends_of(some.landing)) == []


QUIET = """# Nothing is appended for a long time.
1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
append 3                               | 1:3  2:?  hw 0
2 fetches at 3, at once                | 1:3  2:3  hw 3
time +40000 ms                         | hw 3
2 fetches at 3, at once                | 1:3  2:3  hw 3
time +9000 ms                          | hw 3
append 1                               | 1:4  2:3  hw 3
append 1                               | 1:5  2:3  hw 3
2 fetches at 3, at once                | 1:5  2:3  hw 3
2 fetches at 5, at once                | 1:5  2:5  hw 5
"""


def test_a_lost_append_reaches_back_to_the_one_before(spark: SparkSession) -> None:
    """However long ago that was, the log may have been longer since then: what stands may not stay, and does not."""
    stories = [tell(name, QUIET) for name in ("logged", "lost")]
    assert [story.disputes for story in stories] == [[], []]
    landing = dict(combined(stories))
    landing["produce_events"] = [
        row for row in landing["produce_events"] if (row["cluster_id"], row["base_offset"]) != ("lost", 3)
    ]
    spoken = profile(stories[0])
    with keeping() as keep:
        timelines = replay(landed_from(spark, landing), spoken, 2, keep)
        of = Whole(spark, landing, spoken, 2, keep, timelines)
        _, gone = gone_on(of, at_share(landing, 0.95))
        bounded = timelines.leader_timeline.where("log_end_offset < log_end_offset_high").select("cluster_id").collect()

    assert gone == {"logged"}
    assert [row["cluster_id"] for row in bounded] == ["lost"] * 3


def met(of: Whole, capsys: pytest.CaptureFixture[str]) -> int:
    """Of how many partitions all stretches met."""
    apart = re.findall(r"does not meet.* (\d+) partitions", capsys.readouterr().err)
    return len(of.partitions) - sum(map(int, apart))


@pytest.mark.long
@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_many_histories_are_gone_on_with(many: Whole, share: float) -> None:
    """Cut at several places."""
    timelines, gone = gone_on(many, at_share(many.landing, share))

    assert len(gone) >= 60
    assert differences(many, timelines, gone) == []


@pytest.mark.long
@pytest.mark.parametrize(("count", "least"), [(2, 110), (5, 60)])
def test_many_histories_are_replayed_in_stretches(
    many: Whole, count: int, least: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Into a few, and into many, where fewer meet."""
    timelines = in_stretches(many, count)

    assert met(many, capsys) >= least
    assert differences(many, timelines, ends_of(many.landing)) == []
