"""A replay in pieces gives what one in one piece does: gone on with from an earlier one, or in stretches at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from jobs.keeping import keeping
from replay.timelines import Timelines
from tests.pieces import (
    Whole,
    at_share,
    differences,
    ends_of,
    gone_on,
    in_stretches,
    logs_whole_and_early,
    whole,
    whole_and_early,
)
from tests.rebuilt import Answers, Logs, asked
from tests.story import Story, tell
from tests.test_replay_histories import MOST_REPLICAS
from tests.twin.histories import History, combined, history
from tests.two_deliveries import GONE_ON, all_of_them
from tests.without_producers import Row, without_producers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


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
DEPOSED = """# 2 leads epoch 1 right after a cut, and 1, who has not heard of it, takes records that last no time.
1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
append 3                               | 1:3  2:?  hw 0
2 fetches at 3, at once                | 1:3  2:3  hw 3
time +20000 ms                         | hw 3
2 is elected epoch 1, 1 not told       | 2:3  1:?  hw 0
append 2, at 1                         | 2:3  1:?  hw 0  replica 1: leo 5 hw 3
append 1                               | 2:4  1:?  hw 0
tell 1                                 | 2:4  1:?  hw 0  replica 1: leo 5 hw 3
1 fetches at 5                         | 2:4  1:?  hw 0  diverges 0 at 3  lost 1: 3 to 5
1 fetches at 3                         | 2:4  1:3  hw 3  replica 1: leo 4 hw 0
time +40000 ms                         | hw 3
1 fetches at 4                         | 2:4  1:4  hw 4
"""
LOGGED, LOST = "logged", "lost"


def quiet() -> list[Story]:
    """Two alike, but that the line of an append of one is lost."""
    logged, lost = (tell(name, QUIET) for name in (LOGGED, LOST))
    lost.landing["produce_events"] = [row for row in lost.landing["produce_events"] if row["base_offset"] != 3]
    return [logged, lost]


def drawn() -> list[History | Story]:
    """Twenty histories with faults of all kinds, under all protocols; and stories, most of them of two deliveries."""
    return [*map(history, range(20)), *[each.story for each in all_of_them()], *quiet(), tell("deposed", DEPOSED)]


def told() -> dict[str, list[Row]]:
    """What their logs tell; of every other history no log names a producer."""
    return without_producers(combined(drawn()), {history(number).name for number in range(1, 20, 2)})


def cuts() -> dict[str, datetime]:
    """Where a story says, else when four fifths of its time are over; of the quiet ones in their second quiet time."""
    landing = combined(drawn())
    late = {name: at for name, at in at_share(landing, 0.95).items() if name in (LOGGED, LOST)}
    return at_share(landing, 0.8) | {each.story.name: each.until for each in all_of_them()} | late


@asked
def whole_and_until_then() -> Logs:
    """All of them, and what was written until the cut of each."""
    return logs_whole_and_early(drawn(), told(), MOST_REPLICAS, cuts())


@pytest.fixture(scope="module")
def some(spark: SparkSession, rebuilt: Answers) -> Iterator[Whole]:
    """The same, replayed."""
    with keeping() as keep:
        yield whole_and_early(spark, drawn(), told(), MOST_REPLICAS, keep, rebuilt.frames(whole_and_until_then))


@pytest.fixture(scope="module")
def continued(some: Whole) -> tuple[Timelines, set[str]]:
    """They are gone on with; and of which that can be."""
    return gone_on(some, cuts())


@pytest.fixture(scope="module")
def many(spark: SparkSession) -> Iterator[Whole]:
    """Two hundred."""
    with keeping() as keep:
        yield whole(spark, [*map(history, range(100, 300))], MOST_REPLICAS, keep)


def test_histories_are_gone_on_with(some: Whole, continued: tuple[Timelines, set[str]]) -> None:
    """A good part of them; and there to the row. Of the stories those that can be, and no other."""
    stories, (timelines, gone) = all_of_them(), continued
    assert [each.story.disputes for each in stories if each.story.disputes] == []

    assert len(gone - {each.story.name for each in stories} - {LOGGED, LOST}) >= 12
    assert gone & {each.story.name for each in stories} == GONE_ON
    assert differences(some, timelines, gone) == []


@pytest.mark.long
def test_histories_are_replayed_in_stretches(some: Whole, capsys: pytest.CaptureFixture[str]) -> None:
    """A good part of them meets, the others are replayed apart; and all are there to the row."""
    timelines = in_stretches(some, 3)

    assert 8 <= met(some, capsys) < len(some.partitions)
    assert differences(some, timelines, ends_of(some.landing)) == []


def test_a_lost_append_reaches_back_to_the_one_before(some: Whole, continued: tuple[Timelines, set[str]]) -> None:
    """However long ago that was, the log may have been longer since then: what stands may not stay, and does not."""
    assert [story.disputes for story in quiet()] == [[], []]
    _, gone = continued
    is_open = "cluster_id IN ('logged', 'lost') AND log_end_offset < log_end_offset_high"
    bounded = some.timelines.leader_timeline.where(is_open).select("cluster_id").collect()

    assert gone & {LOGGED, LOST} == {LOGGED}
    assert [row["cluster_id"] for row in bounded] == [LOST] * 3


def met(of: Whole, capsys: pytest.CaptureFixture[str]) -> int:
    """Of how many partitions all stretches met."""
    apart = re.findall(r"does not meet.* (\d+) partitions", capsys.readouterr().err)
    return len(of.partitions) - sum(map(int, apart))


@pytest.mark.long
@pytest.mark.parametrize(("share", "least"), [(0.5, 105), (0.7, 110), (0.9, 140)])
def test_many_histories_are_gone_on_with(many: Whole, share: float, least: int) -> None:
    """Cut at several places; the later, the more lies before all that news bear on."""
    timelines, gone = gone_on(many, at_share(many.landing, share))

    assert len(gone) >= least
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
