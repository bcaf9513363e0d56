"""What the report shows, as small tables: each query is bounded, whatever the size of the warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from schemas.kinds import EventType

MOST_ROWS = 500
"""Rows of a table in the report; how many there are in all is said beside it."""

LEADERSHIP = Field("leadership", C.INT, "Number of the leadership in its epoch.")
START_LEO = Field("start_log_end_offset", C.LONG, "LEO the leadership began with.")
START_HW = Field("start_high_watermark", C.LONG, "HW after its first event.")
END_LEO = Field("end_log_end_offset", C.LONG, "LEO after its last event.")
END_HW = Field("end_high_watermark", C.LONG, "HW after its last event.")
LEADERSHIP_KEY = (*C.PARTITION_KEY, C.LEADER_EPOCH, LEADERSHIP)
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


def as_texts(frame: DataFrame, columns: Sequence[Field]) -> DataFrame:
    """The columns as a reader sees them, made by Spark: Python would show times in this machine's zone."""
    return frame.select(*[_as_text(column, column.type).alias(column) for column in columns])


def all_as_texts(frame: DataFrame) -> DataFrame:
    """All columns of an answer, likewise."""
    return frame.select(*[_as_text(field.name, field.dataType).alias(field.name) for field in frame.schema.fields])


def _as_text(column: str, data_type: DataType) -> Column:
    """A column as text; empty where it does not apply."""
    if data_type == C.TIME:
        return F.coalesce(F.date_format(column, "yyyy-MM-dd HH:mm:ss.SSS"), F.lit(""))
    return F.coalesce(F.col(column).cast(C.TEXT), F.lit(""))


def leaderships(leader_timeline: DataFrame) -> DataFrame:
    """One row per leadership: who led from when, and its LEO and HW at both ends."""
    in_epoch = Window.partitionBy(*C.PARTITION_KEY, C.LEADER_EPOCH).orderBy(C.EVENT_SEQ)
    so_far = in_epoch.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    begins = (F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value).cast(C.INT)

    def at(pick: str, column: Field, name: Field) -> Column:
        chosen: Column = getattr(F, pick)(column, C.EVENT_SEQ)
        return chosen.alias(name)

    return (
        leader_timeline.withColumn(LEADERSHIP, F.sum(begins).over(so_far))
        .groupBy(*LEADERSHIP_KEY)
        .agg(
            at("min_by", C.LEADER_ID, C.LEADER_ID),
            at("min_by", C.EVENT_TIME, C.STARTED_AT),
            at("min_by", C.LOG_END_OFFSET, START_LEO),
            at("min_by", C.HIGH_WATERMARK, START_HW),
            at("max_by", C.LOG_END_OFFSET, END_LEO),
            at("max_by", C.HIGH_WATERMARK, END_HW),
            at("max_by", C.EXACTNESS, C.EXACTNESS),
        )
    )
