"""`truncations`: where a replica's own LEO goes back, records of it are gone."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.profile import Profile
from replay.windows import FIRST
from schemas import columns as C
from schemas import tables as T
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import StatementKind


def truncations(landed: Mapping[str, DataFrame], replicas: DataFrame, profile: Profile) -> DataFrame:
    """One row per truncation that removed records, of `schemas.tables.TRUNCATIONS`."""
    of_replica = Window.partitionBy(*C.PARTITION_KEY, C.REPLICA_ID).orderBy(C.LEADER_EPOCH, C.EVENT_SEQ)
    of_partition = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, C.EVENT_SEQ, C.REPLICA_ID)
    leader_hw = F.when(F.col(C.ROLE) == "LEADER", F.col(C.HIGH_WATERMARK))
    highest = F.max(leader_hw).over(of_partition.rowsBetween(FIRST, -1))
    followed = replicas.withColumns(
        {
            C.FROM_OFFSET: F.lag(C.LOG_END_OFFSET).over(of_replica),
            C.HIGH_WATERMARK_BEFORE: F.lag(C.HIGH_WATERMARK).over(of_replica),
            C.PARTITION_HIGH_WATERMARK_BEFORE: F.coalesce(highest, F.lit(UNKNOWN_OFFSET)),
        }
    ).where(F.col(C.LOG_END_OFFSET) < F.col(C.FROM_OFFSET))
    cut = followed.withColumn(C.TO_OFFSET, F.col(C.LOG_END_OFFSET)).withColumn(C.EVENT_TIME, F.col(C.VALID_FROM))
    said = landed[T.BROKER_STATEMENTS.name].where(F.col(C.KIND) == StatementKind.TRUNCATED_TO.value)
    stated = said.select(
        *C.PARTITION_KEY, F.col(C.BROKER_ID).alias(C.REPLICA_ID), F.col(C.OFFSET).alias(C.TO_OFFSET)
    ).distinct()
    matched = cut.join(
        stated.withColumn(C.IS_STATED, F.lit(True)), [*C.PARTITION_KEY, C.REPLICA_ID, C.TO_OFFSET], "left"
    )
    return T.TRUNCATIONS.conform(
        matched.withColumns(
            {
                C.IS_STATED: F.coalesce(F.col(C.IS_STATED), F.lit(False)),
                C.METHOD: F.lit(str(profile.truncation.value)),
            }
        )
    )
