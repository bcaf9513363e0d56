"""The last stable offset where hot partitions are cut: a transaction may be open across any number of stretches.

What may hold the LSO is looked for in the whole log (`replay.states.stable`) and handed to the stretches. Within a
leadership the LSO follows from the HW alone, and a stretch sees the HW rise over a range: whatever ends in the range it
is told one by one, and of what ends beyond it the first offset that holds the LSO all along.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import SLOTS
from replay.events.leaderships import leaderships, roles_with_loads
from replay.events.untold import with_untold_leaderships
from replay.keep import Keep
from replay.states.lineage import BEYOND, lineages
from replay.states.log_starts import GIVEN_UP_AT, with_told_log_start
from replay.states.stable import REACH, UNTOLD, transactions, with_last_stable_offset
from replay.states.unfinished import FIRST_OFFSET
from replay.stretches.terms import placed
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T

_WHOLE = "whole_number"
"""int: the number of the partition's first stretch; it stands for the partition."""
_LED = (_WHOLE, *N.LEADERSHIP[1:])
_LOW, _HIGH = "low", "high"
"""bigint: the least and the greatest HW that a stretch sees in a leadership."""
_LEAST, _WIDTH, _RANGE = "least", "width", "range"
"""bigint: the least of a leadership, and how many offsets are one `range`, a number from 0: many have one key."""
_RANGES_A_STRETCH = 4


def with_stable_across(
    leaders: DataFrame, landed: Mapping[str, DataFrame], assigned: DataFrame, cut: DataFrame, keep: Keep
) -> DataFrame:
    """Return the leaders' states of a replay of `cut.split`, with the `last_stable_offset` they have in one piece.

    `landed` is what was split, `assigned` the assignments of what came of it.
    """
    numbers = keep(_numbers(assigned, cut), is_small=True)
    whole = F.broadcast(numbers.select(N.PARTITION_NUMBER, _WHOLE))
    ranges = leaders.groupBy(*N.LEADERSHIP).agg(
        F.min(C.HIGH_WATERMARK).alias(_LOW), F.max(C.HIGH_WATERMARK).alias(_HIGH)
    )
    seen = keep(ranges.join(whole, N.PARTITION_NUMBER), is_small=True)
    in_logs = _in_whole_logs(leaders.join(whole, N.PARTITION_NUMBER), landed, numbers, seen, keep)
    return with_last_stable_offset(leaders.drop(C.LAST_STABLE_OFFSET), handed_out(in_logs, seen))


def _numbers(assigned: DataFrame, cut: DataFrame) -> DataFrame:
    """One row per partition, or stretch of one: the partition's own key, the row's number, and `whole_number`."""
    of_partition = Window.partitionBy(*C.PARTITION_KEY).rowsBetween(FIRST, LAST)
    whole = F.min(N.PARTITION_NUMBER).over(of_partition).alias(_WHOLE)
    return placed(assigned, cut).select(*C.PARTITION_KEY, N.PARTITION_NUMBER, whole)


def _in_whole_logs(
    leaders: DataFrame, landed: Mapping[str, DataFrame], numbers: DataFrame, seen: DataFrame, keep: Keep
) -> DataFrame:
    """One row per leadership and transaction as `stable.transactions`, of whole partitions by their `whole_number`."""
    begun = keep(leaderships(roles_with_loads(with_untold_leaderships(landed))), is_small=True)
    partitions = numbers.select(*C.PARTITION_KEY, F.col(_WHOLE).alias(N.PARTITION_NUMBER)).distinct()
    whose = {slot: F.coalesce(F.get(SLOTS, slot), F.col(slot)) for slot in (N.SLOT, N.LEADER_SLOT)}
    # Each stretch has slots of its own, and sees a part of what every leadership came to.
    together = leaders.withColumns({**whose, N.PARTITION_NUMBER: F.col(_WHOLE)})
    told = with_told_log_start(begun, landed[T.BROKER_STATEMENTS.name]).join(partitions, C.on_partition())
    # What is over below every HW that is asked for is over where the leadership began.
    least = seen.groupBy(*_LED).agg(F.min(_LOW).alias(N.START_HW)).withColumnRenamed(_WHOLE, N.PARTITION_NUMBER)
    began = told.select(*N.LEADERSHIP, GIVEN_UP_AT).join(least, [*N.LEADERSHIP], "left")
    lineage = keep(lineages(together).join(began, [*N.LEADERSHIP], "left"), is_small=True)
    found = transactions(landed[T.PRODUCE_EVENTS.name], begun, partitions, lineage)
    return keep(found.withColumnRenamed(N.PARTITION_NUMBER, _WHOLE))


def handed_out(in_logs: DataFrame, seen: DataFrame) -> DataFrame:
    """One row per transaction that holds an LSO of a stretch, or several that do so all along: as `in_logs` has them.

    `seen` has the range of the HW, a row per leadership of a stretch.
    """
    of_led = seen.groupBy(*_LED).agg(F.min(_LOW).alias(_LEAST), F.max(_HIGH).alias("most"), F.count("*").alias("parts"))
    width = _div(F.col("most") - F.col(_LEAST), _RANGES_A_STRETCH * F.col("parts")) + 1
    # Of a partition that is not cut all goes to the one there is.
    ranges = of_led.select(*_LED, _LEAST, F.when(F.col("parts") > 1, width).otherwise(2 * BEYOND - 1).alias(_WIDTH))
    first, last = (_range(F.col(bound)) for bound in (_LOW, _HIGH))
    stretches = seen.join(F.broadcast(ranges), [*_LED]).select(
        *_LED, N.PARTITION_NUMBER, first.alias("first"), last.alias("last")
    )
    ends = in_logs.join(F.broadcast(ranges), [*_LED]).withColumn(_RANGE, _range(F.col(REACH)))
    each = stretches.withColumn(_RANGE, F.explode(F.sequence("first", "last")))
    within = ends.join(F.broadcast(each), [*_LED, _RANGE])
    firsts = ends.groupBy(*_LED, _RANGE, UNTOLD).agg(F.min(FIRST_OFFSET).alias(FIRST_OFFSET))
    later = firsts.join(F.broadcast(stretches), [*_LED]).where(F.col(_RANGE) > F.col("last"))
    beyond = later.groupBy(*N.LEADERSHIP, UNTOLD).agg(F.min(FIRST_OFFSET).alias(FIRST_OFFSET))
    columns = (*N.LEADERSHIP, FIRST_OFFSET, REACH, UNTOLD)
    return within.select(*columns).unionByName(beyond.withColumn(REACH, F.lit(BEYOND)).select(*columns))


def _range(offset: Column) -> Column:
    """Return the `range` of an offset of the leadership; what lies before the first is of no concern."""
    return _div(F.greatest(offset - F.col(_LEAST), F.lit(0)), F.col(_WIDTH))


def _div(a: Column, by: Column | int) -> Column:
    return F.call_function("div", a, F.lit(by))
