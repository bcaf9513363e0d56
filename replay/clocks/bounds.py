"""How far brokers' clocks are apart at least: of two things in a certain order, what the clocks of both say.

A follower takes its role in a leader epoch before it asks the leader for anything in it, and the controller writes of
an epoch before any broker takes a role in it: two logs tell of both. No network is as slow as clocks may be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.statements import is_of
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_REPLICA, Field
from schemas.kinds import ChangeKind, StatementKind

EARLIER = Field("earlier_id", C.INT, "Broker whose clock tells of what came first; -1: the controllers'.")
LATER = Field("later_id", C.INT, "Broker whose clock tells of what came after that.")
AT_LEAST_US = Field("at_least_us", C.LONG, "Microseconds that the first clock is ahead at least; negative: behind.")
IS_SURE = Field("is_sure", C.BOOL, "No request waited in between, as it does at a frozen process.")

_ROLES = (ChangeKind.BECOME_LEADER, ChangeKind.BECOME_FOLLOWER)


def clock_bounds(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per two brokers, and whether it is sure: by how much the one's clock is ahead of the other's at least.

    Columns: cluster_id, earlier_id, later_id, at_least_us, is_sure. Sources: `ReplicaManager.makeFollowers` and
    `applyLocalFollowersDelta`, which write of the role before they start its fetcher; `FetchRequest`'s
    CurrentLeaderEpoch (KIP-320), which says in which role a follower asks; `BrokerMetadataPublisher`.
    """
    roles = _roles(landed[T.LEADER_CHANGES.name], landed[T.BROKER_STATEMENTS.name])
    asked = _asked(landed[T.FETCH_EVENTS.name])
    parts = (
        _of(_asked_in_role(roles, asked), is_sure=True),
        _of(_asked_before(roles, asked), is_sure=False),
        _of(_written_before(landed), is_sure=True),
        _of(_proposed_before(landed), is_sure=False),
    )
    every = reduce(DataFrame.unionByName, parts).where(F.col(EARLIER) != F.col(LATER))
    return every.groupBy(C.CLUSTER_ID, EARLIER, LATER, IS_SURE).agg(F.max(AT_LEAST_US).alias(AT_LEAST_US))


def _of(pairs: DataFrame, *, is_sure: bool) -> DataFrame:
    """One row per pair of moments in a certain order, as `clock_bounds` wants it."""
    ahead = (F.col("earlier_us") - F.col("later_us")).alias(AT_LEAST_US)
    return pairs.select(C.CLUSTER_ID, EARLIER, LATER, ahead, F.lit(is_sure).alias(IS_SURE))


def _roles(changes: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per partition, leader epoch and broker: when a line first tells its role in it, and whether it follows.

    `has_earlier`: it tells one in an epoch before, too; `began_empty`: its log was empty then, as the line states.
    """
    taken = changes.where(F.col(C.CHANGE_KIND).isin(*[str(kind.value) for kind in _ROLES]))
    follows = F.col(C.CHANGE_KIND) == ChangeKind.BECOME_FOLLOWER.value
    roles = taken.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID).agg(
        F.min(_us()).alias("role_us"), F.bool_and(follows).alias("follows")
    )
    stated = statements.where(is_of(StatementKind.BECAME_FOLLOWER_LEO))
    is_empty = (F.max(C.OFFSET) == 0).alias("began_empty")
    begun = stated.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID).agg(is_empty)
    in_order = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(C.LEADER_EPOCH)
    known = roles.join(begun, C.on_partition(C.LEADER_EPOCH, C.BROKER_ID), "left")
    return known.withColumn("has_earlier", F.lag(C.LEADER_EPOCH).over(in_order).isNotNull())


def _asked(fetches: DataFrame) -> DataFrame:
    """One row per partition, leader, follower and leader epoch that it states: its first and last request, its LEO."""
    stated = fetches.where((F.col(C.REPLICA_ID) >= 0) & (F.col(C.CURRENT_LEADER_EPOCH) >= 0))
    return stated.groupBy(
        *C.PARTITION_KEY,
        F.col(C.CURRENT_LEADER_EPOCH).alias("stated"),
        F.col(C.BROKER_ID).alias("asked_id"),
        F.col(C.REPLICA_ID).alias(C.BROKER_ID),
    ).agg(F.min(_us()).alias("first_us"), F.max(_us()).alias("last_us"), F.max(C.FETCH_OFFSET).alias("leo"))


def _asked_in_role(roles: DataFrame, asked: DataFrame) -> DataFrame:
    """One row per follower's role and leader: it took the role before it asked for anything in it.

    If the line is of when it took it: of a log that was rotated the first may be that of a restart, in the same epoch.
    """
    first = asked.withColumnRenamed("stated", C.LEADER_EPOCH)
    both = roles.where("follows").join(first, C.on_partition(C.LEADER_EPOCH, C.BROKER_ID))
    return both.where("has_earlier OR (began_empty AND leo > 0)").select(
        C.CLUSTER_ID, F.col(C.BROKER_ID).alias(EARLIER), F.col("asked_id").alias(LATER),
        F.col("role_us").alias("earlier_us"), F.col("first_us").alias("later_us"),
    )  # fmt: skip


def _asked_before(roles: DataFrame, asked: DataFrame) -> DataFrame:
    """One row per role and leader of an earlier epoch: the broker asked it for the last time before that role."""
    earlier = roles.join(asked, C.on_partition(C.BROKER_ID)).where(F.col("stated") < F.col(C.LEADER_EPOCH))
    return earlier.select(
        C.CLUSTER_ID, F.col("asked_id").alias(EARLIER), F.col(C.BROKER_ID).alias(LATER),
        F.col("last_us").alias("earlier_us"), F.col("role_us").alias("later_us"),
    )  # fmt: skip


def _written_before(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per change that a broker applied: the controller wrote of its partition epoch before."""
    applied = landed[T.LEADER_CHANGES.name].where(F.col(C.PARTITION_EPOCH) >= 0)
    proposals = (ChangeKind.ISR_SHRINK_PROPOSED, ChangeKind.ISR_EXPAND_PROPOSED, ChangeKind.ISR_CHANGE_REJECTED)
    applied = applied.where(~F.col(C.CHANGE_KIND).isin(*[str(kind.value) for kind in proposals]))
    return applied.join(_written(landed), C.on_partition(C.LEADER_EPOCH, C.PARTITION_EPOCH)).select(
        C.CLUSTER_ID, F.lit(NO_REPLICA).alias(EARLIER), F.col(C.BROKER_ID).alias(LATER),
        F.col("written_us").alias("earlier_us"), _us().alias("later_us"),
    )  # fmt: skip


def _proposed_before(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per smaller ISR that a leader proposed and applied next: the controller wrote of it in between."""
    kinds = (ChangeKind.ISR_SHRINK_PROPOSED, ChangeKind.ISR_UPDATED)
    of_isr = landed[T.LEADER_CHANGES.name].where(F.col(C.CHANGE_KIND).isin(*[str(kind.value) for kind in kinds]))
    in_order = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID, C.LEADER_EPOCH).orderBy(
        C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE
    )
    before = F.lag(F.struct(C.CHANGE_KIND, C.ISR, _us().alias("us"))).over(in_order)
    updated = of_isr.withColumn("before", before).where(F.col(C.CHANGE_KIND) == ChangeKind.ISR_UPDATED.value)
    is_shrink = F.col("before")[C.CHANGE_KIND] == ChangeKind.ISR_SHRINK_PROPOSED.value
    proposed = updated.where(is_shrink & (F.col("before")[C.ISR] == F.col(C.ISR)))
    return proposed.join(_written(landed), C.on_partition(C.LEADER_EPOCH, C.PARTITION_EPOCH)).select(
        C.CLUSTER_ID, F.col(C.BROKER_ID).alias(EARLIER), F.lit(NO_REPLICA).alias(LATER),
        F.col("before.us").alias("earlier_us"), F.col("written_us").alias("later_us"),
    )  # fmt: skip


def _written(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per partition epoch that the metadata log has a record of: when the controller wrote it.

    A snapshot, with which a log may begin, was written later than what it tells of.
    """
    records = landed[T.METADATA_CHANGES.name]
    delivery = [str(C.CLUSTER_ID), str(C.CAPTURE_ID)]
    begins = records.groupBy(*delivery).agg(F.min(C.METADATA_OFFSET).alias("begin"))
    since = records.join(F.broadcast(begins), delivery).where(F.col(C.METADATA_OFFSET) > F.col("begin"))
    return since.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.PARTITION_EPOCH).agg(F.min(_us()).alias("written_us"))


def _us() -> Column:
    """Return when it happened, in microseconds since the epoch, on its broker's clock."""
    return F.unix_micros(C.EVENT_TIME)
