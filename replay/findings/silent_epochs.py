"""Silent epochs: those whose leader gave the capture no file. What it appended, and which ISR it left, nobody knows."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T


def silent_epochs(landed: Mapping[str, DataFrame], led: DataFrame) -> DataFrame:
    """One row per leader epoch whose leader gave the capture no file: nothing is known of what it appended."""
    changes = landed[T.LEADER_CHANGES.name]
    told = changes.select(*C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID).unionByName(
        landed[T.METADATA_CHANGES.name].select(*C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID)
    )
    heard = changes.select(C.CLUSTER_ID, F.col(C.BROKER_ID).alias(C.LEADER_ID)).distinct()
    return (
        told.where((F.col(C.LEADER_ID) >= 0) & (F.col(C.LEADER_EPOCH) >= 0))
        .distinct()
        .join(led.select(*C.PARTITION_KEY, C.LEADER_EPOCH), C.on_partition(C.LEADER_EPOCH), "left_anti")
        .join(heard, [str(C.CLUSTER_ID), str(C.LEADER_ID)], "left_anti")
        .select(*C.PARTITION_KEY, F.struct(C.LEADER_EPOCH, C.LEADER_ID).alias("silent"))
    )
