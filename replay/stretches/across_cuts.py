"""What reaches across a cut of a hot partition and is in no state there: such a partition is replayed in one piece."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.events.leaderships import leaderships, roles_with_loads
from replay.partitions import of_partitions
from replay.profile import Profile
from replay.statements import LOG_STARTS, is_of
from replay.states.begins import begun_anew_untold
from replay.stretches.gaps_across import gaps_across_cuts
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind as S


def untold_at_cuts(landed: Mapping[str, DataFrame], cut: DataFrame, profile: Profile) -> list[DataFrame]:
    """Frames of one row per partition (its key) in which there is such a thing; `cut` is `cut.stretches`."""
    found = [cut_below_starts(landed[T.BROKER_STATEMENTS.name], cut)]
    if profile.has_outsiders:
        found.append(gaps_across_cuts(landed[T.FETCH_EVENTS.name], cut).select(*C.PARTITION_KEY))
    if profile.has_unstated_starts:
        found.append(of_partitions(begun_anew_untold(leaderships(roles_with_loads(landed))), cut))
    return found


def cut_below_starts(statements: DataFrame, cut: DataFrame) -> DataFrame:
    """One row per line that tells of a truncation below where the replica's log had started: of a hot partition.

    It started there then (`log_starts`); but of earlier truncations a stretch knows nothing.
    """
    of_hot = of_partitions(statements, cut)
    of_replica = C.on_partition(C.BROKER_ID)
    at, offset = F.col(C.EVENT_TIME).alias("at"), F.col(C.OFFSET).alias("start")
    starts = of_hot.where(is_of(*LOG_STARTS))
    cuts = of_hot.where(is_of(S.TRUNCATED_TO)).join(F.broadcast(starts.select(*of_replica, at, offset)), of_replica)
    below = (F.col("at") <= F.col(C.EVENT_TIME)) & (F.col("start") > F.col(C.OFFSET))
    return cuts.where(below).select(*C.PARTITION_KEY)
