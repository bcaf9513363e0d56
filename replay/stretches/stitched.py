"""Stretches of hot partitions made one timeline again: each gives its own rows, and they are numbered through.

Each stretch finds the state at its begin from requests before it. That must be the state which the stretch before it
ends with: `ends` names the partitions where it is not, and those have to be replayed in one piece.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.going_on.unlike import is_unexplained
from replay.partitions import of_partitions
from replay.states.highest_before import BY_EPOCH, highest_by_epoch, highest_where, is_earlier
from replay.states.replica_rows import of_assigned
from replay.stretches.cut import FROM_US, UNTIL_US
from replay.stretches.requests import STRETCH
from replay.stretches.terms import FIRST_OWN, TERM, Terms, epoch_of, own, term
from replay.timelines import Timelines
from replay.windows import FIRST, NOW, following
from schemas import columns as C
from schemas.tables import LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS


def stitched(parts: Timelines, cut: DataFrame, seen: Terms) -> Timelines:
    """Return the timelines, of hot partitions each stretch's own rows.

    `parts` is a replay of `cut.split`, `timelines.shown_in_parts`, and `seen` its `terms.terms`.
    """
    # All that is known of a row by one join: of millions, each by a key of texts, one is as much as a window.
    ahead, until = _ahead(seen.leaders), _until(seen.replicas)
    of_leaders = ahead.join(cut, C.on_partition(STRETCH))
    of_replicas = until.join(cut, C.on_partition(STRETCH)).join(ahead, C.on_partition(STRETCH, TERM), "left")
    leaders = own(parts.leader_timeline.withColumn(TERM, term()), of_leaders, C.EVENT_TIME, TERM)
    replicas = own(parts.replica_timeline.withColumn(TERM, term()), of_replicas, C.VALID_FROM, C.REPLICA_ID, TERM)
    cuts = own(parts.truncations, cut, C.EVENT_TIME)
    return Timelines(
        leader_timeline=LEADER_TIMELINE.conform(_renumbered(leaders)),
        replica_timeline=of_assigned(REPLICA_TIMELINE.conform(_renumbered(_lasting(replicas)))),
        truncations=TRUNCATIONS.conform(_with_highest_hw(cuts, leaders)),
    )


def _ahead(leaders: DataFrame) -> DataFrame:
    """One row per stretch and leadership: `ahead`, how many events of it are in none but earlier stretches.

    The last event up to a cut is the same in the stretches on both sides: the numbers they give it tell.
    """
    along = Window.partitionBy(*C.PARTITION_KEY, TERM).orderBy(STRETCH)
    gap = F.coalesce(F.lag(f"seq_{UNTIL_US}").over(along) - F.col(f"seq_{FROM_US}"), F.lit(0))
    return leaders.withColumn("gap", gap).select(
        *C.PARTITION_KEY, TERM, STRETCH, F.sum("gap").over(along.rowsBetween(FIRST, NOW)).alias("ahead")
    )


def _renumbered(rows: DataFrame) -> DataFrame:
    """Return the rows with the event_seq they have in one piece."""
    return rows.withColumn(C.EVENT_SEQ, F.col(C.EVENT_SEQ) + F.coalesce("ahead", F.lit(0)))


def _until(replicas: DataFrame) -> DataFrame:
    """One row per replica, stretch and leadership: `next`, when the replica's last state of a stretch there ends.

    By leadership first, and not by time: a leader that was deposed may have been the last to know. As in one piece
    (`replica_rows.lasting`), where the next state begins, or the next leader epoch's first, if that is sooner.
    """
    replica: list[str] = C.on_partition(C.REPLICA_ID)
    order = (STRETCH, TERM)
    begins = replicas.where(F.col(FIRST_OWN).isNotNull()).withColumn("epoch", epoch_of(TERM))
    before = F.lag("epoch").over(Window.partitionBy(*replica).orderBy(*order))
    began = begins.withColumn("began", F.when(~before.eqNullSafe(F.col("epoch")), F.col(FIRST_OWN)))
    ahead = F.least(*[following(it, replica, order) for it in (FIRST_OWN, "began")])
    later = began.select(*replica, *order, ahead.alias("next"))
    # A row for each there is: what finds none is no part of a stretch.
    return replicas.select(*replica, *order).join(later, [*replica, *order], "left")


def _lasting(rows: DataFrame) -> DataFrame:
    """Return the replicas' states, the last one of each stretch until what follows it in a later stretch."""
    is_last = F.col(C.VALID_TO).isNull() | (F.unix_micros(C.VALID_TO) > F.col(UNTIL_US))
    ends = F.when(F.col(STRETCH).isNotNull() & is_last, F.col("next")).otherwise(F.col(C.VALID_TO))
    return rows.withColumn(C.VALID_TO, ends)


def _with_highest_hw(cuts: DataFrame, leaders: DataFrame) -> DataFrame:
    """Return the truncations with the highest HW before, of earlier stretches too."""
    # Of all others nobody asks; where nothing was cut, which is nearly always, no row is looked at.
    of_cut = of_partitions(leaders, cuts)
    reached = highest_by_epoch(of_cut.where(F.col(STRETCH).isNotNull()), C.HIGH_WATERMARK, STRETCH)
    known = cuts.join(F.broadcast(reached), C.on_partition(), "left")
    highest = highest_where(lambda it: (it[STRETCH] < F.col(STRETCH)) & is_earlier(it, ~is_unexplained()))
    before = F.greatest(C.PARTITION_HIGH_WATERMARK_BEFORE, highest)
    return known.withColumn(C.PARTITION_HIGH_WATERMARK_BEFORE, before).drop(BY_EPOCH)
