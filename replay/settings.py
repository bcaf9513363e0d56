"""min.insync.replicas over time: a setting in force changes nothing by itself, the next evaluation reads it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.columns import NO_REPLICA

MIN_ISR_SETTING = "min.insync.replicas"
CHANGES = "min_isr_changes"
"""array<struct<us,broker_id,value>>: settings of the topic, oldest first."""
DEFAULTS = "min_isr_defaults"
"""The same of the brokers, for topics without a setting of their own."""


def with_min_isr_changes(context: DataFrame, settings: DataFrame) -> DataFrame:
    """Return `context` (one row per partition and leader epoch) with the settings that bear on its min ISR."""
    change = F.struct(
        F.coalesce(F.unix_micros(C.EVENT_TIME), F.lit(0)).alias("us"),
        F.col(C.BROKER_ID),
        F.col("value"),
    )
    relevant = settings.where(F.col(C.NAME) == MIN_ISR_SETTING).withColumn(
        "value", F.expr(f"try_cast({C.VALUE} AS INT)")
    )
    every = F.sort_array(F.collect_list(change))
    # All brokers of a cluster state the same, as a rule: then one of them is enough.
    is_one = (F.size(F.collect_set("value")) == 1) & (F.count("value") == F.count("*"))
    collected = F.when(is_one, F.slice(every, 1, 1)).otherwise(every)
    of_topic = relevant.where(F.col(C.TOPIC) != "").groupBy(C.CLUSTER_ID, C.TOPIC).agg(collected.alias(CHANGES))
    of_broker = relevant.where(F.col(C.TOPIC) == "").groupBy(C.CLUSTER_ID).agg(collected.alias(DEFAULTS))
    topic: list[str] = [C.CLUSTER_ID, C.TOPIC]
    return context.join(F.broadcast(of_topic), topic, "left").join(F.broadcast(of_broker), C.CLUSTER_ID, "left")


def min_isr(at_us: Column, leader_id: Column) -> Column:
    """Return min.insync.replicas in force at the leader; the topic's, else the broker's, else Kafka's default, 1."""
    values = [_settled_or(changes, _in_force(changes, at_us, leader_id)) for changes in (CHANGES, DEFAULTS)]
    return F.coalesce(*values, F.lit(1))


def _settled_or(changes: str, value: Column) -> Column:
    """Return the one value ever set; `value`, whose lambdas are interpreted row by row, only where it varies."""
    only = F.get(F.col(changes), F.lit(0))["value"]
    return F.when(F.size(changes) == 1, only).when(F.size(changes) > 1, value)


def _in_force(changes: str, at_us: Column, leader_id: Column) -> Column:
    """Return the last value set at the leader (or cluster-wide) before `at_us`; NULL if none, or if it was removed.

    A setting first heard of later was in force before: logs begin in the middle of things.
    """
    own = F.filter(changes, lambda it: (it[C.BROKER_ID] == leader_id) | (it[C.BROKER_ID] == NO_REPLICA))
    known = F.when(F.size(own) > 0, own).otherwise(F.col(changes))
    before = F.filter(known, lambda it: it["us"] <= at_us)
    # A removed setting is a NULL value in force: the default counts again.
    return F.when(F.size(before) > 0, F.get(before, F.size(before) - 1)["value"]).otherwise(
        F.get(known, F.lit(0))["value"]
    )
