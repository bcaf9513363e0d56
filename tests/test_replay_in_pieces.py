"""A replay in pieces gives what one in one piece does: gone on with from an earlier one, or in stretches at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from jobs.keeping import keeping
from tests.pieces import Whole, differences, ends_of, gone_on, in_stretches, whole
from tests.test_replay_histories import MOST_REPLICAS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def some(spark: SparkSession) -> Iterator[Whole]:
    """Twenty histories with faults of all kinds, under all protocols."""
    with keeping() as keep:
        yield whole(spark, range(20), MOST_REPLICAS, keep)


@pytest.fixture(scope="module")
def many(spark: SparkSession) -> Iterator[Whole]:
    """Two hundred."""
    with keeping() as keep:
        yield whole(spark, range(100, 300), MOST_REPLICAS, keep)


def test_histories_are_gone_on_with(some: Whole) -> None:
    """A good part of them; and there to the row."""
    timelines, gone = gone_on(some, 0.8)

    assert len(gone) >= 7
    assert differences(some, timelines, gone) == []


def test_histories_are_replayed_in_stretches(some: Whole, capsys: pytest.CaptureFixture[str]) -> None:
    """A good part of them meets, the others are replayed apart; and all are there to the row."""
    timelines = in_stretches(some, 3)

    assert met(some, capsys) >= 8
    assert differences(some, timelines, ends_of(some.landing)) == []


def met(of: Whole, capsys: pytest.CaptureFixture[str]) -> int:
    """Of how many partitions all stretches met."""
    apart = re.findall(r"does not meet.* (\d+) partitions", capsys.readouterr().err)
    return len(of.partitions) - sum(map(int, apart))


@pytest.mark.long
@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_many_histories_are_gone_on_with(many: Whole, share: float) -> None:
    """Cut at several places."""
    timelines, gone = gone_on(many, share)

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
