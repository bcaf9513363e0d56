"""min.insync.replicas over time: a setting in force changes nothing by itself, the next evaluation reads it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.events.leaderships import START_US
from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.kinds import StatementKind

MIN_ISR_SETTING = "min.insync.replicas"
UNKNOWN_MIN_ISR = -1
CHANGES = "min_isr_changes"
"""array<struct<us,broker_id,value>>: settings of the topic, oldest first."""
DEFAULTS = "min_isr_defaults"
"""The same of the brokers, for topics without a setting of their own."""
STARTS = "broker_starts"
"""map<int,bigint>: when the process of a broker first started, as far as lines tell, microseconds."""

SOON_US = 10_000_000
"""All brokers have told of a change within that."""
BEFORE_ALL_US = -1
"""Time of what was in force before the first line that tells of a change."""
STARTING_US = 60_000_000
"""A process tells of its settings after the line of its start, or before it: not longer than that."""


def with_min_isr_changes(context: DataFrame, settings: DataFrame, statements: DataFrame) -> DataFrame:
    """Return `context` (`leaderships.with_context`) with what bears on its min ISR, and `broker_starts`."""
    change = F.struct(
        F.coalesce(F.unix_micros(C.EVENT_TIME), F.lit(0)).alias("us"),
        F.col(C.BROKER_ID),
        F.col("value"),
    )
    relevant = told_min_isrs(settings)
    every = F.sort_array(F.collect_list(change))
    of_topic = relevant.where(F.col(C.TOPIC) != "").groupBy(C.CLUSTER_ID, C.TOPIC).agg(every.alias(CHANGES))
    of_broker = relevant.where(F.col(C.TOPIC) == "").groupBy(C.CLUSTER_ID).agg(every.alias(DEFAULTS))
    topic: list[str] = [C.CLUSTER_ID, C.TOPIC]
    of_cluster = of_broker.join(_first_starts(statements), C.CLUSTER_ID, "full")
    told = context.join(F.broadcast(of_topic), topic, "left").join(F.broadcast(of_cluster), C.CLUSTER_ID, "left")
    return told.withColumns({changes: _from_the_beginning(changes) for changes in (CHANGES, DEFAULTS)})


def told_min_isrs(settings: DataFrame) -> DataFrame:
    """One row per line of `settings` that tells min.insync.replicas, as a number: NULL where it is removed."""
    return settings.where(F.col(C.NAME) == MIN_ISR_SETTING).withColumn("value", F.expr(f"try_cast({C.VALUE} AS INT)"))


def _first_starts(statements: DataFrame) -> DataFrame:
    """One row per cluster: `broker_starts`."""
    started = statements.where(F.col(C.KIND) == StatementKind.PROCESS_STARTING.value)
    first = started.groupBy(C.CLUSTER_ID, C.BROKER_ID).agg(F.min(F.unix_micros(C.EVENT_TIME)).alias("us"))
    entries = F.collect_list(F.struct(C.BROKER_ID, "us"))
    return first.groupBy(C.CLUSTER_ID).agg(F.map_from_entries(entries).alias(STARTS))


def _from_the_beginning(changes: str) -> Column:
    """Return the settings with what was before the first that a line tells, where that was another.

    A process tells of a setting as it starts, and then it was in force before; or because it was changed, and then it
    was another: none, if some process had started before without a word of it, else unknown.
    """
    every, first_us = F.col(changes), F.get(changes, F.lit(0))["us"]
    begun_us = F.get("incarnations", F.lit(0))[START_US]
    soon = F.filter(every, lambda it: (it["us"] <= first_us + SOON_US) & (it[C.BROKER_ID] != NO_REPLICA))
    starting = F.forall(soon, lambda it: F.try_element_at(F.col(STARTS), it[C.BROKER_ID]) <= it["us"] + STARTING_US)
    is_of_start = (F.size(soon) > 0) & F.coalesce(starting, F.lit(False))
    has_started = F.coalesce(F.array_min(F.map_values(STARTS)) < first_us, F.lit(False))
    before = F.struct(
        F.lit(BEFORE_ALL_US).cast("bigint").alias("us"),
        F.lit(NO_REPLICA).alias(C.BROKER_ID),
        F.when(~has_started, UNKNOWN_MIN_ISR).alias("value"),
    )
    # All brokers of a cluster state the same, as a rule: then one of them is enough.
    is_one = F.size(F.array_distinct(F.transform(every, lambda it: it["value"]))) == 1
    told = F.when(is_one & F.get(every, F.lit(0))["value"].isNotNull(), F.slice(every, 1, 1)).otherwise(every)
    return F.when((first_us > begun_us) & ~is_of_start, F.concat(F.array(before), told)).otherwise(told)


def min_isr(at_us: Column, leader_id: Column) -> Column:
    """Return min.insync.replicas in force at the leader: the topic's, else the broker's; -1 where no line tells.

    A broker that starts tells all of its settings, the defaults too.
    """
    of_topic = F.when(~_is_before_any(at_us, leader_id), _settled_or(CHANGES, _in_force(CHANGES, at_us, leader_id)))
    return F.coalesce(of_topic, _settled_or(DEFAULTS, _in_force(DEFAULTS, at_us, leader_id)), F.lit(UNKNOWN_MIN_ISR))


def _is_before_any(at_us: Column, leader_id: Column) -> Column:
    """Return whether the leader's process had started without a word of the topic's settings: then it has none yet.

    A process that starts tells of all topics that have settings of their own (`DynamicConfigPublisher`), before it
    leads: what it first tells of later was set later.
    """
    first_told = F.get(F.col(CHANGES), F.lit(0))["us"]
    started = F.try_element_at(F.col(STARTS), leader_id)
    return F.coalesce((at_us < first_told) & (started <= at_us), F.lit(False))


def _settled_or(changes: str, value: Column) -> Column:
    """Return the one value ever set; `value`, whose lambdas are interpreted row by row, only where it varies."""
    only = F.get(F.col(changes), F.lit(0))["value"]
    return F.when(F.size(changes) == 1, only).when(F.size(changes) > 1, value)


def _in_force(changes: str, at_us: Column, leader_id: Column) -> Column:
    """Return the last value set at the leader (or cluster-wide) before `at_us`; NULL if none, or if it was removed.

    A setting that a process first tells of as it starts was in force before: logs begin in the middle of things.
    """
    told = F.filter(changes, lambda it: it["us"] > BEFORE_ALL_US)
    own = F.filter(told, lambda it: (it[C.BROKER_ID] == leader_id) | (it[C.BROKER_ID] == NO_REPLICA))
    known = F.when(F.size(own) > 0, own).otherwise(told)
    before = F.filter(known, lambda it: it["us"] <= at_us)
    oldest = F.get(F.col(changes), F.lit(0))
    first = F.when(oldest["us"] == BEFORE_ALL_US, oldest).otherwise(F.get(known, F.lit(0)))
    # A removed setting is a NULL value in force: the default counts again.
    return F.when(F.size(before) > 0, F.get(before, F.size(before) - 1)).otherwise(first)["value"]
