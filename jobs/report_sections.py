"""A cluster's part of the report: figures, tables and its charts, as the page's template takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, Row

from jobs import report_queries as queries
from jobs.at_once import at_once
from jobs.report_drawn import Drawn, drawn_charts
from jobs.warehouse import Warehouse, literal_of
from replay.findings.spans import END_HW, END_LEO, SPAN, START_HW, START_LEO, at_both_ends
from schemas import columns as C
from schemas import tables as T
from schemas.questions import QUESTIONS, Question

TOPIC_PARTITION = (C.TOPIC, C.PARTITION)
VERDICTS = (C.RULE, C.STATUS, C.SEVERITY, C.ROWS, C.VIOLATIONS, C.REASON)
LEADERSHIPS = (
    *TOPIC_PARTITION, C.LEADER_EPOCH, C.LEADER_ID, C.STARTED_AT, START_LEO, START_HW, END_LEO, END_HW, C.EXACTNESS,
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
    sql: str = ""


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

    leaders, cut = rows_of(T.LEADER_TIMELINE), rows_of(T.TRUNCATIONS)
    led = at_both_ends(leaders)
    parts: tuple[Callable[[], Any], ...] = (
        lambda: _span(queries.span(leaders)),
        lambda: _figures(queries.files(rows_of(T.SOURCE_FILES))),
        lambda: _sizes(queries.row_counts(warehouse, cluster_id, SIZED)),
        lambda: drawn_charts(leaders, rows_of(T.REPLICA_TIMELINE), led, cut, number),
        *[partial(_answered, warehouse, cluster_id, question) for question in QUESTIONS],
        lambda: _verdicts(queries.latest_verdicts(rows_of(T.CHECK_RESULTS))),
        lambda: _shown("Leaderships", LEADERSHIPS, led.orderBy(*SPAN), "No leadership was rebuilt."),
    )
    span, figures, sizes, charts, *tables = at_once(warehouse.spark)(lambda part: part(), parts)
    return Section(name=cluster_id, span=span, figures=[*figures, *sizes], tables=tables, charts=charts)


def _answered(warehouse: Warehouse, cluster_id: str, question: Question) -> Shown:
    """The answer to a question; of a table that is not there yet, that it was not looked for."""
    if not warehouse.has(question.reads):
        return Shown(question.title, (), [], 0, "Not looked for yet.")
    sql = question.sql.replace(":cluster", literal_of(cluster_id))
    answer = queries.as_texts(warehouse.spark.sql(sql))
    rows, in_all = queries.first_rows(answer)
    return Shown(question.title, tuple(answer.columns), rows, in_all, question.if_none, question.note, sql)


def _verdicts(results: DataFrame) -> Shown:
    """The verdicts of the latest check, and when it was."""
    shown = _shown("Verdicts", (*VERDICTS, C.RUN_ID, C.RUN_AT), results, "The rules were not checked yet.")
    when = f"Run {shown.rows[0][-2]} of {shown.rows[0][-1]}." if shown.rows else ""
    rows = [row[: len(VERDICTS)] for row in shown.rows]
    return replace(shown, columns=VERDICTS, rows=rows, note=when)


def _shown(title: str, columns: tuple[str, ...], frame: DataFrame, if_none: str) -> Shown:
    """The first rows of a frame as a table of the page."""
    rows, in_all = queries.first_rows(queries.as_texts(frame, columns))
    return Shown(title, columns, rows, in_all, if_none)


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


def _span(row: Row | None) -> str:
    """From when to when the timelines reach, in words."""
    if row is None or not row[C.STARTED_AT]:
        return "No timeline was rebuilt."
    return f"{row[C.STARTED_AT]} to {row[C.ENDED_AT]}; partitions: {row[queries.PARTITIONS]}"
