"""Where stretches meet: the state in which one ends must be the one in which the next finds itself at its begin."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.going_on.unlike import CUTS_THAT_BELONG_TOGETHER as _TOGETHER
from replay.going_on.unlike import LEADER_STATE, REPLICA_STATE, in_order, is_unexplained
from replay.names import NS_PER_US
from replay.stretches.cut import FROM_US, UNTIL_US
from replay.stretches.requests import PART_ID, STRETCH, TO_US
from replay.stretches.terms import BOUNDS, TERM, Terms, own, terms_of, timed
from replay.timelines import Timelines
from schemas import columns as C


def unstitched(
    parts: Timelines, leaders: DataFrame, cut: DataFrame, seen: Terms, *, has_silence: bool = False
) -> list[DataFrame]:
    """Frames of one row per partition (its key) in which two stretches do not meet in the same state.

    Several, to be looked at one after the other: each has the plan of a replay in it. `parts` and `seen` are as
    `stitched.stitched` has them, `leaders` are the leaders' rows, `leader_rows.undoubted`: of some thousand rows their
    neighbours are not looked for among millions. With silence (`Profile`) replicas must meet without their own lines,
    too, which all stretches have: what is told of an epoch without requests hides what was known before.
    """
    replica: Sequence[str] = C.on_partition(C.REPLICA_ID)
    replicas = [(parts.replica_timeline, seen.replicas)]
    if has_silence:
        rebuilt = parts.replica_timeline.where(F.col(C.IN_ISR).isNotNull())  # `told_replicas` does not know of it
        replicas.append((rebuilt, terms_of(rebuilt, cut, C.VALID_FROM, replica)))
    return [
        _not_met(leaders, cut, C.EVENT_TIME, C.PARTITION_KEY, _leader_state(), seen.leaders),
        *[_not_met(rows, cut, C.VALID_FROM, replica, F.struct(*REPLICA_STATE), its) for rows, its in replicas],
        *_cut_again(own(parts.truncations, cut, C.EVENT_TIME)),
        _unexplained(own(parts.truncations, cut, C.EVENT_TIME)),
    ]


def moments(seen: Terms) -> DataFrame:
    """One row per moment, `us` (bigint, microseconds), at which some leader's last event before a cut was."""
    ends = _ends(seen.leaders, C.PARTITION_KEY)
    each = F.explode(F.array(*[f"last_{bound}.us" for bound in BOUNDS]))
    return ends.select(each.alias("us")).where("us IS NOT NULL").distinct()


def at_moments(states: DataFrame, us: Sequence[int]) -> DataFrame:
    """Return the leaders' states (`replayed.Replayed`) at these moments.

    By literals: a kept stage leaves out batches of rows by the least and the greatest value in them, not by a join.
    Rows of the others are looked up in a set first.
    """
    near = [F.col(N.ORDER_NS).between(one * NS_PER_US, (one + 1) * NS_PER_US - 1) for one in sorted(us)]
    return states.where(F.expr(N.ORDER_US).isin(*us) & reduce(or_, near, F.lit(False)))


def _cut_again(cuts: DataFrame) -> list[DataFrame]:
    """One row per replica that is cut in two stretches, to one offset or in one epoch (`replay.going_on.unlike`)."""
    stretches = [cuts.groupBy(*key).agg(F.min(STRETCH).alias("a"), F.max(STRETCH).alias("z")) for key in _TOGETHER]
    return [ends.where(F.col("a") < F.col("z")).select(*C.PARTITION_KEY) for ends in stretches]


def _unexplained(cuts: DataFrame) -> DataFrame:
    """One row per line of a truncation, shortly before the end of its stretch, that no state of the stretch explains.

    The fetch that does may be long after it. Where the line is no part of the next stretch, that is `_cut_again`.
    """
    reach = F.col(TO_US) - F.col(UNTIL_US)
    is_at_end = F.unix_micros(C.EVENT_TIME) > F.col(UNTIL_US) - reach
    return cuts.where(is_unexplained() & is_at_end).select(*C.PARTITION_KEY)


def _leader_state() -> Column:
    return F.struct(*LEADER_STATE, in_order(C.REMOTE_LEO_MAP).alias("remote"), C.HIGH_WATERMARK, C.EXACTNESS)


def _not_met(
    rows: DataFrame, cut: DataFrame, time: str, of: Sequence[str], state: Column, seen: DataFrame
) -> DataFrame:
    """One row per partition, or replica, whose last state before a cut differs on its two sides, or is out of order.

    Times first, states of the few rows at them by a join: the greatest struct of a group would be found by sorting all
    rows, and a semi-join is done before a row's values are made.
    """
    ends = _ends(seen, of)
    times = F.array(*[F.timestamp_micros(f"last_{bound}.us") for bound in BOUNDS])
    parts = cut.select(*C.PARTITION_KEY, STRETCH, PART_ID)
    at = ends.join(parts, C.on_partition(STRETCH)).withColumn(time, F.explode(F.array_distinct(times)))
    few = rows.join(F.broadcast(at.drop(C.TOPIC_ID).withColumnRenamed(PART_ID, C.TOPIC_ID)), [*of, time], "left_semi")
    known = timed(few, cut, time).join(F.broadcast(ends), [*map(str, of), STRETCH])
    place = F.struct(C.LEADER_EPOCH, C.EVENT_SEQ, state.alias("state"))
    states = known.groupBy(*of, STRETCH, "is_crossed").agg(
        *[F.max(F.when(_is_last(bound), place))["state"].alias(name) for bound, name in BOUNDS.items()]
    )
    met = F.lag("ends").over(Window.partitionBy(*of).orderBy(STRETCH))
    differs = (F.col(STRETCH) > 0) & ~F.col("begins").eqNullSafe(met)
    return states.withColumn("is_other", differs | F.col("is_crossed")).where("is_other").select(*C.PARTITION_KEY)


def _ends(seen: DataFrame, of: Sequence[str]) -> DataFrame:
    """One row per stretch: the last `(term, us)` up to each bound, and whether a leadership goes on after a later one.

    The last one by leadership: what a deposed leader did at last may be later.
    """

    def last(bound: str) -> Column:
        return F.max(F.when(F.col(f"last_{bound}").isNotNull(), F.struct(TERM, F.col(f"last_{bound}").alias("us"))))

    def is_crossed(bound: str) -> Column:
        first_after = F.min(F.when(F.col(f"after_{bound}"), F.col(TERM)))
        return F.coalesce(last(bound)[TERM] > first_after, F.lit(False))

    return seen.groupBy(*of, STRETCH).agg(
        *[last(bound).alias(f"last_{bound}") for bound in BOUNDS],
        (is_crossed(FROM_US) | is_crossed(UNTIL_US)).alias("is_crossed"),
    )


def _is_last(bound: str) -> Column:
    """Return whether a row is at the last time up to the bound."""
    last = F.col(f"last_{bound}")
    return (F.col(TERM) == last[TERM]) & (F.col("us") == last["us"])
