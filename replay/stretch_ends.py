"""Where stretches meet: the state in which one ends must be the one in which the next finds itself at its begin."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.continued import CUTS_THAT_BELONG_TOGETHER as _TOGETHER
from replay.continued import LEADER_STATE, REPLICA_STATE, in_order
from replay.sequence import incarnation_of
from replay.stitched import own, placed
from replay.stretch_requests import STRETCH
from replay.stretches import FROM_US, UNTIL_US
from replay.timelines import Timelines
from schemas import columns as C


def unstitched(parts: Timelines, cut: DataFrame) -> list[DataFrame]:
    """Frames of one row per partition (its key) in which two stretches do not meet in the same state.

    Several, to be looked at one after the other: each has the plan of a replay in it, more than once.
    """
    replica: Sequence[str] = C.on_partition(C.REPLICA_ID)
    return [
        _not_met(parts.leader_timeline, cut, C.EVENT_TIME, C.PARTITION_KEY, _leader_state()),
        _not_met(parts.replica_timeline, cut, C.VALID_FROM, replica, F.struct(*REPLICA_STATE)),
        *_cut_again(own(parts.truncations, cut, C.EVENT_TIME)),
    ]


def _cut_again(cuts: DataFrame) -> list[DataFrame]:
    """One row per replica that is cut in two stretches, to one offset or in one epoch (`continued.unlike`)."""
    stretches = [cuts.groupBy(*key).agg(F.min(STRETCH).alias("a"), F.max(STRETCH).alias("z")) for key in _TOGETHER]
    return [ends.where(F.col("a") < F.col("z")).select(*C.PARTITION_KEY) for ends in stretches]


def _leader_state() -> Column:
    return F.struct(*LEADER_STATE, in_order(C.REMOTE_LEO_MAP).alias("remote"), C.HIGH_WATERMARK, C.EXACTNESS)


def _not_met(rows: DataFrame, cut: DataFrame, time: str, of: Sequence[str], state: Column) -> DataFrame:
    """One row per partition, or replica, whose last state before a cut differs on its two sides, or is out of order.

    Times first, states by a join: the greatest struct of a group would be found by sorting all rows.
    """
    us = F.unix_micros(time)
    hot = placed(rows, cut).where(F.col(STRETCH).isNotNull()).withColumns({"us": us, "term": _term()})

    def ends(bound: str) -> dict[str, Column]:
        up_to = F.col("us") <= F.col(bound)
        crossed = F.max(F.when(up_to, F.col("term"))) > F.min(F.when(~up_to, F.col("term")))
        return {
            f"last_{bound}": F.max(F.when(up_to, F.col("us"))),
            f"crossed_{bound}": F.coalesce(crossed, F.lit(False)),
        }

    both = ends(FROM_US) | ends(UNTIL_US)
    times = hot.groupBy(*of, STRETCH).agg(*[value.alias(name) for name, value in both.items()])
    place = F.struct(C.LEADER_EPOCH, C.EVENT_SEQ, state.alias("state"))
    known = hot.join(F.broadcast(times), [*map(str, of), STRETCH])

    def last(bound: str) -> Column:
        return F.max(F.when(F.col("us") == F.col(f"last_{bound}"), place))["state"]

    is_last = (F.col("us") == F.col(f"last_{FROM_US}")) | (F.col("us") == F.col(f"last_{UNTIL_US}"))
    states = known.where(is_last).groupBy(*of, STRETCH, f"crossed_{FROM_US}", f"crossed_{UNTIL_US}").agg(
        last(FROM_US).alias("begins"), last(UNTIL_US).alias("ends")
    )  # fmt: skip
    met = F.lag("ends").over(Window.partitionBy(*of).orderBy(STRETCH))
    differs = (F.col(STRETCH) > 0) & ~F.col("begins").eqNullSafe(met)
    crossed = F.col(f"crossed_{FROM_US}") | F.col(f"crossed_{UNTIL_US}")
    return states.withColumn("is_other", differs | crossed).where("is_other").select(*C.PARTITION_KEY)


def _term() -> Column:
    """Return the leadership as a number that rises from one to the next: leader epoch and incarnation."""
    return F.shiftleft(F.col(C.LEADER_EPOCH).cast("bigint"), 20) + incarnation_of(C.EVENT_SEQ)
