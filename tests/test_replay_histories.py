"""The engine against the dumb twin: random histories with faults, many in one job, no mismatch."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.engine import by_topic, disagreement, profile, replayed
from tests.twin.histories import History, combined, history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW, MANY = range(60), range(520)
FEW_PROTOCOLS = 2
"""Protocols of the few: each costs half a minute of planning, whatever the number of its histories."""


def disagreements(spark: SparkSession, seeds: range, protocols: int | None = None) -> list[str]:
    """What differs, a history a text; histories of one protocol are one Spark job."""
    groups: dict[object, list[History]] = defaultdict(list)
    for seed in seeds:
        drawn = history(seed)
        groups[profile(drawn.profile.kafka_version, drawn.profile.protocol_version, drawn.lag_ms)].append(drawn)
    most_drawn = sorted(groups.items(), key=lambda group: -len(group[1]))[:protocols]
    found = []
    for spoken, drawn_alike in most_drawn:
        slots = max(len({row["replica_id"] for row in drawn.expected_replica}) for drawn in drawn_alike)
        with replayed(spark, combined(drawn_alike), slots, spoken) as timelines:  # type: ignore[arg-type]
            rebuilt = by_topic(timelines.leader_timeline)
        for drawn in drawn_alike:
            different = disagreement(drawn.name, drawn.expected_leader, rebuilt[drawn.name])
            found += [f"{different}\n{drawn.text()}"] if different else []
    return found


@pytest.mark.spark
def test_histories_agree_with_the_twin(spark: SparkSession) -> None:
    """The histories of the two protocols most drawn, of up to 200 steps each: every leader row equals the twin's."""
    found = disagreements(spark, FEW, FEW_PROTOCOLS)

    assert not found, "\n\n".join(found[:3])


@pytest.mark.spark
@pytest.mark.long
def test_many_histories_agree_with_the_twin(spark: SparkSession) -> None:
    """Five hundred and twenty, of all protocols."""
    found = disagreements(spark, MANY)

    assert not found, "\n\n".join(found[:3])
