"""Which requests a stretch of a hot partition has: those of its time, and those that stand when it begins."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C

STRETCH = "stretch"
"""int: number of the stretch in its partition, from 0."""
PART_ID = "part_id"
"""string: topic id under which the stretch is replayed."""
SINCE_US, TO_US = "since_us", "to_us"
"""bigint, whole seconds: a stretch's requests have not ended before `since`, and begin before `to`."""
SECOND_US, EVER_US = 1_000_000, 1 << 60
"""The first stretch begins, and the last one ends, as far away as `EVER_US`, or farther."""
_FIRST, _LAST = "first_second", "last_second"
"""bigint: seconds that only a partition's first stretch has, and only its last; they stand for all before and after."""


def requests(rows: DataFrame, cut: DataFrame, standing: DataFrame, by: tuple[str, ...]) -> DataFrame:
    """Return the requests of each stretch under its `part_id`, and as they are those of partitions that are not cut.

    `cut` is `cut.stretches`; `standing` names by stretch, and `by` these columns, what stands at its begin.
    """
    # What stands is from before: of the same offset or time a later request may be no part of the stretch.
    begins = cut.select(*C.PARTITION_KEY, STRETCH, PART_ID, SINCE_US)
    stands = standing.join(begins, C.on_partition(STRETCH))
    before = rows.join(F.broadcast(stands), C.on_partition(*by)).where(ended_us() < F.col(SINCE_US))
    both = _in_time(rows, cut).unionByName(before, allowMissingColumns=True)
    return both.withColumn(C.TOPIC_ID, F.coalesce(PART_ID, C.TOPIC_ID)).select(*rows.columns)


def ended_us() -> Column:
    """Return when a request was over: answered, or there at least."""
    return F.greatest(F.unix_micros(C.EVENT_TIME), F.unix_micros(C.RESPONSE_TIME))


def second_of(us: Column) -> Column:
    """Return the second (bigint) that microseconds since the epoch are in."""
    return F.call_function("div", us, F.lit(SECOND_US))


def _in_time(rows: DataFrame, cut: DataFrame) -> DataFrame:
    """Return the requests with each stretch whose time they touch; with none, NULL, where the partition is not cut.

    They are brought together by the second: with every stretch of the partition, each request would be as many rows.
    """
    ends = _ends(cut)
    placed = rows.join(F.broadcast(ends), C.on_partition(), "left").withColumns(
        {"begun": _within(F.unix_micros(C.EVENT_TIME)), "over": _within(ended_us())}
    )
    both = F.when(F.col("begun").eqNullSafe(F.col("over")), F.array("begun")).otherwise(F.array("begun", "over"))
    each = placed.withColumn("second", F.explode(both)).join(
        F.broadcast(_seconds(cut, ends)), C.on_partition("second"), "left"
    )
    in_time = (ended_us() >= F.col(SINCE_US)) & (F.unix_micros(C.EVENT_TIME) < F.col(TO_US))
    # By its end only into a stretch that it had not begun in: there it is by its begin.
    once = (F.col("second") == F.col("begun")) | (F.col("begun") < second_of(F.col(SINCE_US)))
    return each.where(F.col(_FIRST).isNull() | (in_time & once))


def _ends(cut: DataFrame) -> DataFrame:
    """One row per partition that is cut: `first_second` and `last_second`."""
    since, to = F.col(SINCE_US), F.col(TO_US)
    return cut.groupBy(*C.PARTITION_KEY).agg(
        (F.min(F.when(since > -EVER_US, second_of(since))) - 1).alias(_FIRST),
        F.max(F.when(to < EVER_US, second_of(to))).alias(_LAST),
    )


def _within(us: Column) -> Column:
    """Return the second, of all before and after the first and the last one theirs; NULL where nothing is cut."""
    return F.when(F.col(_FIRST).isNotNull(), F.greatest(F.least(second_of(us), F.col(_LAST)), F.col(_FIRST)))


def _seconds(cut: DataFrame, ends: DataFrame) -> DataFrame:
    """One row per stretch and second of its time."""
    first = F.greatest(second_of(F.col(SINCE_US)), F.col(_FIRST))
    last = F.least(second_of(F.col(TO_US)) - 1, F.col(_LAST))
    return cut.join(ends, C.on_partition()).select(
        *C.PARTITION_KEY, STRETCH, PART_ID, SINCE_US, TO_US, F.explode(F.sequence(first, last)).alias("second")
    )
