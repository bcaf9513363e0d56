"""A replay of the tail beside the timelines that stand: what it adds to them. Whether it may, `unlike` tells."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.states.settled import Settled
from replay.timelines import Timelines
from schemas import columns as C

_REPLICA: list[str] = C.on_partition(C.REPLICA_ID)


def is_in_force(settled: Settled) -> Column:
    """Return whether a row of `replica_timeline` is in force at the moment."""
    goes_on = F.col(C.VALID_TO).isNull() | ~settled.has(C.VALID_TO)
    return settled.has(C.VALID_FROM) & goes_on


def additions(tail: Timelines, stands: Timelines, settled: Settled) -> Timelines:
    """Return what takes the place of every row after the moment, or in force then.

    `tail` is a replay of `tail.tail_of` from `settled` on, `stands` are the timelines as they stand.
    """
    return Timelines(
        leader_timeline=tail.leader_timeline.where(~settled.has(C.EVENT_TIME)),
        replica_timeline=_until_they_end(tail.replica_timeline, stands.replica_timeline, settled).unionByName(
            tail.replica_timeline.where(~settled.has(C.VALID_FROM))
        ),
        truncations=tail.truncations.where(~settled.has(C.EVENT_TIME)),
    )


def _until_they_end(tail: DataFrame, stands: DataFrame, settled: Settled) -> DataFrame:
    """One row per replica: its state at the moment as it stands, and the time to which the tail finds it lasts."""
    ends = tail.where(is_in_force(settled)).select(*_REPLICA, F.col(C.VALID_TO).alias("ends"))
    in_force = stands.where(is_in_force(settled)).join(F.broadcast(ends), _REPLICA)
    return in_force.withColumn(C.VALID_TO, F.col("ends")).select(*tail.columns)
