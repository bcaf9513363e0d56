"""What a replica's own lines tell of its LEO and HW: the points from one to the next of which its state is bounded."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from replay import names as N
from replay.statements import ROLE_HWS, ROLE_LEOS, is_of, said
from replay.windows import FIRST, LAST, NOW
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import StatementKind as S

_LEO_KINDS = (*ROLE_LEOS, S.TRUNCATED_TO, S.TRUNCATED_FULLY_AT, S.SEGMENT_ROLLED)
_HW_KINDS = (*ROLE_HWS, S.LOADED_HW, S.TRUNCATED_FULLY_AT)
_LOWERS_HW = (S.TRUNCATED_TO, S.TRUNCATED_FULLY_AT, S.HW_LOWERED_TO)


def own_lines() -> WindowSpec:
    """A replica's own lines, in the order of its clock."""
    return Window.partitionBy(*C.REPLICA_KEY).orderBy("us", C.SOURCE_FILE, C.SOURCE_LINE)


def points(statements: DataFrame) -> DataFrame:
    """One row per line of a replica that states its own LEO or HW: `us`, leader epoch, `leo` and `hw` (NULL unsaid).

    `lowest` is the least offset to which it cut its log, or lowered its HW, in the leader epoch; NULL where it did not.
    """
    kinds = {*_LEO_KINDS, *_HW_KINDS, S.LOADED_LEO, S.HW_LOWERED_TO}
    own = statements.where(is_of(*kinds)).withColumns(
        {C.REPLICA_ID: F.col(C.BROKER_ID), "us": F.unix_micros(C.EVENT_TIME)}
    )
    lines = own.groupBy(*C.REPLICA_KEY, C.CAPTURE_ID, "us", C.SOURCE_FILE, C.SOURCE_LINE).agg(
        F.max(F.when(is_of(*ROLE_LEOS, *ROLE_HWS), F.col(C.LEADER_EPOCH))).alias("epoch"),
        F.bool_or(is_of(S.BECAME_LEADER_LEO)).alias("leads"),
        F.bool_or(is_of(S.LOADED_HW)).alias(N.IS_RESTART),
        F.bool_or(is_of(S.TRUNCATED_TO, S.TRUNCATED_FULLY_AT)).alias("is_cut"),
        said(*_LEO_KINDS).alias("leo"),
        said(*_HW_KINDS).alias("hw"),
        said(S.LOADED_LEO).alias("recovered"),
        said(*_LOWERS_HW).alias("lowered"),
    )
    before, after = own_lines().rowsBetween(FIRST, NOW), own_lines().rowsBetween(NOW, LAST)
    epoch_before = F.last("epoch", ignorenulls=True).over(before)
    epoch_after = F.first("epoch", ignorenulls=True).over(after)
    recovered = F.last("recovered", ignorenulls=True).over(before)
    is_load = F.col(N.IS_RESTART) | F.col("recovered").isNotNull()
    placed = lines.withColumns(
        {
            C.LEADER_EPOCH: F.when(is_load, epoch_after).otherwise(F.coalesce("epoch", epoch_before, epoch_after)),
            "leo": F.when(F.col(N.IS_RESTART), F.coalesce(recovered, F.lit(UNKNOWN_OFFSET))).otherwise(F.col("leo")),
        }
    )
    of_epoch = Window.partitionBy(*C.REPLICA_KEY, C.LEADER_EPOCH).rowsBetween(FIRST, LAST)
    lowest = placed.withColumn("lowest", F.min("lowered").over(of_epoch)).where(F.col(C.LEADER_EPOCH).isNotNull())
    return lowest.where(F.col("leo").isNotNull() | F.col("hw").isNotNull()).drop("epoch", "recovered", "lowered")
