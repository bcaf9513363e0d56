"""The last stable offset where hot partitions are cut: a transaction may be open across any number of stretches.

What may hold the LSO is looked for in the whole log (`replay.states.stable`) and handed to the stretches. Within a
leadership the LSO follows from the HW alone (`replay.stretches.handed_out`).
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import SLOTS
from replay.events.leaderships import leaderships, roles_with_loads
from replay.events.untold import with_untold_leaderships
from replay.keep import Keep
from replay.profile import Profile
from replay.states.lineage import lineages
from replay.states.log_starts import GIVEN_UP_AT, with_told_log_start
from replay.states.stable import with_last_stable_offset
from replay.states.told_stable import in_logs_and_told
from replay.stretches.handed_out import HIGH, LED, LOW, WHOLE, handed_out, told_in_stretches
from replay.stretches.terms import placed
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T


def with_stable_across(
    leaders: DataFrame,
    landed: Mapping[str, DataFrame],
    assigned: DataFrame,
    cut: DataFrame,
    profile: Profile,
    keep: Keep,
) -> DataFrame:
    """Return the leaders' states of a replay of `cut.split`, with the `last_stable_offset` they have in one piece.

    `landed` is what was split, `assigned` the assignments of what came of it.
    """
    numbers = keep(_numbers(assigned, cut), is_small=True)
    whole = F.broadcast(numbers.select(N.PARTITION_NUMBER, WHOLE))
    ranges = leaders.groupBy(*N.LEADERSHIP).agg(F.min(C.HIGH_WATERMARK).alias(LOW), F.max(C.HIGH_WATERMARK).alias(HIGH))
    seen = keep(ranges.join(whole, N.PARTITION_NUMBER), is_small=True)
    of_whole = leaders.join(whole, N.PARTITION_NUMBER)
    in_logs, told = _in_whole_logs(of_whole, landed, numbers, seen, profile, keep)
    told_here = None if told is None else told_in_stretches(told, seen)
    return with_last_stable_offset(leaders.drop(C.LAST_STABLE_OFFSET), handed_out(in_logs, seen), told_here)


def _numbers(assigned: DataFrame, cut: DataFrame) -> DataFrame:
    """One row per partition, or stretch of one: the partition's own key, the row's number, and `whole_number`."""
    of_partition = Window.partitionBy(*C.PARTITION_KEY).rowsBetween(FIRST, LAST)
    whole = F.min(N.PARTITION_NUMBER).over(of_partition).alias(WHOLE)
    return placed(assigned, cut).select(*C.PARTITION_KEY, N.PARTITION_NUMBER, whole)


def _in_whole_logs(
    leaders: DataFrame,
    landed: Mapping[str, DataFrame],
    numbers: DataFrame,
    seen: DataFrame,
    profile: Profile,
    keep: Keep,
) -> tuple[DataFrame, DataFrame | None]:
    """Return what `told_stable.in_logs_and_told` has of whole partitions, by their `whole_number`."""
    begun = keep(leaderships(roles_with_loads(with_untold_leaderships(landed))), is_small=True)
    partitions = numbers.select(*C.PARTITION_KEY, F.col(WHOLE).alias(N.PARTITION_NUMBER)).distinct()
    whose = {slot: F.coalesce(F.get(SLOTS, slot), F.col(slot)) for slot in (N.SLOT, N.LEADER_SLOT)}
    # Each stretch has slots of its own, and sees a part of what every leadership came to.
    together = leaders.withColumns({**whose, N.PARTITION_NUMBER: F.col(WHOLE)})
    log_starts = with_told_log_start(begun, landed[T.BROKER_STATEMENTS.name]).join(partitions, C.on_partition())
    # What is over below every HW that is asked for is over where the leadership began.
    least = seen.groupBy(*LED).agg(F.min(LOW).alias(N.START_HW)).withColumnRenamed(WHOLE, N.PARTITION_NUMBER)
    began = log_starts.select(*N.LEADERSHIP, GIVEN_UP_AT).join(least, [*N.LEADERSHIP], "left")
    lineage = keep(lineages(together).join(began, [*N.LEADERSHIP], "left"), is_small=True)
    found, told = in_logs_and_told(landed, begun, partitions, lineage, profile, keep)
    in_logs = keep(found.withColumnRenamed(N.PARTITION_NUMBER, WHOLE))
    return in_logs, None if told is None else told.withColumnRenamed(N.PARTITION_NUMBER, WHOLE)
