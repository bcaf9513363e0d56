"""The charts of a cluster's part of the report: those of its liveliest partitions, each with its title and note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, Row

from jobs import report_lines as lines
from jobs.report_charts import Mark, Point, chart
from schemas import columns as C


@dataclass(frozen=True)
class Drawn:
    """A chart of the page."""

    id: str
    title: str
    note: str
    spec: dict[str, Any]


def drawn_charts(leaders: DataFrame, replicas: DataFrame, led: DataFrame, cut: DataFrame, number: int) -> list[Drawn]:
    """The charts of the liveliest partitions."""
    partitions = lines.liveliest_partitions(leaders)
    if not partitions:
        return []
    points = lines.by_partition(lines.lines(leaders, replicas, partitions))
    starts, cuts = lines.marks(led, C.STARTED_AT, partitions), lines.marks(cut, C.EVENT_TIME, partitions)
    return [
        _drawn(f"chart-{number}-{place}", partition, points.get(key, []), starts.get(key, []), cuts.get(key, []))
        for place, partition in enumerate(partitions)
        for key in [lines.key_of(partition)]
    ]


def _drawn(name: str, partition: Row, points: list[Row], starts: list[Row], cuts: list[Row]) -> Drawn:
    """A partition's chart."""
    spec = chart(
        [Point(p[lines.LINE_NAME], p[lines.MILLISECONDS], p[lines.POSITION], p[C.OFFSET]) for p in points],
        [Mark(s[lines.MILLISECONDS], f"epoch {s[C.LEADER_EPOCH]}: leader {s[C.LEADER_ID]}") for s in starts],
        [Mark(c[lines.MILLISECONDS], _cut(c), c[C.TO_OFFSET]) for c in cuts],
    )
    longest = max((p[lines.IN_ALL] for p in points), default=0)
    note = f"Thinned out: the longest line has {longest:,} steps." if longest > lines.MOST_POINTS else ""
    return Drawn(name, f"{partition[C.TOPIC]}-{partition[C.PARTITION]}", note, spec)


def _cut(row: Row) -> str:
    """A truncation in words."""
    return f"replica {row[C.REPLICA_ID]} cut [{row[C.TO_OFFSET]}, {row[C.FROM_OFFSET]}) by {row[C.METHOD]}"
