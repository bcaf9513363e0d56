"""The points of the report's charts: few enough to mail, and no dip of a line lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from jobs.report_charts import HW_LINE
from jobs.report_queries import MOST_ROWS
from schemas import columns as C
from schemas.columns import Field

MOST_CHARTS = 6
MOST_POINTS = 500
"""Points of a line, at most. A longer one is cut into buckets that keep their lowest and highest: no dip is lost."""
BUCKETS = MOST_POINTS // 2 - 1

STEPS = Field("steps", C.LONG, "Distinct values of the HW.")
LINE_NAME = Field("line", C.TEXT, "HW, or the replica whose LEO it is.")
POSITION = Field("position", C.LONG, "Place of a point in its line.")
MILLISECONDS = Field("milliseconds", C.LONG, "A time as charts take it: since 1970, UTC.")
IN_ALL = Field("in_all", C.LONG, "Points of the line before it was thinned out.")


def liveliest_partitions(leader_timeline: DataFrame) -> list[Row]:
    """The few partitions whose HW took the most values."""
    steps = F.countDistinct(C.LEADER_EPOCH, C.HIGH_WATERMARK).alias(STEPS)
    return (
        leader_timeline.groupBy(*C.PARTITION_KEY)
        .agg(steps)
        .orderBy(F.desc(STEPS), *C.PARTITION_KEY)
        .limit(MOST_CHARTS)
        .collect()
    )


def lines(leader_timeline: DataFrame, replica_timeline: DataFrame, partitions: Sequence[Row]) -> list[Row]:
    """The points of the partitions' lines: each replica's LEO and the HW, only where they change, thinned out."""
    replica = F.col(C.REPLICA_ID).cast(C.TEXT)
    leos = _line(of_partitions(replica_timeline, partitions), replica, C.VALID_FROM, C.LOG_END_OFFSET)
    hws = _line(of_partitions(leader_timeline, partitions), F.lit(HW_LINE), C.EVENT_TIME, C.HIGH_WATERMARK)
    return thinned(leos.unionByName(hws)).orderBy(*C.PARTITION_KEY, LINE_NAME, POSITION).collect()


def thinned(points: DataFrame) -> DataFrame:
    """At most `MOST_POINTS` a line: its changes and its end; of a long line the extremes of each bucket."""
    line = Window.partitionBy(*C.PARTITION_KEY, LINE_NAME)
    ordered, whole = line.orderBy(POSITION), line.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    is_change = ~F.col(C.OFFSET).eqNullSafe(F.lag(C.OFFSET).over(ordered))
    is_end = F.lead(C.OFFSET).over(ordered).isNull()
    changes = points.withColumn("is_kept", is_change | is_end).where("is_kept")
    numbered = changes.withColumns({POSITION: F.row_number().over(ordered), IN_ALL: F.count(F.lit(1)).over(whole)})
    place = F.floor((F.col(POSITION) - 1) * BUCKETS / F.col(IN_ALL))
    is_thinned = (F.col(IN_ALL) > MOST_POINTS) & (F.col(POSITION) < F.col(IN_ALL))  # the end is always shown
    bucket = F.when(is_thinned, place).otherwise(F.col(POSITION))
    point = F.struct(MILLISECONDS, POSITION, C.OFFSET)
    ends = F.array_distinct(F.array(F.min_by(point, C.OFFSET), F.max_by(point, C.OFFSET)))
    buckets = numbered.groupBy(*C.PARTITION_KEY, LINE_NAME, IN_ALL, bucket.alias("bucket")).agg(ends.alias("ends"))
    return buckets.select(*C.PARTITION_KEY, LINE_NAME, IN_ALL, F.inline("ends"))


def marks(frame: DataFrame, time: Field, partitions: Sequence[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """The first rows of these partitions by partition, with `time` in milliseconds beside it."""
    timed = of_partitions(frame, partitions).withColumn(MILLISECONDS, F.unix_millis(F.col(time)))
    return by_partition(timed.orderBy(*C.PARTITION_KEY, MILLISECONDS).limit(MOST_ROWS).collect())


def by_partition(rows: Iterable[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """The rows of each partition, in their order."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(key_of(row), []).append(row)
    return found


def key_of(row: Row) -> tuple[Any, ...]:
    """The partition a row is of."""
    return tuple(row[column] for column in C.PARTITION_KEY)


def of_partitions(frame: DataFrame, partitions: Sequence[Row]) -> DataFrame:
    """The rows of these partitions."""
    return frame.where(reduce(Column.__or__, [_is_of(partition) for partition in partitions], F.lit(False)))


def _is_of(partition: Row) -> Column:
    """Whether a row is of that partition."""
    return reduce(Column.__and__, [F.col(column).eqNullSafe(F.lit(partition[column])) for column in C.PARTITION_KEY])


def _line(states: DataFrame, name: Column, time: Field, offset: Field) -> DataFrame:
    """One row per known offset of a line."""
    return states.where(F.col(offset) >= 0).select(
        *C.PARTITION_KEY,
        name.alias(LINE_NAME),
        F.unix_millis(F.col(time)).alias(MILLISECONDS),
        F.struct(*C.TIMELINE_ORDER).alias(POSITION),
        F.col(offset).alias(C.OFFSET),
    )
