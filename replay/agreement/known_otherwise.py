"""What brokers said at DEBUG and TRACE, as values of their timelines, and what else they say of a value.

A broker has some values for another reason than the one that is compared: a HW it began with or loaded, the remote LEOs
a re-elected leader kept. Rebuilt, they are right, though no statement of their kind tells them.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.statements import is_of
from replay.states.begins import begins
from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.kinds import StatementKind

WHAT = "what"
"""string: leader_hw, remote_leo, follower_hw, append or truncate, as the statements call it."""
AT_MS = "at_ms"
"""double: when, milliseconds since the epoch, on the clock of the broker that said it."""
OF = (WHAT, C.TOPIC, C.PARTITION, C.LEADER_EPOCH, C.REPLICA_ID)
VALUE = [*map(str, OF), str(C.OFFSET)]
EPOCH = [str(C.TOPIC), str(C.PARTITION), str(C.LEADER_EPOCH)]


def said(truth: DataFrame, kind: str, replica: Column, value: str = "to", what: str = "") -> DataFrame:
    """One row per statement of a kind: what it is compared as, of which replica, `offset` and `at_ms`."""
    return truth.where((F.col("kind") == kind) & F.col(value).isNotNull()).select(
        F.lit(what or kind).alias(WHAT), C.TOPIC, C.PARTITION,
        F.col("epoch").cast("int").alias(C.LEADER_EPOCH), replica.cast("int").alias(C.REPLICA_ID),
        F.col(value).alias(C.OFFSET), F.col("ts").cast("double").alias(AT_MS),
    )  # fmt: skip


def without_epoch(values: DataFrame) -> DataFrame:
    """Return the values as those of no epoch: a replica's own HW and its cuts are compared whoever leads."""
    return values.withColumn(C.LEADER_EPOCH, F.lit(-1))


def known_otherwise(truth: DataFrame, leaders: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per value (`VALUE`) that a broker had for another reason.

    `leaders` is `leader_timeline`, `statements` is `broker_statements`.
    """
    nobody, broker = F.lit(NO_REPLICA), F.col("broker")
    began = said(truth, "become_leader", nobody, what="leader_hw").unionByName(
        said(truth, "leader_hw", nobody, value="from", what="leader_hw")
    )
    had = said(truth, "leader_hw", broker, value="from", what="follower_hw")
    for kind in ("loaded", "become_follower", "become_leader", "leader_hw", "truncate"):
        had = had.unionByName(said(truth, kind, broker, what="follower_hw"))
    ends = said(truth, "truncate", broker, what="append")
    for kind in ("become_follower", "become_leader"):
        ends = ends.unionByName(said(truth, kind, broker, value="leo", what="append"))
    other = began.unionByName(without_epoch(had.unionByName(ends))).unionByName(_kept(truth, leaders))
    return other.select(*VALUE).unionByName(_brought(truth, leaders)).unionByName(_begun_anew(statements))


def _begun_anew(statements: DataFrame) -> DataFrame:
    """One row per end and HW of a log that was given up and begun anew (UL:2278): the line is at INFO alone."""
    return statements.where(is_of(StatementKind.TRUNCATED_FULLY_AT)).select(
        F.explode(F.array(F.lit("follower_hw"), F.lit("append"))).alias(WHAT), C.TOPIC, C.PARTITION,
        F.lit(C.UNKNOWN_EPOCH).alias(C.LEADER_EPOCH), F.col(C.BROKER_ID).alias(C.REPLICA_ID), C.OFFSET,
    )  # fmt: skip


def _brought(truth: DataFrame, leaders: DataFrame) -> DataFrame:
    """One row per HW that a leader began with, and had stated or loaded before: no line of its own (before 2.4.1)."""
    kinds = ("follower_hw", "leader_hw", "loaded")
    stated = reduce(DataFrame.unionByName, [said(truth, kind, F.col("broker")) for kind in kinds])
    of_leader = leaders.where(begins()).select(
        *EPOCH, F.col(C.LEADER_ID).alias(C.REPLICA_ID), F.col(C.HIGH_WATERMARK).alias(C.OFFSET)
    )
    had = of_leader.join(stated, [*map(str, (C.TOPIC, C.PARTITION, C.REPLICA_ID, C.OFFSET))], "left_semi")
    return had.select(F.lit("leader_hw").alias(WHAT), *EPOCH, F.lit(NO_REPLICA).alias(C.REPLICA_ID), C.OFFSET)


def _kept(truth: DataFrame, leaders: DataFrame) -> DataFrame:
    """One row per remote LEO that a leader re-elected, with nobody else in between, had stated before."""
    runs = _runs(leaders)
    later = runs.withColumnsRenamed({C.LEADER_EPOCH: "later", C.LEADER_ID: "leads"})
    again = F.col("later") > F.col(C.LEADER_EPOCH)
    kept = runs.join(later, [C.TOPIC, C.PARTITION, "run"]).where(again).select(*EPOCH, "later")
    stated = said(truth, "remote_leo", F.col("replica")).join(kept, EPOCH)
    return stated.withColumn(C.LEADER_EPOCH, F.col("later")).drop("later")


def _runs(leaders: DataFrame) -> DataFrame:
    """One row per leader and epoch with `run`: it grows where another led before; of some epochs nobody is told."""
    led = leaders.select(*EPOCH, C.LEADER_ID).distinct()
    in_order = Window.partitionBy(C.TOPIC, C.PARTITION).orderBy(C.LEADER_EPOCH, C.LEADER_ID)
    is_another = (~F.lag(C.LEADER_ID).over(in_order).eqNullSafe(F.col(C.LEADER_ID))).cast("int")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return led.withColumn("another", is_another).withColumn("run", F.sum("another").over(so_far)).drop("another")
