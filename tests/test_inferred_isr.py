"""Requests alone: no line tells of a leadership or its ISR. What the timelines then say must still be true."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.engine import by_topic, each_by_its_own, profile, replayed
from tests.pairs import outside, paired
from tests.twin.histories import combined, history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pairs import Pair

SEEDS = range(40)
MOST_REPLICAS = 6
REQUESTS = ("produce_events", "fetch_events")


@pytest.fixture(scope="module")
def compared(spark: SparkSession) -> list[Pair]:
    """Of random histories: the twin's row of a request, and the one rebuilt from requests alone."""
    drawn = [history(seed) for seed in SEEDS]
    spoken = replace(each_by_its_own({each.name: profile(each) for each in drawn}), has_untold_isr=True)
    requests = {name: rows for name, rows in combined(drawn).items() if name in REQUESTS}
    with replayed(spark, requests, MOST_REPLICAS, spoken) as timelines:
        return paired(drawn, by_topic(timelines.leader_timeline))


@pytest.mark.spark
def test_the_true_high_watermark_is_within_the_bounds(compared: list[Pair]) -> None:
    """Whatever the controller did meanwhile; where the bounds meet, it is the number."""
    wrong = outside(compared)

    assert not wrong, f"{len(wrong)} of {len(compared)}\n" + "\n".join(wrong[:12])


@pytest.mark.spark
def test_the_inferred_isr_says_so_and_is_useful(compared: list[Pair]) -> None:
    """No ISR was told, so each is marked; a quarter of the rows have an exact HW, a quarter the true ISR."""
    exact = sum(made["high_watermark_low"] == made["high_watermark_high"] for _, _, made in compared)
    same = sum(set(made["isr"]) == set(told["isr"]) for _, told, made in compared)

    assert len(compared) > 500
    assert all(made["is_isr_inferred"] for _, _, made in compared)
    assert exact > len(compared) / 4
    assert same > len(compared) / 4
