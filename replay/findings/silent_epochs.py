"""Silent epochs: those whose leader gave the capture no file. What it appended, and which ISR it left, nobody knows."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay import names as N
from schemas import columns as C
from schemas import tables as T


def silent_epochs(landed: Mapping[str, DataFrame], led: DataFrame) -> DataFrame:
    """One row per leader epoch whose leader gave the capture no file of that time: nobody knows what it appended.

    A leader whose lines begin later, by more than clocks may be apart, may have led before them.
    """
    changes = landed[T.LEADER_CHANGES.name]
    named = (*C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID)
    said = [rows.select(*named, C.EVENT_TIME) for rows in (changes, landed[T.METADATA_CHANGES.name])]
    told = said[0].unionByName(said[1]).where((F.col(C.LEADER_ID) >= 0) & (F.col(C.LEADER_EPOCH) >= 0))
    first_lines = changes.groupBy(C.CLUSTER_ID, F.col(C.BROKER_ID).alias(C.LEADER_ID)).agg(
        F.min(C.EVENT_TIME).alias("heard_from")
    )
    since = F.col("heard_from") - F.expr(N.CLOCKS_APART)
    is_heard = F.col("heard_from").isNotNull() & F.coalesce(since <= F.col("told_at"), F.lit(True))
    return (
        told.groupBy(*named)
        .agg(F.min(C.EVENT_TIME).alias("told_at"))
        .join(led.select(*C.PARTITION_KEY, C.LEADER_EPOCH), C.on_partition(C.LEADER_EPOCH), "left_anti")
        .join(first_lines, [str(C.CLUSTER_ID), str(C.LEADER_ID)], "left")
        .where(~is_heard)
        .select(*C.PARTITION_KEY, F.struct(C.LEADER_EPOCH, C.LEADER_ID).alias("silent"))
    )
