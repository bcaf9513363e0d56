"""Rebuilt against stated: what the brokers said at DEBUG and TRACE beside the timelines, value by value.

A value is compared once per leadership it belongs to. What the timelines know between bounds only is neither found nor
extra, and neither are values that a broker had for another reason than the one compared (`known_otherwise`).
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.agreement.bounded import by_follower, value_of, with_bounded
from replay.agreement.known_otherwise import AT_MS, VALUE, WHAT, known_otherwise, said, without_epoch
from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.kinds import Exactness, Method, Role

STATED_MS, REBUILT_MS = "stated_ms", "rebuilt_ms"
"""double: when the value was said, and when it is rebuilt, milliseconds since the epoch; NULL where it was not."""
TRUTH = (
    "kind string, ts bigint, broker int, topic string, partition int, epoch int, replica int,"
    " `from` bigint, `to` bigint, leo bigint"
)
"""The columns of a truth.jsonl.gz, as DDL; what they say, examples/captures/README.md."""


def agreement(
    truth: DataFrame, leaders: DataFrame, replicas: DataFrame, cuts: DataFrame, statements: DataFrame
) -> DataFrame:
    """One row per value that was stated or rebuilt: `OF`, `offset`, `stated_ms`, `rebuilt_ms` (NULL where it was not).

    `is_bounded` tells a value that no line bears witness to: a HW, of the leader or a follower, that only a bounded row
    covers, a replica's own LEO between bounds, a remote LEO of a time whose requests are lost, or one that a leader
    heard of just before its process ended.

    `truth` has the columns of a truth.jsonl.gz (kind, ts, broker, topic, partition, epoch, from, to, replica, leo);
    `statements` are `broker_statements`, the others the timelines. Internal topics are left out: their
    statements are not kept.
    """
    stated = _stated(truth).groupBy(*VALUE).agg(F.min(AT_MS).alias(STATED_MS))
    rebuilt = _rebuilt(leaders, replicas, cuts).groupBy(*VALUE).agg(F.min(AT_MS).alias(REBUILT_MS))
    both = stated.join(rebuilt, VALUE, "full")
    otherwise = known_otherwise(truth, leaders, statements).distinct().withColumn("otherwise", F.lit(True))
    known = both.join(otherwise, VALUE, "left")
    compared = known.where(F.col(STATED_MS).isNotNull() | F.col("otherwise").isNull()).drop("otherwise")
    return with_bounded(_of_what_is_said(compared, stated), leaders, replicas, REBUILT_MS)


def _of_what_is_said(compared: DataFrame, stated: DataFrame) -> DataFrame:
    """Return the values without those of appends of which their broker does not write: that depends on its release.

    One that is upgraded begins to; one that was to and did not is judged by the others.
    """
    is_append, own = F.col(WHAT) == "append", [str(WHAT), str(C.REPLICA_ID)]
    says = stated.where(is_append)
    by_any = F.broadcast(says.groupBy(WHAT).agg(F.min(STATED_MS).alias("any_since")))
    by_it = F.broadcast(says.groupBy(*own).agg(F.min(STATED_MS).alias("own_since")))
    since = F.coalesce(STATED_MS, REBUILT_MS) >= F.coalesce("own_since", "any_since")
    known = compared.join(by_any, WHAT, "left").join(by_it, own, "left")
    return known.where(~is_append | F.coalesce(since, F.lit(False))).drop("own_since", "any_since")


def _stated(truth: DataFrame) -> DataFrame:
    """One row per statement that is compared."""
    nobody, broker = F.lit(NO_REPLICA), F.col("broker")
    # Up to 2.3 the line has no `from`: it is written of a rise alone.
    rises = truth.where(F.coalesce(F.col("to") > F.col("from"), F.lit(True)))
    of_epochs = said(rises, "leader_hw", nobody).unionByName(said(truth, "remote_leo", F.col("replica")))
    whoever_leads = (
        said(truth, "follower_hw", F.col("replica")), said(truth, "append", broker), said(truth, "truncate", broker),
    )  # fmt: skip
    told = of_epochs.where(F.col(C.LEADER_EPOCH).isNotNull())
    return reduce(DataFrame.unionByName, map(without_epoch, whoever_leads), told)


def _rebuilt(leaders: DataFrame, replicas: DataFrame, cuts: DataFrame) -> DataFrame:
    """One row per value of the timelines that is compared."""

    def values(rows: DataFrame, what: str, epoch: Column, replica: Column, offset: Column, time: str) -> DataFrame:
        """One row per value: what it is, of which partition, epoch and replica, the offset, and when."""
        public = rows.where(~F.col(C.TOPIC).startswith("__"))
        at_ms = F.unix_micros(time) / 1000
        return public.select(*value_of(what, epoch, replica), offset.alias(C.OFFSET), at_ms.alias(AT_MS))

    def is_told(value: str, low: str, high: str) -> Column:
        return (F.col(low) == F.col(high)) & (F.col(value) >= 0)

    epoch, any_epoch, replica = F.col(C.LEADER_EPOCH), F.lit(C.UNKNOWN_EPOCH), F.col(C.REPLICA_ID)
    exact = leaders.where((F.col(C.EXACTNESS) != Exactness.BOUNDED.value) & (F.col(C.HIGH_WATERMARK) >= 0))
    entries = by_follower(leaders).where("leo >= 0")
    # Of a log that was shorter when it was loaded no such line tells.
    cut_by_lines = cuts.where(F.col(C.METHOD) != Method.RESTART.value)
    followers = replicas.where(F.col(C.ROLE) == Role.FOLLOWER.value)
    told_hw = followers.where(is_told(C.HIGH_WATERMARK, C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH))
    told_leo = replicas.where(is_told(C.LOG_END_OFFSET, C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH))
    # No append leaves a log empty, and up to 2.4 no line tells that one begins so.
    grown = told_leo.where(F.col(C.LOG_END_OFFSET) > 0)
    each = (
        values(entries, "remote_leo", epoch, F.col("of"), F.col("leo"), C.EVENT_TIME),
        values(told_hw, "follower_hw", any_epoch, replica, F.col(C.HIGH_WATERMARK), C.VALID_FROM),
        values(grown, "append", any_epoch, replica, F.col(C.LOG_END_OFFSET), C.VALID_FROM),
        values(cut_by_lines, "truncate", any_epoch, replica, F.col(C.TO_OFFSET), C.EVENT_TIME),
    )
    of_leaders = values(exact, "leader_hw", epoch, F.lit(NO_REPLICA), F.col(C.HIGH_WATERMARK), C.EVENT_TIME)
    return reduce(DataFrame.unionByName, each, of_leaders)
