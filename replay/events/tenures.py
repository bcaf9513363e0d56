"""What holds of all leaderships of a cluster: of most, that the engine can do with fewer windows.

Known before the plan is made, for a plan does not change with what its rows turn out to be.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.events.leaderships import STATED_LEO
from replay.names import INCARNATION, IS_NEW_LEADER, TENURE
from schemas import columns as C


def tenure_facts(begun: DataFrame) -> DataFrame:
    """One row per cluster: `has_returns`, `has_long_tenures`, `has_unstated_starts`, as `replay.profile` has them.

    `begun` is `leaderships`.
    """
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, INCARNATION)
    latest = F.max(TENURE).over(in_order.rowsBetween(Window.unboundedPreceding, -1))

    def some(condition: Column) -> Column:
        return F.bool_or(F.coalesce(condition, F.lit(False)))

    return (
        begun.withColumn("latest", latest)
        .groupBy(C.CLUSTER_ID)
        .agg(
            some(F.col(TENURE) < F.col("latest")).alias("has_returns"),
            some(~F.col(IS_NEW_LEADER)).alias("has_long_tenures"),
            some(F.col(STATED_LEO).isNull()).alias("has_unstated_starts"),
        )
    )
