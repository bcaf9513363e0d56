"""What the timelines know between bounds only: of a value that lies there it is not said whether it was ever had."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.agreement.known_otherwise import EPOCH, OF, WHAT
from schemas import columns as C
from schemas.columns import NO_REPLICA, UNKNOWN_OFFSET
from schemas.kinds import EventType, Exactness

IS_BOUNDED = "is_bounded"
"""boolean: no line bears witness to the value."""


def with_bounded(compared: DataFrame, leaders: DataFrame, replicas: DataFrame, known: str) -> DataFrame:
    """Return the values with `is_bounded`; `known` names a column that is NULL where the value was not rebuilt."""
    bounded = compared.join(_bounds(leaders, replicas), [*map(str, OF)], "left")
    both_ways = bounded.join(_last_heard(leaders), EPOCH, "left")
    is_missing = F.col(known).isNull()
    return both_ways.withColumn(IS_BOUNDED, is_missing & (_is_within() | _was_in_flight())).drop("bounds", "last")


def by_follower(leaders: DataFrame) -> DataFrame:
    """One row per leader's row and follower, `of`, with its remote LEO, `leo`."""
    return leaders.select("*", F.explode(C.REMOTE_LEO_MAP).alias("of", "leo"))


def value_of(what: str, epoch: Column, replica: Column) -> tuple[Column, ...]:
    """Return the columns `OF` of a timeline's rows."""
    of_partition = (F.lit(what).alias(WHAT), F.col(C.TOPIC), F.col(C.PARTITION))
    return (*of_partition, epoch.cast("int").alias(C.LEADER_EPOCH), replica.alias(C.REPLICA_ID))


def _bounds(leaders: DataFrame, replicas: DataFrame) -> DataFrame:
    """One row per HW or LEO that is somewhere known between bounds only (`OF`): `bounds`, how far they reach."""
    between, any_epoch = F.col(C.EXACTNESS) == Exactness.BOUNDED.value, F.lit(C.UNKNOWN_EPOCH)
    of_leader = value_of("leader_hw", F.col(C.LEADER_EPOCH), F.lit(NO_REPLICA))
    hw = _reach(C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH)
    leo = _reach(C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH)
    # Of a follower of which nothing is known yet every value would be between bounds.
    told_hw, told_leo = F.col(C.HIGH_WATERMARK) >= 0, F.col(C.LOG_END_OFFSET) >= 0
    is_open = told_leo & (F.col(C.LOG_END_OFFSET_LOW) < F.col(C.LOG_END_OFFSET_HIGH))
    each = (
        leaders.where(between).select(*of_leader, hw),
        replicas.where(between & told_hw).select(*value_of("follower_hw", any_epoch, F.col(C.REPLICA_ID)), hw),
        replicas.where(is_open).select(*value_of("append", any_epoch, F.col(C.REPLICA_ID)), leo),
        _remotes(leaders, between).where(between).drop(C.EXACTNESS),
    )
    return reduce(DataFrame.unionByName, each).groupBy(*OF).agg(F.collect_set("reach").alias("bounds"))


def _reach(low: str, high: str) -> Column:
    return F.struct(F.col(low).alias("low"), F.col(high).alias("high")).alias("reach")


def _remotes(leaders: DataFrame, between: Column) -> DataFrame:
    """One row per remote LEO of a leader's row: it reaches to the next that a surely known row has, or to the LEO."""
    entries = by_follower(leaders)
    later = Window.partitionBy(*EPOCH, "of").orderBy(C.EVENT_SEQ).rowsBetween(1, Window.unboundedFollowing)
    known = F.when(~between & (F.col("leo") >= 0), F.col("leo"))
    until = F.coalesce(F.first(known, ignorenulls=True).over(later), F.col(C.LOG_END_OFFSET_HIGH))
    reach = F.struct(F.col("leo").alias("low"), until.alias("high")).alias("reach")
    return entries.select(*value_of("remote_leo", F.col(C.LEADER_EPOCH), F.col("of")), C.EXACTNESS, reach)


def _is_within() -> Column:
    """Return whether the value lies within the bounds of some row."""
    within = F.exists("bounds", lambda it: F.col(C.OFFSET).between(it["low"], it["high"]))
    return F.coalesce(within, F.lit(False))


def _last_heard(leaders: DataFrame) -> DataFrame:
    """One row per leader epoch whose leader's process ended: `last`, the remote LEOs and the LEO as far as is known."""
    ended = leaders.where(F.col(C.EVENT_TYPE) == EventType.RESTART.value)
    known = F.struct(F.col(C.REMOTE_LEO_MAP).alias("heard"), F.col(C.LOG_END_OFFSET).alias("leo"))
    return ended.groupBy(*EPOCH).agg(F.max_by(known, C.EVENT_SEQ).alias("last"))


def _was_in_flight() -> Column:
    """Return whether the value is a remote LEO past the last one known of a process that ended."""
    last = F.col("last")
    heard = F.coalesce(F.try_element_at(last["heard"], F.col(C.REPLICA_ID)), F.lit(UNKNOWN_OFFSET))
    is_past = (F.col(C.OFFSET) > heard) & (F.col(C.OFFSET) <= last["leo"])
    return (F.col(WHAT) == "remote_leo") & F.coalesce(is_past, F.lit(False))
