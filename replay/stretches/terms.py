"""Rows of stretches under their partition again, and what each stretch saw of each leadership, in one look at them all.

By the latter stretches are put together (`stitched`), and seen whether they meet (`ends`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.keep import Keep, as_it_is
from replay.sequence import incarnation_of
from replay.stretches.cut import FROM_US, UNTIL_US
from replay.stretches.requests import PART_ID, SINCE_US, STRETCH
from replay.timelines import Timelines
from schemas import columns as C

TERM = "term"
"""bigint: a leadership as a number that rises from one to the next: leader epoch and incarnation."""
_INCARNATION_BITS = 20
BOUNDS = {FROM_US: "begins", UNTIL_US: "ends"}
"""Between which a stretch has its own rows, and what the last state up to each is called."""
FIRST_OWN = "first_own"
"""timestamp: of a stretch's first own row in the leadership; NULL without one."""


@dataclass(frozen=True)
class Terms:
    """What stretches saw of each leadership, of a leader and of each replica.

    Columns: the partition key (and replica_id), stretch, `term`; by `BOUNDS`, `last_…` (bigint, microseconds) of the
    last row up to the bound, and `after_…` (boolean: some row is later).
    """

    leaders: DataFrame
    """One row per stretch and leadership; `seq_…`, by `BOUNDS`, is the event_seq of the last row up to the bound."""
    replicas: DataFrame
    """One row per stretch, replica and leadership, with `first_own`."""


def terms(parts: Timelines, cut: DataFrame, keep: Keep = as_it_is) -> Terms:
    """Return what each stretch saw; `parts` is a replay of `cut.split`."""
    replica: Sequence[str] = C.on_partition(C.REPLICA_ID)
    numbers = [F.max(F.when(_up_to(bound), F.col(C.EVENT_SEQ))).alias(f"seq_{bound}") for bound in BOUNDS]
    is_own = ~_up_to(FROM_US) & _up_to(UNTIL_US)
    first_own = F.min(F.when(is_own, F.col(C.VALID_FROM))).alias(FIRST_OWN)
    leaders = keep(terms_of(parts.leader_timeline, cut, C.EVENT_TIME, C.PARTITION_KEY, *numbers), is_small=True)
    replicas = keep(terms_of(parts.replica_timeline, cut, C.VALID_FROM, replica, first_own), is_small=True)
    # Columns of their own: what is kept has those of the rows it was made of, and is joined with.
    return Terms(leaders.toDF(*leaders.columns), replicas.toDF(*replicas.columns))


def terms_of(rows: DataFrame, cut: DataFrame, time: str, of: Sequence[str], *besides: Column) -> DataFrame:
    """One row per `of`, stretch and term: when the last row up to each bound was, and whether there is one after it."""
    return timed(rows, cut, time).groupBy(*of, STRETCH, TERM).agg(
        *[F.max(F.when(_up_to(bound), F.col("us"))).alias(f"last_{bound}") for bound in BOUNDS],
        *[F.bool_or(~_up_to(bound)).alias(f"after_{bound}") for bound in BOUNDS],
        *besides,
    )  # fmt: skip


def _up_to(bound: str) -> Column:
    return F.col("us") <= F.col(bound)


def term() -> Column:
    """Return `TERM` of a row of a timeline."""
    return F.shiftleft(F.col(C.LEADER_EPOCH).cast("bigint"), _INCARNATION_BITS) + incarnation_of(C.EVENT_SEQ)


def epoch_of(term: str) -> Column:
    """Return the leader epoch of a `TERM`."""
    return F.shiftright(F.col(term), _INCARNATION_BITS)


def timed(rows: DataFrame, cut: DataFrame, time: str) -> DataFrame:
    """Return the rows of hot partitions with their time in microseconds, `us`, and their leadership, `term`."""
    hot = placed(rows, cut).where(F.col(STRETCH).isNotNull())
    return hot.withColumns({"us": F.unix_micros(time), TERM: term()})


def placed(rows: DataFrame, known: DataFrame, *by: str) -> DataFrame:
    """Return the rows under their partition's own topic id, with their stretch and its bounds; NULL where not hot.

    `known` is `cut.stretches`, or that with a row for each value of the columns `by`, and what is known of it.
    """
    bounds = known.drop(SINCE_US).withColumnRenamed(C.TOPIC_ID, "whole_id")
    part = (C.CLUSTER_ID, C.TOPIC, C.PARTITION, PART_ID, *by)
    under = rows.withColumnRenamed(C.TOPIC_ID, PART_ID)
    joined = under.join(F.broadcast(bounds), [*map(str, part)], "left")
    return joined.withColumn(C.TOPIC_ID, F.coalesce("whole_id", PART_ID)).drop("whole_id", PART_ID)


def own(rows: DataFrame, known: DataFrame, time: str, *by: str) -> DataFrame:
    """Return the rows that are of their stretch's own time, and all of a partition that is not cut, as `placed`."""
    us = F.unix_micros(time)
    is_own = (us > F.col(FROM_US)) & (us <= F.col(UNTIL_US))
    return placed(rows, known, *by).where(F.col(STRETCH).isNull() | is_own)
