"""When leader epochs began and ended, as anybody first tells, and how soon a leader that died is replaced."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T

_BY_KRAFT_US, _BY_ZOOKEEPER_US = 12_000_000, 20_000_000
"""Within this another leads in the place of a broker that died: a controller of KRaft fences it after 9 s
(`broker.session.timeout.ms`), ZooKeeper forgets it after 18 s (`zookeeper.session.timeout.ms`)."""
BEGUN_US, NEXT_US, NEXT_EPOCH = "begun_us", "next_us", "next_epoch"
REPLACED_WITHIN_US = "replaced_within_us"


def with_times(epochs: DataFrame, landed: Mapping[str, DataFrame]) -> DataFrame:
    """Return leader epochs with `begun_us`, `next_epoch`, `next_us` (NULL: none follows) and `replaced_within_us`.

    A cluster with a metadata log is one of KRaft.
    """
    of_epoch = C.on_partition(C.LEADER_EPOCH)
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH)
    begun = (
        told_of_epochs(landed, C.EVENT_TIME).groupBy(*of_epoch).agg(F.unix_micros(F.min(C.EVENT_TIME)).alias(BEGUN_US))
    )
    following = {NEXT_EPOCH: F.lead(C.LEADER_EPOCH).over(in_order), NEXT_US: F.lead(BEGUN_US).over(in_order)}
    by_records = landed[T.METADATA_CHANGES.name].select(C.CLUSTER_ID, F.lit(True).alias("is_kraft")).distinct()
    known = epochs.join(F.broadcast(begun.withColumns(following)), of_epoch).join(
        F.broadcast(by_records), str(C.CLUSTER_ID), "left"
    )
    within_us = F.when(F.col("is_kraft"), _BY_KRAFT_US).otherwise(_BY_ZOOKEEPER_US)
    return known.withColumn(REPLACED_WITHIN_US, within_us).drop("is_kraft")


def told_of_epochs(landed: Mapping[str, DataFrame], *columns: str) -> DataFrame:
    """One row per line or record of a leader epoch, its key, with these columns of it."""
    tables = (landed[T.LEADER_CHANGES.name], landed[T.METADATA_CHANGES.name])
    each, more = (of.select(*C.PARTITION_KEY, C.LEADER_EPOCH, *columns) for of in tables)
    return each.unionByName(more).where(F.col(C.LEADER_EPOCH) >= 0)
