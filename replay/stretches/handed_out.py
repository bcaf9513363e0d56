"""What the stretches of a hot partition are told of its LSO: of transactions and responses those that bear on them.

A stretch sees the HW rise over a range. Whatever lies in the range it is told one by one, and of what lies beyond it
the one that counts: the first offset that holds the LSO all along, what was told next.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.states.lineage import BEYOND
from replay.states.stable import REACH, TOLD, UNTOLD
from replay.states.unfinished import FIRST_OFFSET

WHOLE = "whole_number"
"""int: the number of the partition's first stretch; it stands for the partition."""
LED = (WHOLE, *N.LEADERSHIP[1:])
LOW, HIGH = "low", "high"
"""bigint: the least and the greatest HW that a stretch sees in a leadership."""
_LEAST, _WIDTH, _RANGE = "least", "width", "range"
"""bigint: the least of a leadership, and how many offsets are one `range`, a number from 0: many have one key."""
_RANGES_A_STRETCH = 4


def handed_out(in_logs: DataFrame, seen: DataFrame) -> DataFrame:
    """One row per transaction that holds an LSO of a stretch, or several that do so all along: as `in_logs` has them.

    `seen` has the range of the HW, a row per leadership of a stretch.
    """
    ends, stretches, within = _in_ranges(in_logs, seen)
    firsts = ends.groupBy(*LED, _RANGE, UNTOLD).agg(F.min(FIRST_OFFSET).alias(FIRST_OFFSET))
    later = firsts.join(F.broadcast(stretches), [*LED]).where(F.col(_RANGE) > F.col("last"))
    beyond = later.groupBy(*N.LEADERSHIP, UNTOLD).agg(F.min(FIRST_OFFSET).alias(FIRST_OFFSET))
    columns = (*N.LEADERSHIP, FIRST_OFFSET, REACH, UNTOLD)
    return within.select(*columns).unionByName(beyond.withColumn(REACH, F.lit(BEYOND)).select(*columns))


def told_in_stretches(told: DataFrame, seen: DataFrame) -> DataFrame:
    """One row per HW that was told where a stretch sees it rise, and the next above and below: as `told` has it.

    `told` is `told_stable.told_stable`, by `whole_number`; `seen` as `handed_out` has it.
    """
    said, stretches, within = _in_ranges(told, seen)
    at = F.struct(*TOLD)
    of_range = said.groupBy(*LED, _RANGE).agg(F.min(at).alias("least_told"), F.max(at).alias("most_told"))
    beside = of_range.join(F.broadcast(stretches), [*LED])
    above = F.min(F.when(F.col(_RANGE) > F.col("last"), F.col("least_told")))
    below = F.max(F.when(F.col(_RANGE) < F.col("first"), F.col("most_told")))
    both = beside.groupBy(*N.LEADERSHIP).agg(F.array(above, below).alias("both"))
    nearest = both.select(*N.LEADERSHIP, F.explode("both").alias("at")).where("at IS NOT NULL")
    columns = (*N.LEADERSHIP, *TOLD)
    return within.select(*columns).unionByName(nearest.select(*N.LEADERSHIP, "at.*"))


def _in_ranges(rows: DataFrame, seen: DataFrame) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Return the rows with the range that their `reach` is in, the `_stretches`, and each row a stretch that has it."""
    ranges = _ranges(seen)
    stretches = _stretches(seen, ranges)
    each = stretches.withColumn(_RANGE, F.explode(F.sequence("first", "last")))
    placed = rows.join(F.broadcast(ranges), [*LED]).withColumn(_RANGE, _range(F.col(REACH)))
    return placed, stretches, placed.join(F.broadcast(each), [*LED, _RANGE])


def _ranges(seen: DataFrame) -> DataFrame:
    """One row per leadership: the least HW of all its stretches, and how many offsets are one range."""
    of_led = seen.groupBy(*LED).agg(F.min(LOW).alias(_LEAST), F.max(HIGH).alias("most"), F.count("*").alias("parts"))
    width = _div(F.col("most") - F.col(_LEAST), _RANGES_A_STRETCH * F.col("parts")) + 1
    # Of a partition that is not cut all goes to the one there is.
    return of_led.select(*LED, _LEAST, F.when(F.col("parts") > 1, width).otherwise(2 * BEYOND - 1).alias(_WIDTH))


def _stretches(seen: DataFrame, ranges: DataFrame) -> DataFrame:
    """One row per leadership of a stretch: the first and the last range in which its HW lies."""
    first, last = (_range(F.col(bound)) for bound in (LOW, HIGH))
    of_stretch = seen.join(F.broadcast(ranges), [*LED])
    return of_stretch.select(*LED, N.PARTITION_NUMBER, first.alias("first"), last.alias("last"))


def _range(offset: Column) -> Column:
    """Return the `range` of an offset of the leadership; what lies before the first is of no concern."""
    return _div(F.greatest(offset - F.col(_LEAST), F.lit(0)), F.col(_WIDTH))


def _div(a: Column, by: Column | int) -> Column:
    return F.call_function("div", a, F.lit(by))
