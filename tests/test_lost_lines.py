"""A request log with lines lost: gaps of a fetch session bound the HW, and nothing is wrong elsewhere."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine import by_topic, each_by_its_own, profile, replayed
from tests.pairs import outside, paired
from tests.twin.histories import combined, history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.twin.rows import Row

SEEDS = range(100, 120)
MOST_REPLICAS = 6
LOST = 0.05


def _within(fetches: list[Row]) -> list[bool]:
    """Of each fetch, whether accepted ones of the same session and leader epoch come before and after it."""
    epochs = defaultdict(list)
    for row in (row for row in fetches if row["error_code"] == 0 and row["diverging_epoch"] < 0):
        epochs[_session(row)].append(row["session_epoch"])
    known = {key: (min(told), max(told)) for key, told in epochs.items()}
    nothing = (0, 0)
    return [lo < row["session_epoch"] < hi for row in fetches for lo, hi in [known.get(_session(row), nothing)]]


def _session(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("topic", "broker_id", "replica_id", "leader_epoch", "session_id"))


@pytest.mark.spark
@pytest.mark.long
def test_lost_fetches_bound_the_high_watermark(spark: SparkSession) -> None:
    """One fetch of twenty is lost, but never the first or last of its session and epoch: nothing would tell of it.

    Most rows stay exact, some are bounded, and all hold the true HW but where the follower went back to where it was
    (a restart) right after a lost fetch: nothing tells of that one either.
    """
    drawn = [each for each in map(history, SEEDS) if each.profile.fetch_sessions]
    landing, dice = combined(drawn), random.Random(1)
    fetches = landing["fetch_events"]
    kept = [
        row for row, is_within in zip(fetches, _within(fetches), strict=True) if not is_within or dice.random() > LOST
    ]
    spoken = each_by_its_own({each.name: profile(each) for each in drawn})
    with replayed(spark, {**landing, "fetch_events": kept}, MOST_REPLICAS, spoken) as timelines:
        pairs = paired(drawn, by_topic(timelines.leader_timeline))
    wrong = outside(pairs)
    bounded = sum(made["exactness"] == "bounded" for _, _, made in pairs)

    assert len(kept) < len(fetches)
    assert len(wrong) <= len(pairs) / 500, f"{len(wrong)} of {len(pairs)}\n" + "\n".join(wrong[:12])
    assert 0 < bounded < len(pairs) / 5
