"""Where a leader's log ended when its segments were dumped: the upper bound of its LEO where nothing nearer is told."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.events.leaderships import START_US
from replay.names import INCARNATION
from replay.statements import is_of
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind as S

DUMPED_END = "dumped_end"
"""bigint: end of the log in the leader's own dump."""

_SHORTENS = (S.LOADED_HW, S.TRUNCATED_TO, S.TRUNCATED_FULLY_AT)


def log_ends(landed: Mapping[str, DataFrame], begun: DataFrame) -> DataFrame:
    """One row per partition whose last leader's log has only grown since it was elected: leader epoch, `dumped_end`.

    `begun` is `leaderships`. A dump that is shorter than a follower's was cut: it bounds nothing.
    """
    partition = Window.partitionBy(*C.PARTITION_KEY)
    ends = (
        landed[T.SEGMENT_BATCHES.name]
        .groupBy(*C.PARTITION_KEY, F.col(C.BROKER_ID).alias(C.LEADER_ID))
        .agg((F.max(C.LAST_OFFSET) + 1).alias(DUMPED_END))
        .withColumn("longest", F.max(DUMPED_END).over(partition.rowsBetween(FIRST, LAST)))
    )
    latest = F.row_number().over(partition.orderBy(F.desc(C.LEADER_EPOCH), F.desc(INCARNATION)))
    last = begun.withColumn("place", latest).where("place = 1")
    cut = (
        landed[T.BROKER_STATEMENTS.name]
        .where(is_of(*_SHORTENS))
        .groupBy(*C.PARTITION_KEY, F.col(C.BROKER_ID).alias(C.LEADER_ID))
        .agg(F.max(F.unix_micros(C.EVENT_TIME)).alias("cut_us"))
    )
    own = C.on_partition(C.LEADER_ID)
    grown = F.coalesce(F.col("cut_us") < F.col(START_US), F.lit(True))
    whole = F.col(DUMPED_END) == F.col("longest")
    return last.join(ends, own).join(cut, own, "left").where(grown & whole).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, DUMPED_END
    )  # fmt: skip
