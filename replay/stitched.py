"""Stretches of hot partitions made one timeline again: each gives its own rows, and they are numbered through.

Each stretch finds the state at its begin from requests before it. That must be the state which the stretch before it
ends with: `replay.stretch_ends` names the partitions where it is not, and those have to be replayed in one piece.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.names import INCARNATION
from replay.sequence import incarnation_of
from replay.stretch_requests import PART_ID, SINCE_US, STRETCH
from replay.stretches import FROM_US, UNTIL_US
from replay.timelines import Keep, Timelines, as_it_is
from replay.windows import FIRST, NOW
from schemas import columns as C
from schemas.tables import LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS

_LEADERSHIP = (*C.PARTITION_KEY, C.LEADER_EPOCH, INCARNATION)


def stitched(parts: Timelines, cut: DataFrame, keep: Keep = as_it_is) -> Timelines:
    """Return the timelines, of hot partitions each stretch's own rows; `parts` is a replay of `stretches.split`."""
    ahead = keep(_ahead(parts.leader_timeline, cut), is_small=True)
    leaders = own(parts.leader_timeline, cut, C.EVENT_TIME)
    replicas = own(parts.replica_timeline, cut, C.VALID_FROM)
    cuts = own(parts.truncations, cut, C.EVENT_TIME)
    return Timelines(
        leader_timeline=LEADER_TIMELINE.conform(_renumbered(leaders, ahead)),
        replica_timeline=REPLICA_TIMELINE.conform(_renumbered(_until_next(replicas), ahead)),
        truncations=TRUNCATIONS.conform(_with_highest_hw(cuts, leaders)),
    )


def placed(rows: DataFrame, cut: DataFrame) -> DataFrame:
    """Return the rows under their partition's own topic id, with their stretch and its bounds; NULL where not hot."""
    bounds = cut.drop(SINCE_US).withColumnRenamed(C.TOPIC_ID, "whole_id")
    part = [C.CLUSTER_ID, C.TOPIC, C.PARTITION]
    under = rows.withColumnRenamed(C.TOPIC_ID, PART_ID)
    placed = under.join(F.broadcast(bounds), [*map(str, part), PART_ID], "left")
    return placed.withColumn(C.TOPIC_ID, F.coalesce("whole_id", PART_ID)).drop("whole_id", PART_ID)


def own(rows: DataFrame, cut: DataFrame, time: str) -> DataFrame:
    """Return the rows that are of their stretch's own time, and all of a partition that is not cut."""
    us = F.unix_micros(time)
    is_own = (us > F.col(FROM_US)) & (us <= F.col(UNTIL_US))
    return placed(rows, cut).where(F.col(STRETCH).isNull() | is_own)


def _ahead(leader_timeline: DataFrame, cut: DataFrame) -> DataFrame:
    """One row per stretch and leadership: `ahead`, how many events of it are in none but earlier stretches.

    The last event up to a cut is the same in the stretches on both sides: the numbers they give it tell.
    """
    us = F.unix_micros(C.EVENT_TIME)
    hot = (
        placed(leader_timeline, cut)
        .where(F.col(STRETCH).isNotNull())
        .withColumn(INCARNATION, incarnation_of(C.EVENT_SEQ))
    )
    ends = hot.groupBy(*_LEADERSHIP, STRETCH).agg(
        F.max(F.when(us <= F.col(FROM_US), F.col(C.EVENT_SEQ))).alias("begin"),
        F.max(F.when(us <= F.col(UNTIL_US), F.col(C.EVENT_SEQ))).alias("end"),
    )
    along = Window.partitionBy(*_LEADERSHIP).orderBy(STRETCH)
    gap = F.coalesce(F.lag("end").over(along) - F.col("begin"), F.lit(0))
    return ends.withColumn("gap", gap).select(
        *_LEADERSHIP, STRETCH, F.sum("gap").over(along.rowsBetween(FIRST, NOW)).alias("ahead")
    )


def _of_incarnations(rows: DataFrame) -> DataFrame:
    return rows.withColumn(INCARNATION, incarnation_of(C.EVENT_SEQ))


def _renumbered(rows: DataFrame, ahead: DataFrame) -> DataFrame:
    """Return the rows with the event_seq they have in one piece."""
    numbered = _of_incarnations(rows).join(F.broadcast(ahead), [*map(str, _LEADERSHIP), STRETCH], "left")
    return numbered.withColumn(C.EVENT_SEQ, F.col(C.EVENT_SEQ) + F.coalesce("ahead", F.lit(0)))


def _until_next(rows: DataFrame) -> DataFrame:
    """Return the replicas' states, the last one of each stretch until the first one of a later stretch.

    First by leadership, and not by time: a leader that was deposed may have been the last to know.
    """
    replica: list[str] = C.on_partition(C.REPLICA_ID)
    along = Window.partitionBy(*replica).orderBy(STRETCH)
    hot = _of_incarnations(rows.where(F.col(STRETCH).isNotNull()))
    begins = hot.groupBy(*replica, STRETCH, C.LEADER_EPOCH, INCARNATION).agg(F.min(C.VALID_FROM).alias("begins"))
    first = begins.groupBy(*replica, STRETCH).agg(F.min(F.struct(C.LEADER_EPOCH, INCARNATION, "begins")).alias("first"))
    later = first.select(*replica, STRETCH, F.lead("first").over(along)["begins"].alias("next"))
    known = rows.join(F.broadcast(later), [*replica, STRETCH], "left")
    is_last = F.col(C.VALID_TO).isNull() | (F.unix_micros(C.VALID_TO) > F.col(UNTIL_US))
    ends = F.when(F.col(STRETCH).isNotNull() & is_last, F.col("next")).otherwise(F.col(C.VALID_TO))
    return known.withColumn(C.VALID_TO, ends)


def _with_highest_hw(cuts: DataFrame, leaders: DataFrame) -> DataFrame:
    """Return the truncations that were rebuilt with the highest HW before, of earlier stretches too."""
    along = Window.partitionBy(*C.PARTITION_KEY).orderBy(STRETCH).rowsBetween(FIRST, -1)
    of_stretch = leaders.where(F.col(STRETCH).isNotNull()).groupBy(*C.PARTITION_KEY, STRETCH)
    highest = of_stretch.agg(F.max(C.HIGH_WATERMARK).alias("highest"))
    earlier = highest.withColumn("earlier", F.max("highest").over(along)).drop("highest")
    known = cuts.join(F.broadcast(earlier), C.on_partition(STRETCH), "left")
    before = F.col(C.PARTITION_HIGH_WATERMARK_BEFORE)
    return known.withColumn(
        C.PARTITION_HIGH_WATERMARK_BEFORE, F.when(before >= 0, F.greatest(before, "earlier")).otherwise(before)
    )
