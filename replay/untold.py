"""Leaderships that no broker's log tells of: state-change.log is missing, or was cut, and the metadata log is there.

The metadata log has every leader, ISR and assignment the controller committed. Its time is the controller's; the leader
applied it some milliseconds later. It is used for the leader epochs alone of which no leader's own line has landed.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind

_EPOCH = C.on_partition(C.LEADER_EPOCH)


def with_untold_leaderships(landed: Mapping[str, DataFrame]) -> Mapping[str, DataFrame]:
    """Return the tables with `leader_changes` made whole by `metadata_changes`."""
    changes = landed[T.LEADER_CHANGES.name]
    untold = _untold(landed[T.METADATA_CHANGES.name], changes)
    return {**landed, T.LEADER_CHANGES.name: changes.unionByName(untold)}


def _untold(metadata: DataFrame, changes: DataFrame) -> DataFrame:
    """One row per replica and record of a leader epoch that no leader's line tells of, as the replica applied it.

    The first record of an epoch begins it, at its followers too: a leader in between makes the next one a new leader.
    A later one is newer metadata of the same epoch.
    """
    told = changes.where(F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value).select(*_EPOCH).distinct()
    in_epoch = Window.partitionBy(*_EPOCH).orderBy(C.PARTITION_EPOCH, C.METADATA_OFFSET)
    led = metadata.where(F.col(C.LEADER_ID) >= 0).join(F.broadcast(told), _EPOCH, "left_anti")
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
