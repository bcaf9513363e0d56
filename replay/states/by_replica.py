"""What `leader_timeline` shows by replica: remote LEOs, the ISR, and for whom the HW waits.

Ids are listed by slot, one expression a slot and list: most of the code that Spark generates for a row.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import follows, listed, replica_in, replicas_of
from replay.high_watermark import holds, smallest_held
from replay.names import slot_column
from replay.profile import Profile
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET

_SMALLEST = "smallest_held"
"""bigint: the smallest LEO that the HW waits for, the leader's among them."""


def with_replicas(public: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the events with what is shown by replica: remote LEOs, ISR, and whom the HW waits for.

    Before neighbours are looked at: Java compiles no method of more than 8,000 bytes, and Spark makes one of all that
    is between two windows.
    """
    limited_by = F.when(F.col(N.IS_UNSURE), F.expr(C.NOBODY)).otherwise(_limited_by(slots, F.col(N.JOINING_MASK)))
    return public.withColumn(_SMALLEST, smallest_held(slots, F.col(N.JOINING_MASK))).withColumns(
        {
            C.REMOTE_LEO_MAP: _told_or(_remote_leos(slots)) if profile.has_silence else _remote_leos(slots),
            C.ISR: replicas_of(F.col(N.ISR_MASK), slots),
            C.HIGH_WATERMARK_LIMITED_BY: limited_by,
        }
    )


def _remote_leos(slots: int) -> Column:
    """Return the leader's idea of every other assigned replica's LEO, by replica id."""
    others = [follows(i) & replica_in(i).isNotNull() for i in range(slots)]
    replicas = listed([(other, replica_in(i)) for i, other in enumerate(others)], "int")
    leos = listed([(other, F.col(slot_column(C.REMOTE_LEO, i))) for i, other in enumerate(others)], "bigint")
    return F.map_from_arrays(replicas, leos)


def _told_or(rebuilt: Column) -> Column:
    """Return the remote LEOs; while the request log is silent those that the line states, and of others nothing."""
    told = F.transform_values(
        rebuilt, lambda replica, _: F.coalesce(F.try_element_at(N.TOLD_REMOTE, replica), F.lit(UNKNOWN_OFFSET))
    )
    return F.when(F.col(N.IS_UNSURE), told).otherwise(rebuilt)


def _limited_by(slots: int, joining: Column) -> Column:
    """Return the replicas whose LEO is the smallest that the HW waits for, where both are below the leader's."""
    smallest = F.col(_SMALLEST)
    is_last = [holds(i, joining) & (F.col(slot_column(C.REMOTE_LEO, i)) == smallest) for i in range(slots)]
    limits = listed([(last & replica_in(i).isNotNull(), replica_in(i)) for i, last in enumerate(is_last)], "int")
    is_behind = F.col(C.HIGH_WATERMARK) < F.col(C.LOG_END_OFFSET)
    return F.when(is_behind & (smallest < F.col(C.LOG_END_OFFSET)), limits).otherwise(F.expr(C.NOBODY))
