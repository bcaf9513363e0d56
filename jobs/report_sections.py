"""A cluster's part of the report: figures, tables and charts, as the page's template takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, Row

from jobs import report_queries as queries
from jobs.report_charts import Mark, Point, chart
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field

TOPIC_PARTITION = (C.TOPIC, C.PARTITION)
VERDICTS = (C.RULE, C.STATUS, C.SEVERITY, C.ROWS, C.VIOLATIONS, C.REASON)
INCIDENTS = (
    C.KIND, C.SEVERITY, *TOPIC_PARTITION, C.LEADER_EPOCH, C.REPLICA_ID, C.STARTED_AT, C.ENDED_AT, C.FROM_OFFSET,
    C.TO_OFFSET, C.EVIDENCE,
)  # fmt: skip
TRUNCATIONS = (
    *TOPIC_PARTITION, C.REPLICA_ID, C.LEADER_EPOCH, C.EVENT_TIME, C.FROM_OFFSET, C.TO_OFFSET, C.HIGH_WATERMARK_BEFORE,
    C.PARTITION_HIGH_WATERMARK_BEFORE, C.METHOD, C.IS_STATED,
)  # fmt: skip
LEADERSHIPS = (
    *TOPIC_PARTITION, C.LEADER_EPOCH, C.LEADER_ID, C.STARTED_AT, queries.START_LEO, queries.START_HW, queries.END_LEO,
    queries.END_HW, C.EXACTNESS,
)  # fmt: skip
SIZED = (T.PRODUCE_EVENTS, T.FETCH_EVENTS, *T.TIMELINE_TABLES)
"""Tables whose size says something to a reader."""


@dataclass(frozen=True)
class Shown:
    """A table of the page: texts, how many rows there are in all, and what to say if there is none."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    in_all: int
    if_none: str
    note: str = ""


@dataclass(frozen=True)
class Drawn:
    """A chart of the page."""

    id: str
    title: str
    note: str
    spec: dict[str, Any]


@dataclass(frozen=True)
class Section:
    """A cluster's part of the page."""

    name: str
    span: str
    figures: list[tuple[str, str]]
    tables: list[Shown]
    charts: list[Drawn]


def section(warehouse: Warehouse, cluster_id: str, number: int) -> Section:
    """The part of a cluster; a table that is not there yet is shown as having nothing to say."""

    def rows_of(table: T.Table) -> DataFrame:
        if warehouse.has(table):
            return warehouse.read(table, cluster_id=cluster_id)
        return warehouse.spark.createDataFrame([], table.schema)

    led, cut = queries.leaderships(rows_of(T.LEADER_TIMELINE)), rows_of(T.TRUNCATIONS)
    return Section(
        name=cluster_id,
        span=_span(queries.span(rows_of(T.LEADER_TIMELINE))),
        figures=[
            *_figures(queries.files(rows_of(T.SOURCE_FILES))),
            *_sizes(queries.row_counts(warehouse, cluster_id, SIZED)),
        ],
        tables=[
            _verdicts(queries.latest_verdicts(rows_of(T.CHECK_RESULTS))),
            _shown(
                "Incidents", INCIDENTS, rows_of(T.INCIDENTS).orderBy(C.SEVERITY, C.STARTED_AT), "No incident was found."
            ),
            _shown("Truncations", TRUNCATIONS, cut.orderBy(*TOPIC_PARTITION, C.EVENT_TIME), "No replica cut its log."),
            _shown("Leaderships", LEADERSHIPS, led.orderBy(*queries.LEADERSHIP_KEY), "No leadership was rebuilt."),
        ],
        charts=_charts(rows_of(T.LEADER_TIMELINE), rows_of(T.REPLICA_TIMELINE), led, cut, number),
    )


def _verdicts(rows: list[Row]) -> Shown:
    """The verdicts of the latest check."""
    when = f"Run {rows[0][C.RUN_ID]} of {_text(rows[0][C.RUN_AT])}." if rows else ""
    return Shown("Verdicts", VERDICTS, _texts(rows, VERDICTS), len(rows), "The rules were not checked yet.", when)


def _shown(title: str, columns: tuple[Field, ...], frame: DataFrame, if_none: str) -> Shown:
    """The first rows of a frame as a table of the page."""
    rows = frame.limit(queries.MOST_ROWS).collect()
    in_all = len(rows) if len(rows) < queries.MOST_ROWS else frame.count()
    return Shown(title, columns, _texts(rows, columns), in_all, if_none)


def _figures(files: Row | None) -> list[tuple[str, str]]:
    """What was read, as the page's figures."""
    if files is None or files[C.LINES_READ] is None:
        return []
    labels = {
        queries.FILES: "files", C.LINES_READ: "lines read", C.LINES_LANDED: "landed", C.LINES_IGNORED: "ignored",
        C.LINES_REJECTED: "rejected",
    }  # fmt: skip
    return [(label, f"{files[column]:,}") for column, label in labels.items()]


def _sizes(counts: dict[str, int]) -> list[tuple[str, str]]:
    """The sizes of the tables that have rows."""
    return [(name, f"{count:,}") for name, count in counts.items() if count]


def _charts(leaders: DataFrame, replicas: DataFrame, led: DataFrame, cut: DataFrame, number: int) -> list[Drawn]:
    """The charts of the liveliest partitions."""
    partitions = queries.liveliest_partitions(leaders)
    if not partitions:
        return []
    points = _by_partition(queries.lines(leaders, replicas, partitions))
    starts = _by_partition(queries.of_partitions(led, partitions).limit(queries.MOST_ROWS).collect())
    cuts = _by_partition(queries.of_partitions(cut, partitions).limit(queries.MOST_ROWS).collect())
    drawn = []
    for place, partition in enumerate(partitions):
        key = _key(partition)
        spec = chart(
            [
                Point(p[queries.LINE_NAME], p[C.EVENT_TIME], p[queries.POSITION], p[C.OFFSET])
                for p in points.get(key, [])
            ],
            [Mark(s[C.STARTED_AT], f"epoch {s[C.LEADER_EPOCH]}: leader {s[C.LEADER_ID]}") for s in starts.get(key, [])],
            [Mark(c[C.EVENT_TIME], _cut(c), c[C.TO_OFFSET]) for c in cuts.get(key, [])],
        )
        longest = max((p[queries.IN_ALL] for p in points.get(key, [])), default=0)
        note = f"Thinned out: the longest line has {longest:,} steps." if longest > queries.MOST_POINTS else ""
        drawn.append(Drawn(f"chart-{number}-{place}", f"{partition[C.TOPIC]}-{partition[C.PARTITION]}", note, spec))
    return drawn


def _by_partition(rows: Sequence[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """The rows of each partition, in their order."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(_key(row), []).append(row)
    return found


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[column] for column in queries.TP)


def _cut(row: Row) -> str:
    """A truncation in words."""
    return f"replica {row[C.REPLICA_ID]} cut [{row[C.TO_OFFSET]}, {row[C.FROM_OFFSET]}) by {row[C.METHOD]}"


def _span(row: Row | None) -> str:
    """From when to when the timelines reach, in words."""
    if row is None or row[C.STARTED_AT] is None:
        return "No timeline was rebuilt."
    return f"{row[queries.PARTITIONS]:,} partitions, {_text(row[C.STARTED_AT])} to {_text(row[C.ENDED_AT])}"


def _texts(rows: Sequence[Row], columns: Sequence[Field]) -> list[tuple[str, ...]]:
    """The rows as texts."""
    return [tuple(_text(row[column]) for column in columns) for row in rows]


def _text(value: object) -> str:
    """A value as the page shows it."""
    if value is None:
        return ""
    return value.isoformat(sep=" ", timespec="milliseconds") if isinstance(value, datetime) else str(value)
