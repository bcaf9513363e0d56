"""What the report shows, as small tables: each query is bounded, whatever the size of the warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field

MOST_ROWS = 500
"""Rows of a table in the report; how many there are in all is said beside it."""

FILES = Field("files", C.LONG, "Files that were read.")
PARTITIONS = Field("partitions", C.LONG, "Partitions with a timeline.")


def row_counts(warehouse: Warehouse, cluster_id: str, tables: Iterable[T.Table]) -> dict[str, int]:
    """Rows of the cluster by table, of those that are there."""
    present = [table for table in tables if warehouse.has(table)]
    counts = [
        warehouse.read(table, cluster_id=cluster_id).agg(
            F.lit(table.name).alias(C.NAME), F.count(F.lit(1)).alias(C.ROWS)
        )
        for table in present
    ]
    if not counts:
        return {}
    return {row[C.NAME]: row[C.ROWS] for row in reduce(DataFrame.unionAll, counts).collect()}


def files(source_files: DataFrame) -> Row | None:
    """One row: how many files and lines were read, landed and rejected."""
    sums = [F.sum(column).alias(column) for column in (C.LINES_READ, C.LINES_LANDED, C.LINES_REJECTED, C.LINES_IGNORED)]
    return source_files.agg(F.count(F.lit(1)).alias(FILES), *sums).first()


def span(leader_timeline: DataFrame) -> Row | None:
    """One row: from when to when the timelines reach, and of how many partitions."""
    ends = leader_timeline.agg(
        F.min(C.EVENT_TIME).alias(C.STARTED_AT),
        F.max(C.EVENT_TIME).alias(C.ENDED_AT),
        F.countDistinct(*C.PARTITION_KEY).alias(PARTITIONS),
    )
    return as_texts(ends, (C.STARTED_AT, C.ENDED_AT, PARTITIONS)).first()


def latest_verdicts(results: DataFrame) -> DataFrame:
    """The verdicts of the latest run of the check."""
    latest = results.agg(F.max_by(C.RUN_ID, C.RUN_AT).alias(C.RUN_ID))
    return results.join(F.broadcast(latest), [str(C.RUN_ID)]).orderBy(C.SEVERITY, C.STATUS, C.RULE)


def first_rows(answer: DataFrame) -> tuple[list[tuple[str, ...]], int]:
    """The rows that are shown, and how many there are in all."""
    rows = [tuple(row) for row in answer.limit(MOST_ROWS).collect()]
    return rows, len(rows) if len(rows) < MOST_ROWS else answer.count()


def as_texts(frame: DataFrame, columns: Sequence[str] = ("*",)) -> DataFrame:
    """The columns as a reader sees them, made by Spark: Python would show times in this machine's zone."""
    shown = frame.select(*columns)
    return shown.select(*[_as_text(field.name, field.dataType).alias(field.name) for field in shown.schema.fields])


def _as_text(column: str, data_type: DataType) -> Column:
    """A column as text; empty where it does not apply."""
    if data_type == C.TIME:
        return F.coalesce(F.date_format(column, "yyyy-MM-dd HH:mm:ss.SSS"), F.lit(""))
    return F.coalesce(F.col(column).cast(C.TEXT), F.lit(""))
