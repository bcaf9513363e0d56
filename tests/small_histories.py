"""Many small histories, a topic each, as the tables that finders take; and what is found of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.keeping import keeping
from replay.findings.contacts import contacts
from replay.findings.cutters import with_last_contact
from replay.findings.losses import losses
from replay.findings.spans import spans
from replay.keep import Keep
from schemas import tables as T
from tests.checked_rows import Given, became_leader
from tests.frames import rows
from tests.incident_histories import of

Histories = Mapping[str, Mapping[T.Table, Any]]
Findings = dict[str, set[tuple[Any, ...]]]


@dataclass(frozen=True)
class Told:
    """What is told of all histories, and what finders share, as `replay.findings.incidents` makes it."""

    landed: Mapping[str, DataFrame]
    led: DataFrame
    took_part: DataFrame
    truncations: DataFrame
    cut: DataFrame
    lost: DataFrame


def told_of(spark: SparkSession, histories: Histories, keep: Keep) -> Told:
    """What finders take, of all histories at once; a truncation is of the partition of epoch 0's leader."""
    given: dict[T.Table, list[Given]] = defaultdict(list)
    for topic, history in histories.items():
        for table, its in of(topic, history).items():
            given[table] += [{**became_leader(0, 1), **one} if table is T.TRUNCATIONS else one for one in its]
    tables = {table.name: rows(spark, table, *given[table]) for table in (*T.LANDING_TABLES, *T.TIMELINE_TABLES)}
    leaders, truncations = tables[T.LEADER_TIMELINE.name], tables[T.TRUNCATIONS.name]
    led = keep(spans(leaders), is_small=True)
    took_part = keep(contacts(tables[T.REPLICA_TIMELINE.name], leaders, leaders), is_small=True)
    cut = keep(with_last_contact(truncations, took_part), is_small=True)
    lost = keep(losses(tables, led, took_part, cut), is_small=True)
    return Told(tables, led, took_part, truncations, cut, lost)


def told_once(histories: Histories) -> Callable[[SparkSession], Iterator[Told]]:
    """The fixture `told` of a module: `told_of` its histories, for as long as its tests last."""

    @pytest.fixture(scope="module", name="told")
    def told(spark: SparkSession) -> Iterator[Told]:
        with keeping() as keep:
            yield told_of(spark, histories, keep)

    return told


SHOWN = ("severity", "leader_epoch", "replica_id", "from_offset", "to_offset")


def by_topic(found: DataFrame, *columns: str) -> Findings:
    """The findings of each topic, by `SHOWN` or other columns of theirs."""
    of_topic: Findings = defaultdict(set)
    for row in found.collect():
        of_topic[row["topic"]].add(tuple(row[name] for name in columns or SHOWN))
    return of_topic
