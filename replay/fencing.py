"""Fencing as events of the partitions it bears on: a fenced replica, or one shutting down, may not join the ISR.

The metadata log tells of brokers, once; each leadership gets a row at its begin and one a change while it lasts.
Source: `Partition.isReplicaIsrEligible` (P:1056). The record's time is the controller's clock: good to milliseconds.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.leaderships import START_US
from replay.names import INCARNATION
from schemas import columns as C

FENCED = "fenced"
"""array<int>: the brokers that are fenced or shutting down from the event on."""
AT_US = "at_us"


def fencings(begun: DataFrame, registrations: DataFrame) -> DataFrame:
    """One row per leadership, and per change of fencing during it: partition key, epoch, leader, `at_us`, `fenced`."""
    change = F.struct(F.unix_micros(C.EVENT_TIME).alias("us"), C.METADATA_OFFSET, C.BROKER_ID, C.IS_FENCED)
    history = registrations.groupBy(C.CLUSTER_ID).agg(F.sort_array(F.collect_list(change)).alias("history"))
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, INCARNATION)
    lasting = begun.withColumn("end_us", F.lead(START_US).over(in_order))
    known = lasting.join(F.broadcast(history), C.CLUSTER_ID)
    during = F.filter(
        F.transform("history", lambda it: it["us"]),
        lambda us: (us > F.col(START_US)) & (F.col("end_us").isNull() | (us < F.col("end_us"))),
    )
    each = known.withColumn(AT_US, F.explode(F.array_union(F.array(F.col(START_US)), during)))
    return each.withColumn(FENCED, _fenced_at(F.col(AT_US))).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, F.col(C.LEADER_ID).alias(C.BROKER_ID), AT_US, FENCED
    )


def _fenced_at(us: Column) -> Column:
    """Return the brokers whose last change by `us` fenced them."""
    past = F.filter("history", lambda it: it["us"] <= us)
    brokers = F.array_distinct(F.transform(past, lambda it: it[C.BROKER_ID]))

    def is_fenced(broker: Column) -> Column:
        own = F.filter(past, lambda it: it[C.BROKER_ID] == broker)
        return F.element_at(own, -1)[C.IS_FENCED]

    return F.filter(brokers, is_fenced)
