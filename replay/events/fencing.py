"""Fencing as events of the partitions it bears on: a fenced replica, or one shutting down, may not join the ISR.

The metadata log tells of brokers, once; each leadership gets a row at its begin and one a change while it lasts.
Source: `Partition.isReplicaIsrEligible` (P:1056); one that registered anew is not eligible before it fetches again, for
the leader has only its old broker epoch.

The record's time is the controller's clock, and the leader applies it some time later. But it applies records in the
order of their offsets (`BrokerMetadataPublisher`): between a change of its partition that came by metadata, and the
next, lies what lies between their records.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.events.leaderships import START_US
from replay.names import INCARNATION
from schemas import columns as C
from schemas.kinds import ChangeKind

FENCED = "fenced"
"""array<int>: the brokers that are fenced or shutting down from the event on."""
REGISTERED = "registered"
"""array<int>: the brokers that registered under another broker epoch (a new process) with the event."""
AT_US = "at_us"
_APPLIED = "applied"
"""array<struct<broker_id,us,metadata_offset>>: records of the partition, and when whose broker applied them."""


def fencings(
    begun: DataFrame, registrations: DataFrame, leader_changes: DataFrame, metadata_changes: DataFrame
) -> DataFrame:
    """One row per leadership, and per registration during it: partition key, epoch, leader, `at_us`, `fenced`."""
    history, applied = _history(registrations), _applied(leader_changes, metadata_changes)
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, INCARNATION)
    lasting = begun.withColumn("end_us", F.lead(START_US).over(in_order))
    told = lasting.join(F.broadcast(history), C.CLUSTER_ID).join(F.broadcast(applied), C.on_partition(), "left")
    known = told.withColumn("history", F.sort_array(F.transform("history", _in_time)))
    during = F.filter(
        F.transform("history", lambda it: it["us"]),
        lambda us: (us > F.col(START_US)) & (F.col("end_us").isNull() | (us < F.col("end_us"))),
    )
    each = known.withColumn(AT_US, F.explode(F.array_union(F.array(F.col(START_US)), during)))
    anew = F.filter("history", lambda it: (it["us"] == F.col(AT_US)) & it["is_new"])
    return each.withColumns(
        {FENCED: _fenced_at(F.col(AT_US)), REGISTERED: F.transform(anew, lambda it: it[C.BROKER_ID])}
    ).select(*C.PARTITION_KEY, C.LEADER_EPOCH, F.col(C.LEADER_ID).alias(C.BROKER_ID), AT_US, FENCED, REGISTERED)


def _history(registrations: DataFrame) -> DataFrame:
    """One row per cluster: `history`, what its metadata log says of brokers, in order."""
    of_broker = Window.partitionBy(C.CLUSTER_ID, C.BROKER_ID).orderBy(C.METADATA_OFFSET)
    is_new = F.coalesce(F.col(C.BROKER_EPOCH) != F.lag(C.BROKER_EPOCH).over(of_broker), F.lit(False))
    change = F.struct(F.unix_micros(C.EVENT_TIME).alias("us"), C.METADATA_OFFSET, C.BROKER_ID, C.IS_FENCED, "is_new")
    told = registrations.withColumn("is_new", is_new)
    return told.groupBy(C.CLUSTER_ID).agg(F.sort_array(F.collect_list(change)).alias("history"))


def _applied(leader_changes: DataFrame, metadata_changes: DataFrame) -> DataFrame:
    """One row per partition: `applied`, in no order; a change that a leader asked for itself is told it before.

    Of what a broker applied twice the first time counts: started again, it applies all that it has missed at once, and
    what it had asked for itself.
    """
    by_metadata = F.col(C.CHANGE_KIND).isin(ChangeKind.BECOME_LEADER.value, ChangeKind.LEADER_METADATA.value)
    us = F.unix_micros(C.EVENT_TIME)
    offsets = metadata_changes.groupBy(*C.PARTITION_KEY, C.PARTITION_EPOCH).agg(
        F.min(C.METADATA_OFFSET).alias(C.METADATA_OFFSET)
    )
    told = leader_changes.where(F.col(C.PARTITION_EPOCH) >= 0)
    found = told.join(F.broadcast(offsets), C.on_partition(C.PARTITION_EPOCH))
    first = found.groupBy(*C.PARTITION_KEY, C.BROKER_ID, C.METADATA_OFFSET).agg(
        F.min(us).alias("us"), F.min(F.when(by_metadata, us)).alias("by_metadata_us")
    )
    first = first.where(F.col("us") == F.col("by_metadata_us"))
    one = F.struct(C.BROKER_ID, "us", C.METADATA_OFFSET)
    # Named anew: a key that is a constant of each part of a union is one column on both sides of a join to Spark.
    keys = [F.col(key).alias(key) for key in C.PARTITION_KEY]
    return first.groupBy(*C.PARTITION_KEY).agg(F.collect_list(one).alias(_APPLIED)).select(*keys, _APPLIED)


def _in_time(change: Column) -> Column:
    """Return the change of a broker when the leader applied it, as far as is certain."""
    own = F.filter(_APPLIED, lambda it: it[C.BROKER_ID] == F.col(C.LEADER_ID))
    offset = change[C.METADATA_OFFSET]
    before = F.array_max(F.transform(F.filter(own, lambda it: it[C.METADATA_OFFSET] < offset), lambda it: it["us"]))
    after = F.array_min(F.transform(F.filter(own, lambda it: it[C.METADATA_OFFSET] > offset), lambda it: it["us"]))
    return change.withField("us", F.greatest(F.least(change["us"], after), before + 1))


def _fenced_at(us: Column) -> Column:
    """Return the brokers whose last change by `us` fenced them."""
    past = F.filter("history", lambda it: it["us"] <= us)
    brokers = F.array_distinct(F.transform(past, lambda it: it[C.BROKER_ID]))

    def is_fenced(broker: Column) -> Column:
        own = F.filter(past, lambda it: it[C.BROKER_ID] == broker)
        return F.element_at(own, -1)[C.IS_FENCED]

    return F.filter(brokers, is_fenced)
