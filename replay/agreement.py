"""Rebuilt against stated: what the brokers said at DEBUG and TRACE beside the timelines, value by value.

A value is compared once per leadership it belongs to. What the timelines know between bounds only is neither found nor
extra, and neither are values that a broker had for another reason than the one compared: a HW it began with or loaded,
the remote LEOs a re-elected leader kept.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.kinds import Exactness, Method, Role

WHAT = "what"
"""string: leader_hw, remote_leo, follower_hw or truncate, as the statements call it."""
AT_MS = "at_ms"
"""double: when, milliseconds since the epoch, on the clock of the broker that said it."""
OF = (WHAT, C.TOPIC, C.PARTITION, C.LEADER_EPOCH, C.REPLICA_ID)
_VALUE = [*map(str, OF), str(C.OFFSET)]
_EPOCH = [str(C.TOPIC), str(C.PARTITION), str(C.LEADER_EPOCH)]


def agreement(truth: DataFrame, leaders: DataFrame, replicas: DataFrame, cuts: DataFrame) -> DataFrame:
    """One row per value that was stated or rebuilt: `OF`, `offset`, `stated_ms`, `rebuilt_ms` (NULL where it was not).

    `is_bounded` tells a step of the HW that only a bounded row covers: no line bears witness to it.

    `truth` has the columns of a truth.jsonl.gz (kind, ts, broker, topic, partition, epoch, from, to, replica); the
    others are the timelines. Internal topics are left out: their statements are not kept.
    """
    stated = _stated(truth).groupBy(*_VALUE).agg(F.min(AT_MS).alias("stated_ms"))
    rebuilt = _rebuilt(leaders, replicas, cuts).groupBy(*_VALUE).agg(F.min(AT_MS).alias("rebuilt_ms"))
    both = stated.join(rebuilt, _VALUE, "full")
    otherwise = _known_otherwise(truth, leaders).distinct().withColumn("otherwise", F.lit(True))
    known = both.join(otherwise, _VALUE, "left")
    compared = known.where(F.col("stated_ms").isNotNull() | F.col("otherwise").isNull()).drop("otherwise")
    return compared.join(_bounds(leaders), _EPOCH, "left").withColumn("is_bounded", _is_bounded()).drop("bounds")


def _bounds(leaders: DataFrame) -> DataFrame:
    """One row per leader epoch with bounded rows: `bounds`, from where to where they reach."""
    bounded = leaders.where(F.col(C.EXACTNESS) == Exactness.BOUNDED.value)
    reach = F.struct(F.col(C.HIGH_WATERMARK_LOW).alias("low"), F.col(C.HIGH_WATERMARK_HIGH).alias("high"))
    return bounded.groupBy(*_EPOCH).agg(F.collect_set(reach).alias("bounds"))


def _is_bounded() -> Column:
    """Return whether the value is a step of the HW that was not rebuilt, but lies within the bounds of some row."""
    within = F.exists("bounds", lambda it: F.col(C.OFFSET).between(it["low"], it["high"]))
    missing = (F.col(WHAT) == "leader_hw") & F.col("rebuilt_ms").isNull()
    return missing & F.coalesce(within, F.lit(False))


def summary(values: DataFrame) -> DataFrame:
    """One row per kind of value and partition: how many were stated, found, bounded, missing, extra; time error, ms."""
    stated, rebuilt = F.col("stated_ms").isNotNull(), F.col("rebuilt_ms").isNotNull()
    bounded = stated & F.col("is_bounded")
    error = F.abs(F.col("rebuilt_ms") - F.col("stated_ms"))
    return values.groupBy(WHAT, C.TOPIC, C.PARTITION).agg(
        F.count_if(stated).alias("stated"),
        F.count_if(stated & rebuilt).alias("found"),
        F.count_if(bounded).alias("bounded"),
        F.count_if(stated & ~rebuilt & ~bounded).alias("missing"),
        F.count_if(rebuilt & ~stated).alias("extra"),
        F.percentile(error, F.lit(0.5)).alias("p50_ms"),
        F.percentile(error, F.lit(0.99)).alias("p99_ms"),
    )


def _said(truth: DataFrame, kind: str, replica: Column, value: str = "to", what: str = "") -> DataFrame:
    return truth.where((F.col("kind") == kind) & F.col(value).isNotNull()).select(
        F.lit(what or kind).alias(WHAT), C.TOPIC, C.PARTITION,
        F.col("epoch").cast("int").alias(C.LEADER_EPOCH), replica.cast("int").alias(C.REPLICA_ID),
        F.col(value).alias(C.OFFSET), F.col("ts").cast("double").alias(AT_MS),
    )  # fmt: skip


def _without_epoch(values: DataFrame) -> DataFrame:
    return values.withColumn(C.LEADER_EPOCH, F.lit(-1))


def _stated(truth: DataFrame) -> DataFrame:
    """One row per statement that is compared."""
    nobody = F.lit(NO_REPLICA)
    rises = truth.where(F.col("to") > F.col("from"))
    return (
        _said(rises, "leader_hw", nobody)
        .unionByName(_said(truth, "remote_leo", F.col("replica")))
        .where(F.col(C.LEADER_EPOCH).isNotNull())
        .unionByName(_without_epoch(_said(truth, "follower_hw", F.col("replica"))))
        .unionByName(_without_epoch(_said(truth, "truncate", F.col("broker"))))
    )


def _rebuilt(leaders: DataFrame, replicas: DataFrame, cuts: DataFrame) -> DataFrame:
    """One row per value of the timelines that is compared."""

    def values(rows: DataFrame, what: str, epoch: Column, replica: Column, offset: Column, time: str) -> DataFrame:
        public = rows.where(~F.col(C.TOPIC).startswith("__"))
        return public.select(
            F.lit(what).alias(WHAT), C.TOPIC, C.PARTITION, epoch.cast("int").alias(C.LEADER_EPOCH),
            replica.alias(C.REPLICA_ID), offset.alias(C.OFFSET), (F.unix_micros(time) / 1000).alias(AT_MS),
        )  # fmt: skip

    epoch, any_epoch = F.col(C.LEADER_EPOCH), F.lit(-1)
    exact = leaders.where((F.col(C.EXACTNESS) != Exactness.BOUNDED.value) & (F.col(C.HIGH_WATERMARK) >= 0))
    entries = leaders.select("*", F.explode(C.REMOTE_LEO_MAP).alias("of", "leo")).where("leo >= 0")
    # A log given up whole is told by another line than that of a truncation.
    parts = cuts.where(F.col(C.METHOD) != Method.FULL.value)
    followers = replicas.where((F.col(C.ROLE) == Role.FOLLOWER.value) & (F.col(C.HIGH_WATERMARK) >= 0))
    return (
        values(exact, "leader_hw", epoch, F.lit(NO_REPLICA), F.col(C.HIGH_WATERMARK), C.EVENT_TIME)
        .unionByName(values(entries, "remote_leo", epoch, F.col("of"), F.col("leo"), C.EVENT_TIME))
        .unionByName(
            values(followers, "follower_hw", any_epoch, F.col(C.REPLICA_ID), F.col(C.HIGH_WATERMARK), C.VALID_FROM)
        )
        .unionByName(values(parts, "truncate", any_epoch, F.col(C.REPLICA_ID), F.col(C.TO_OFFSET), C.EVENT_TIME))
    )


def _known_otherwise(truth: DataFrame, leaders: DataFrame) -> DataFrame:
    """One row per value that a broker had for another reason."""
    nobody, broker = F.lit(NO_REPLICA), F.col("broker")
    began = _said(truth, "become_leader", nobody, what="leader_hw").unionByName(
        _said(truth, "leader_hw", nobody, value="from", what="leader_hw")
    )
    had = _said(truth, "leader_hw", broker, value="from", what="follower_hw")
    for kind in ("loaded", "become_follower", "become_leader", "leader_hw", "truncate"):
        had = had.unionByName(_said(truth, kind, broker, what="follower_hw"))
    other = began.unionByName(_without_epoch(had)).unionByName(_kept(truth, leaders))
    return other.select(*_VALUE)


def _kept(truth: DataFrame, leaders: DataFrame) -> DataFrame:
    """One row per remote LEO that a leader re-elected, with nobody else in between, had stated before."""
    runs = _runs(leaders)
    later = runs.withColumnsRenamed({C.LEADER_EPOCH: "later", C.LEADER_ID: "leads"})
    again = F.col("later") > F.col(C.LEADER_EPOCH)
    kept = runs.join(later, [C.TOPIC, C.PARTITION, "run"]).where(again).select(*_EPOCH, "later")
    stated = _said(truth, "remote_leo", F.col("replica")).join(kept, _EPOCH)
    return stated.withColumn(C.LEADER_EPOCH, F.col("later")).drop("later")


def _runs(leaders: DataFrame) -> DataFrame:
    """One row per leader and epoch with `run`: it grows where another led before; of some epochs nobody is told."""
    led = leaders.select(*_EPOCH, C.LEADER_ID).distinct()
    in_order = Window.partitionBy(C.TOPIC, C.PARTITION).orderBy(C.LEADER_EPOCH, C.LEADER_ID)
    is_another = (~F.lag(C.LEADER_ID).over(in_order).eqNullSafe(F.col(C.LEADER_ID))).cast("int")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return led.withColumn("another", is_another).withColumn("run", F.sum("another").over(so_far)).drop("another")
