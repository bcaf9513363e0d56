"""What the report shows, as small tables: each query is bounded, whatever the size of the warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from schemas.kinds import EventType

MOST_ROWS = 500
"""Rows of a table in the report; how many there are in all is said beside it."""
MOST_CHARTS = 6
MOST_POINTS = 500
"""Points of a line. Of a longer one each bucket of half as many keeps its lowest and its highest: no dip is lost."""

HW_LINE = "HW"
TP = (C.CLUSTER_ID, C.TOPIC, C.TOPIC_ID, C.PARTITION)

LEADERSHIP = Field("leadership", C.INT, "Number of the leadership in its epoch.")
START_LEO = Field("start_log_end_offset", C.LONG, "LEO the leadership began with.")
START_HW = Field("start_high_watermark", C.LONG, "HW after its first event.")
END_LEO = Field("end_log_end_offset", C.LONG, "LEO after its last event.")
END_HW = Field("end_high_watermark", C.LONG, "HW after its last event.")
STEPS = Field("steps", C.LONG, "Distinct values of the HW.")
LINE_NAME = Field("line", C.TEXT, "HW, or the replica whose LEO it is.")
POSITION = Field("position", C.LONG, "Place of a point in its line.")
LEADERSHIP_KEY = (*TP, C.LEADER_EPOCH, LEADERSHIP)
FILES = Field("files", C.LONG, "Files that were read.")
PARTITIONS = Field("partitions", C.LONG, "Partitions with a timeline.")
IN_ALL = Field("in_all", C.LONG, "Points of the line before it was thinned out.")


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
    return leader_timeline.agg(
        F.min(C.EVENT_TIME).alias(C.STARTED_AT),
        F.max(C.EVENT_TIME).alias(C.ENDED_AT),
        F.countDistinct(*TP).alias(PARTITIONS),
    ).first()


def latest_verdicts(results: DataFrame) -> list[Row]:
    """The verdicts of the latest run of the check."""
    latest = results.agg(F.max_by(C.RUN_ID, C.RUN_AT).alias(C.RUN_ID))
    return results.join(F.broadcast(latest), [str(C.RUN_ID)]).orderBy(C.SEVERITY, C.STATUS, C.RULE).collect()


def leaderships(leader_timeline: DataFrame) -> DataFrame:
    """One row per leadership: who led from when, and its LEO and HW at both ends."""
    in_epoch = Window.partitionBy(*TP, C.LEADER_EPOCH).orderBy(C.EVENT_SEQ)
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


def liveliest_partitions(leader_timeline: DataFrame) -> list[Row]:
    """The few partitions whose HW took the most values."""
    steps = F.countDistinct(C.LEADER_EPOCH, C.HIGH_WATERMARK).alias(STEPS)
    return leader_timeline.groupBy(*TP).agg(steps).orderBy(F.desc(STEPS), *TP).limit(MOST_CHARTS).collect()


def lines(leader_timeline: DataFrame, replica_timeline: DataFrame, partitions: Sequence[Row]) -> list[Row]:
    """The points of the partitions' lines: each replica's LEO and the HW, only where they change, thinned out."""
    order = F.struct(C.LEADER_EPOCH, C.EVENT_SEQ)
    of_replicas = of_partitions(replica_timeline, partitions).select(
        *TP, F.col(C.REPLICA_ID).cast(C.TEXT).alias(LINE_NAME), F.col(C.VALID_FROM).alias(C.EVENT_TIME),
        order.alias(POSITION), F.col(C.LOG_END_OFFSET).alias(C.OFFSET),
    )  # fmt: skip
    of_leaders = of_partitions(leader_timeline, partitions).select(
        *TP,
        F.lit(HW_LINE).alias(LINE_NAME),
        C.EVENT_TIME,
        order.alias(POSITION),
        F.col(C.HIGH_WATERMARK).alias(C.OFFSET),
    )
    known = of_replicas.unionByName(of_leaders).where(F.col(C.OFFSET) >= 0)
    return thinned(known).orderBy(*TP, LINE_NAME, POSITION).collect()


def thinned(points: DataFrame) -> DataFrame:
    """At most `MOST_POINTS` a line: its changes, or of a long line the lowest and the highest of each bucket."""
    line = Window.partitionBy(*TP, LINE_NAME)
    ordered, whole = line.orderBy(POSITION), line.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    before, after = F.lag(C.OFFSET).over(ordered), F.lead(C.OFFSET).over(ordered)
    changes = points.withColumn("is_change", ~F.col(C.OFFSET).eqNullSafe(before) | after.isNull()).where("is_change")
    numbered = changes.withColumns({POSITION: F.row_number().over(ordered), IN_ALL: F.count(F.lit(1)).over(whole)})
    place = F.floor((F.col(POSITION) - 1) * (MOST_POINTS // 2) / F.col(IN_ALL))
    bucket = F.when(F.col(IN_ALL) > MOST_POINTS, place).otherwise(F.col(POSITION))
    point = F.struct(C.EVENT_TIME, POSITION, C.OFFSET)
    ends = F.array_distinct(F.array(F.min_by(point, C.OFFSET), F.max_by(point, C.OFFSET)))
    buckets = numbered.groupBy(*TP, LINE_NAME, IN_ALL, bucket.alias("bucket")).agg(ends.alias("ends"))
    return buckets.select(*TP, LINE_NAME, IN_ALL, F.inline("ends"))


def of_partitions(frame: DataFrame, partitions: Sequence[Row]) -> DataFrame:
    """The rows of these partitions."""
    return frame.where(reduce(Column.__or__, [_is_of(partition) for partition in partitions], F.lit(False)))


def _is_of(partition: Row) -> Column:
    """Whether a row is of that partition."""
    return reduce(Column.__and__, [F.col(column).eqNullSafe(F.lit(partition[column])) for column in TP])
