"""Whether a replay of the tail may be gone on with: it must find what stands in the timelines.

It may where it finds every leader and every replica at the moment in the state in which the timelines have them, and
where nothing that no state shows reaches across the moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.going_on.continued import is_in_force
from replay.states.begins import other_begins
from replay.states.settled import LAST_AT, LAST_SEQ, Settled, up_to
from replay.timelines import Timelines
from schemas import columns as C
from schemas.kinds import Exactness

_REPLICA: list[str] = C.on_partition(C.REPLICA_ID)
REPLICA_STATE = (
    C.LEADER_EPOCH, C.ROLE, C.LOG_END_OFFSET, C.REMOTE_LEO, C.HIGH_WATERMARK, C.IN_ISR, C.EXACTNESS,
    C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH, C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH,
)  # fmt: skip
CUTS_THAT_BELONG_TOGETHER = tuple((*C.PARTITION_KEY, C.REPLICA_ID, c) for c in (C.TO_OFFSET, C.LEADER_EPOCH))
LEADER_STATE = (
    C.SOURCE_FILE, C.SOURCE_LINE, C.EVENT_TYPE, C.LEADER_ID, C.LOG_END_OFFSET, C.LOG_END_OFFSET_HIGH, C.ISR,
    C.MAXIMAL_ISR, C.MIN_ISR, C.LOG_START_OFFSET,
)  # fmt: skip


def unlike(tail: Timelines, stands: Timelines, settled: Settled) -> DataFrame:
    """One row per partition (its key) of which the tail does not find what stands at the moment."""
    parts = (
        _other_replicas(tail.replica_timeline, stands.replica_timeline, settled),
        _other_leaders(tail.leader_timeline, stands.leader_timeline, settled),
        other_begins(tail.leader_timeline, settled.leaderships),
        _cut_again(tail.truncations, stands.truncations, settled),
        _unexplained(stands.truncations, settled),
        _untold_min_isr(tail.leader_timeline, settled),
        _out_of_order(tail.leader_timeline, C.EVENT_TIME, C.PARTITION_KEY, settled),
        _out_of_order(tail.replica_timeline, C.VALID_FROM, _REPLICA, settled),
    )
    return reduce(DataFrame.unionByName, parts)


def _cut_again(tail: DataFrame, stands: DataFrame, settled: Settled) -> DataFrame:
    """One row per replica that is cut on both sides of the moment, to one offset or in one epoch.

    A line that tells of a cut and the fetch that shows it may be far apart, and so may two rounds of one truncation.
    """
    before, after = stands.where(settled.has(C.EVENT_TIME)), tail.where(~settled.has(C.EVENT_TIME))
    same = [before.join(after.select(*key), [*map(str, key)], "left_semi") for key in CUTS_THAT_BELONG_TOGETHER]
    return same[0].unionByName(same[1]).select(*C.PARTITION_KEY)


def is_unexplained() -> Column:
    """Return whether a truncation is told by a line, and no fetch has shown it so far."""
    return F.col(C.IS_STATED) & (F.col(C.HIGH_WATERMARK_BEFORE) < 0)


def _unexplained(stands: DataFrame, settled: Settled) -> DataFrame:
    """One row per line of a truncation that a fetch may yet explain; of an earlier one see `_cut_again`."""
    at_end = settled.has(C.EVENT_TIME) & ~up_to(settled.since_us, C.EVENT_TIME)
    return stands.where(at_end & is_unexplained()).select(*C.PARTITION_KEY)


def _other_replicas(tail: DataFrame, stands: DataFrame, settled: Settled) -> DataFrame:
    """One row per replica whose state at the moment differs, or that only one of both knows."""
    found, stood = (
        rows.where(is_in_force(settled)).select(*_REPLICA, F.struct(*REPLICA_STATE).alias(name))
        for rows, name in ((tail, "found"), (stands, "stood"))
    )
    both = stood.join(found, _REPLICA, "full")
    return both.where(~F.col("found").eqNullSafe(F.col("stood"))).select(*C.PARTITION_KEY)


def _other_leaders(tail: DataFrame, stands: DataFrame, settled: Settled) -> DataFrame:
    """One row per partition whose last event up to the moment differs, or the state after it."""
    of_epoch = F.struct(C.LEADER_EPOCH, F.col(LAST_SEQ).alias(C.EVENT_SEQ), LAST_AT)
    last = (
        settled.leaderships.groupBy(*C.PARTITION_KEY)
        .agg(F.max(of_epoch).alias("last"))
        .select(*C.PARTITION_KEY, "last.*")
    )
    state = F.struct(*LEADER_STATE, in_order(C.REMOTE_LEO_MAP).alias("remote"))
    hw = F.struct(C.HIGH_WATERMARK, C.EXACTNESS, C.LAST_STABLE_OFFSET)
    key = C.on_partition(C.LEADER_EPOCH, C.EVENT_SEQ)
    stood = _at_last_events(stands.where(settled.has(C.EVENT_TIME)), last, key, settled).select(
        *key, state.alias("stood"), hw.alias("stood_hw")
    )
    found = tail.where(settled.has(C.EVENT_TIME)).select(*key, state.alias("found"), hw.alias("found_hw"))
    both = last.join(stood, key, "left").join(found, key, "left")
    is_same = F.col("found").isNotNull() & F.col("found").eqNullSafe(F.col("stood")) & _same_hw()
    return both.where(~F.coalesce(is_same, F.lit(False))).select(*C.PARTITION_KEY)


def _at_last_events(rows: DataFrame, last: DataFrame, key: Sequence[str], settled: Settled) -> DataFrame:
    """Return the `rows` of leaders' `last` events.

    Most are of late, in files of their own: only where one is not are all rows looked through.
    """
    early, earlier = (up_to(settled.since_us, time) for time in (C.EVENT_TIME, LAST_AT))
    parts = ((rows.where(~early), last.where(~earlier)), (rows.where(early), last.where(earlier)))
    of_late, of_old = (some.join(F.broadcast(events.drop(LAST_AT)), [*key]) for some, events in parts)
    return of_late.unionByName(of_old)


def _same_hw() -> Column:
    """Return whether HW and LSO agree; of one that is bounded now nothing is asked: its neighbours may have bounded it.

    One that only stood bounded may be so by a doubt since long ago (`replay.states.doubts`), of which the tail knows
    nothing.
    """
    found, stood = F.col("found_hw"), F.col("stood_hw")
    bounded = Exactness.BOUNDED.value
    agree = (found[C.HIGH_WATERMARK] == stood[C.HIGH_WATERMARK]) & (
        found[C.LAST_STABLE_OFFSET] == stood[C.LAST_STABLE_OFFSET]
    )
    return (found[C.EXACTNESS] == bounded) | ((stood[C.EXACTNESS] != bounded) & agree)


def _untold_min_isr(tail: DataFrame, settled: Settled) -> DataFrame:
    """One row per partition whose ISR is small, later, under a min.insync.replicas that no line tells.

    What was appended with an ISR as small long ago shows that it is enough (`doubts.isr_enough_for_all`).
    """
    is_small = F.size(C.ISR) <= F.size(C.REMOTE_LEO_MAP)
    is_untold = (F.col(C.MIN_ISR) < 0) & F.coalesce(is_small, F.lit(True))
    return tail.where(~settled.has(C.EVENT_TIME) & is_untold).select(*C.PARTITION_KEY)


def in_order(offsets: str) -> Column:
    """Return a map as an array in the order of its keys: maps are not compared."""
    return F.array_sort(F.map_entries(offsets))


def _out_of_order(tail: DataFrame, time: str, of: Sequence[str], settled: Settled) -> DataFrame:
    """One row per partition, or replica, in whose order an event up to the moment follows one that is after it.

    Two leaders' clocks may be seconds apart; then no moment cuts the order in two.
    """
    place = F.struct(*C.TIMELINE_ORDER)
    ends = tail.groupBy(*of).agg(
        F.max(F.when(settled.has(time), place)).alias("last"), F.min(F.when(~settled.has(time), place)).alias("first")
    )
    return ends.where(F.col("last") > F.col("first")).select(*C.PARTITION_KEY)
