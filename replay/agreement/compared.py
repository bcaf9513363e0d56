"""Rebuilt against stated: what the brokers said at DEBUG and TRACE beside the timelines, value by value.

A value is compared once per leadership it belongs to. What the timelines know between bounds only is neither found nor
extra, and neither are values that a broker had for another reason than the one compared (`known_otherwise`).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.agreement.known_otherwise import AT_MS, EPOCH, OF, VALUE, WHAT, known_otherwise, said, without_epoch
from schemas import columns as C
from schemas.columns import NO_REPLICA, UNKNOWN_OFFSET
from schemas.kinds import EventType, Exactness, Method, Role

STATED_MS, REBUILT_MS = "stated_ms", "rebuilt_ms"
"""double: when the value was said, and when it is rebuilt, milliseconds since the epoch; NULL where it was not."""
IS_BOUNDED = "is_bounded"
"""boolean: no line bears witness to the value."""
TRUTH = (
    "kind string, ts bigint, broker int, topic string, partition int, epoch int, replica int,"
    " `from` bigint, `to` bigint"
)
"""The columns of a truth.jsonl.gz, as DDL; what they say, examples/captures/README.md."""


def agreement(
    truth: DataFrame, leaders: DataFrame, replicas: DataFrame, cuts: DataFrame, statements: DataFrame
) -> DataFrame:
    """One row per value that was stated or rebuilt: `OF`, `offset`, `stated_ms`, `rebuilt_ms` (NULL where it was not).

    `is_bounded` tells a value that no line bears witness to: a HW, of the leader or a follower, that only a bounded row
    covers, a remote LEO of a time whose requests are lost, or one that a leader heard of just before its process ended.

    `truth` has the columns of a truth.jsonl.gz (kind, ts, broker, topic, partition, epoch, from, to, replica);
    `statements` are `broker_statements`, the others the timelines. Internal topics are left out: their
    statements are not kept.
    """
    stated = _stated(truth).groupBy(*VALUE).agg(F.min(AT_MS).alias(STATED_MS))
    rebuilt = _rebuilt(leaders, replicas, cuts).groupBy(*VALUE).agg(F.min(AT_MS).alias(REBUILT_MS))
    both = stated.join(rebuilt, VALUE, "full")
    otherwise = known_otherwise(truth, leaders, statements).distinct().withColumn("otherwise", F.lit(True))
    known = both.join(otherwise, VALUE, "left")
    compared = known.where(F.col(STATED_MS).isNotNull() | F.col("otherwise").isNull()).drop("otherwise")
    bounded = compared.join(_bounds(leaders, replicas), [*map(str, OF)], "left")
    both_ways = bounded.join(_last_heard(leaders), EPOCH, "left")
    return both_ways.withColumn(IS_BOUNDED, _is_bounded() | _was_in_flight()).drop("bounds", "last")


def _bounds(leaders: DataFrame, replicas: DataFrame) -> DataFrame:
    """One row per HW or remote LEO that is somewhere known between bounds only (`OF`): `bounds`, how far they reach."""
    reach = F.struct(F.col(C.HIGH_WATERMARK_LOW).alias("low"), F.col(C.HIGH_WATERMARK_HIGH).alias("high"))
    rows = (C.EXACTNESS, reach.alias("reach"))
    of_leaders = leaders.select(*_of("leader_hw", F.col(C.LEADER_EPOCH), F.lit(NO_REPLICA)), *rows)
    of_followers = replicas.select(*_of("follower_hw", F.lit(C.UNKNOWN_EPOCH), F.col(C.REPLICA_ID)), *rows)
    bounded = of_leaders.unionByName(of_followers).unionByName(_remotes(leaders)).where(_is_between())
    return bounded.groupBy(*OF).agg(F.collect_set("reach").alias("bounds"))


def _is_between() -> Column:
    return F.col(C.EXACTNESS) == Exactness.BOUNDED.value


def _remotes(leaders: DataFrame) -> DataFrame:
    """One row per remote LEO of a leader's row: it reaches to the next that a surely known row has, or to the LEO."""
    entries = _by_follower(leaders)
    later = Window.partitionBy(*EPOCH, "of").orderBy(C.EVENT_SEQ).rowsBetween(1, Window.unboundedFollowing)
    known = F.when(~_is_between() & (F.col("leo") >= 0), F.col("leo"))
    until = F.coalesce(F.first(known, ignorenulls=True).over(later), F.col(C.LOG_END_OFFSET_HIGH))
    reach = F.struct(F.col("leo").alias("low"), until.alias("high")).alias("reach")
    return entries.select(*_of("remote_leo", F.col(C.LEADER_EPOCH), F.col("of")), C.EXACTNESS, reach)


def _by_follower(leaders: DataFrame) -> DataFrame:
    """One row per leader's row and follower, `of`, with its remote LEO, `leo`."""
    return leaders.select("*", F.explode(C.REMOTE_LEO_MAP).alias("of", "leo"))


def _of(what: str, epoch: Column, replica: Column) -> tuple[Column, ...]:
    """Return the columns `OF` of a timeline's rows."""
    of_partition = (F.lit(what).alias(WHAT), F.col(C.TOPIC), F.col(C.PARTITION))
    return (*of_partition, epoch.cast("int").alias(C.LEADER_EPOCH), replica.alias(C.REPLICA_ID))


def _is_bounded() -> Column:
    """Return whether the value was not rebuilt, but lies within the bounds of some row."""
    within = F.exists("bounds", lambda it: F.col(C.OFFSET).between(it["low"], it["high"]))
    return F.col(REBUILT_MS).isNull() & F.coalesce(within, F.lit(False))


def _last_heard(leaders: DataFrame) -> DataFrame:
    """One row per leader epoch whose leader's process ended: `last`, the remote LEOs and the LEO as far as is known."""
    ended = leaders.where(F.col(C.EVENT_TYPE) == EventType.RESTART.value)
    known = F.struct(F.col(C.REMOTE_LEO_MAP).alias("heard"), F.col(C.LOG_END_OFFSET).alias("leo"))
    return ended.groupBy(*EPOCH).agg(F.max_by(known, C.EVENT_SEQ).alias("last"))


def _was_in_flight() -> Column:
    """Return whether the value is a remote LEO, not rebuilt, past the last one known of a process that ended."""
    last = F.col("last")
    heard = F.coalesce(F.try_element_at(last["heard"], F.col(C.REPLICA_ID)), F.lit(UNKNOWN_OFFSET))
    missing = (F.col(WHAT) == "remote_leo") & F.col(REBUILT_MS).isNull()
    return missing & F.coalesce((F.col(C.OFFSET) > heard) & (F.col(C.OFFSET) <= last["leo"]), F.lit(False))


def _stated(truth: DataFrame) -> DataFrame:
    """One row per statement that is compared."""
    nobody = F.lit(NO_REPLICA)
    # Up to 2.3 the line has no `from`: it is written of a rise alone.
    rises = truth.where(F.coalesce(F.col("to") > F.col("from"), F.lit(True)))
    return (
        said(rises, "leader_hw", nobody)
        .unionByName(said(truth, "remote_leo", F.col("replica")))
        .where(F.col(C.LEADER_EPOCH).isNotNull())
        .unionByName(without_epoch(said(truth, "follower_hw", F.col("replica"))))
        .unionByName(without_epoch(said(truth, "truncate", F.col("broker"))))
    )


def _rebuilt(leaders: DataFrame, replicas: DataFrame, cuts: DataFrame) -> DataFrame:
    """One row per value of the timelines that is compared."""

    def values(rows: DataFrame, what: str, epoch: Column, replica: Column, offset: Column, time: str) -> DataFrame:
        """One row per value: what it is, of which partition, epoch and replica, the offset, and when."""
        public = rows.where(~F.col(C.TOPIC).startswith("__"))
        at_ms = F.unix_micros(time) / 1000
        return public.select(*_of(what, epoch, replica), offset.alias(C.OFFSET), at_ms.alias(AT_MS))

    epoch, any_epoch = F.col(C.LEADER_EPOCH), F.lit(C.UNKNOWN_EPOCH)
    exact = leaders.where((F.col(C.EXACTNESS) != Exactness.BOUNDED.value) & (F.col(C.HIGH_WATERMARK) >= 0))
    entries = _by_follower(leaders).where("leo >= 0")
    # Of a log that was shorter when it was loaded no such line tells.
    cut_by_lines = cuts.where(F.col(C.METHOD) != Method.RESTART.value)
    is_told = (F.col(C.HIGH_WATERMARK_LOW) == F.col(C.HIGH_WATERMARK_HIGH)) & (F.col(C.HIGH_WATERMARK) >= 0)
    followers = replicas.where((F.col(C.ROLE) == Role.FOLLOWER.value) & is_told)
    return (
        values(exact, "leader_hw", epoch, F.lit(NO_REPLICA), F.col(C.HIGH_WATERMARK), C.EVENT_TIME)
        .unionByName(values(entries, "remote_leo", epoch, F.col("of"), F.col("leo"), C.EVENT_TIME))
        .unionByName(
            values(followers, "follower_hw", any_epoch, F.col(C.REPLICA_ID), F.col(C.HIGH_WATERMARK), C.VALID_FROM)
        )
        .unionByName(values(cut_by_lines, "truncate", any_epoch, F.col(C.REPLICA_ID), F.col(C.TO_OFFSET), C.EVENT_TIME))
    )
