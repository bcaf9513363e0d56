"""Leaderships that no broker's log tells of: state-change.log is missing, or was cut.

The metadata log has every leader, ISR and assignment the controller committed. Its time is the controller's; the leader
applied it some milliseconds later. It is used for the epochs of leaders alone of whom no line on any role has landed: a
log that is merely cut, or a leader that was elected and never knew it, is not made up.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind


def with_untold_leaderships(landed: Mapping[str, DataFrame]) -> Mapping[str, DataFrame]:
    """Return the tables with `leader_changes` made whole by `metadata_changes`."""
    changes = landed[T.LEADER_CHANGES.name]
    untold = _untold(landed[T.METADATA_CHANGES.name], changes)
    return {**landed, T.LEADER_CHANGES.name: changes.unionByName(untold)}


def _untold(metadata: DataFrame, changes: DataFrame) -> DataFrame:
    """One row per replica and record of an epoch whose leader wrote nothing, as the replica applied it.

    The first record of an epoch begins it, at its followers too: a leader in between makes the next one a new leader.
    A later one is newer metadata of the same epoch.
    """
    roles = changes.where(F.col(C.CHANGE_KIND).isin(ChangeKind.BECOME_LEADER.value, ChangeKind.BECOME_FOLLOWER.value))
    wrote = roles.select(C.CLUSTER_ID, F.col(C.BROKER_ID).alias(C.LEADER_ID)).distinct()
    of_leader: list[str] = [C.CLUSTER_ID, C.LEADER_ID]
    in_epoch = Window.partitionBy(*C.PARTITION_KEY, C.LEADER_EPOCH).orderBy(C.PARTITION_EPOCH, C.METADATA_OFFSET)
    led = metadata.where(F.col(C.LEADER_ID) >= 0).join(F.broadcast(wrote), of_leader, "left_anti")
    begins, leads = F.col("place") == 1, F.col(C.BROKER_ID) == F.col(C.LEADER_ID)
    kind = (
        F.when(begins & leads, ChangeKind.BECOME_LEADER.value)
        .when(begins, ChangeKind.BECOME_FOLLOWER.value)
        .when(leads, ChangeKind.LEADER_METADATA.value)
        .otherwise(ChangeKind.FOLLOWER_METADATA.value)
    )
    placed = led.withColumn("place", F.row_number().over(in_epoch))
    each = placed.withColumn(C.BROKER_ID, F.explode(C.REPLICAS))
    return T.LEADER_CHANGES.conform(each.withColumn(C.CHANGE_KIND, kind))
