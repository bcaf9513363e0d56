"""The engine against the dumb twin: random histories with faults, many in one job, no mismatch."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.engine import by_topic, disagreement, profile, replayed
from tests.twin.histories import History, combined, history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW = range(60)


def disagreements(spark: SparkSession, seeds: range) -> list[str]:
    """What differs, a history a text; histories of one profile are one Spark job."""
    groups: dict[object, list[History]] = defaultdict(list)
    for seed in seeds:
        drawn = history(seed)
        groups[profile(drawn.profile.kafka_version, drawn.profile.protocol_version, drawn.lag_ms)].append(drawn)
    found = []
    for spoken, drawn_alike in groups.items():
        slots = max(len({row["replica_id"] for row in drawn.expected_replica}) for drawn in drawn_alike)
        with replayed(spark, combined(drawn_alike), slots, spoken) as timelines:  # type: ignore[arg-type]
            rebuilt = by_topic(timelines.leader_timeline)
        for drawn in drawn_alike:
            different = disagreement(drawn.name, drawn.expected_leader, rebuilt[drawn.name])
            found += [f"{different}\n{drawn.text()}"] if different else []
    return found


@pytest.mark.spark
def test_histories_agree_with_the_twin(spark: SparkSession) -> None:
    """Sixty histories of up to 200 steps, all versions: every leader row equals the twin's."""
    found = disagreements(spark, FEW)

    assert not found, "\n\n".join(found[:3])
