"""The engine against the dumb twin: random histories with faults, many in one job, no mismatch."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine import by_topic, disagreement, profile, replayed
from tests.twin.histories import History, combined, history
from tests.twin.rows import Row

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


def renamed(rows: list[Row], names: dict[int, int]) -> list[Row]:
    """Rows with the replicas' ids changed, wherever they stand."""
    single, many = {"broker_id", "replica_id", "leader_id"}, {"isr", "replicas", "adding_replicas", "removing_replicas"}

    def value(key: str, old: Any) -> Any:
        if key in many and old is not None:
            return [names.get(one, one) for one in old]
        return names.get(old, old) if key in single else old

    return [{key: value(key, old) for key, old in row.items()} for row in rows]


@pytest.mark.spark
@pytest.mark.long
def test_names_of_replicas_do_not_matter(spark: SparkSession) -> None:
    """With ids turned around, the timelines are the twin's with ids turned around."""
    names = {id_: 10 - id_ for id_ in range(1, 10)}
    newest = profile("4.1.0", "4.1", 10_000)
    drawn = [history(seed) for seed in FEW]
    alike = [d for d in drawn if profile(d.profile.kafka_version, d.profile.protocol_version, d.lag_ms) == newest]
    landing = {table: renamed(rows, names) for table, rows in combined(alike).items()}
    with replayed(spark, landing, 6, newest) as timelines:
        rebuilt = by_topic(timelines.leader_timeline)
    found = []
    for one in alike:
        expected = renamed(one.expected_leader, names)
        for row in expected:
            row["remote_log_end_offset"] = {names[id_]: leo for id_, leo in row["remote_log_end_offset"].items()}
            row["isr"], row["maximal_isr"] = ({names[id_] for id_ in row[key]} for key in ("isr", "maximal_isr"))
        found += [str(different)] if (different := disagreement(one.name, expected, rebuilt[one.name])) else []

    assert len(alike) > 5
    assert found == []


@pytest.mark.spark
@pytest.mark.long
def test_the_metadata_log_stands_in_for_the_brokers(spark: SparkSession) -> None:
    """Without any broker's word on leaders and ISRs, each leadership is there, and each remote LEO it was told."""
    newest = profile("4.1.0", "4.1", 10_000)
    drawn = [d for d in map(history, FEW) if d.profile.kafka_version.startswith("4")]
    landing = {**combined(drawn), "leader_changes": []}
    with replayed(spark, landing, 6, newest) as timelines:
        rebuilt = by_topic(timelines.leader_timeline)
    for one in drawn:
        told = {row["leader_epoch"] for row in one.expected_leader if row["event_type"] == "FETCH" and row["is_logged"]}
        made = {row["leader_epoch"] for row in rebuilt[one.name] if row["event_type"] == "FETCH"}
        assert told == made
