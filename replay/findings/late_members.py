"""Late members: who may have been behind its leader for long, told from one look at all events, without their order.

A busy follower is a fetch behind all the time, and caught up by the rule of the previous fetch
(`Replica.updateFetchStateOrThrow`, R:84). Of few events in a row that is seen from sums. Who is not late has no
finding.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.slices import IS_SHOWN, SLICE, ends_of_slices, is_left_out, slice_of
from replay.states.begins import begins
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

WHO = "who"
"""int: the member."""
MEMBER = (*C.EPOCH_KEY, WHO)
_NOBODY = -1
_RUN = 16
"""Events of all kinds, with some four fetches of each follower."""
_REMOTE, _FIRST_AT, _LAST_AT, _UNTIL = "remote", "first_at", "last_at", "until"


def by_member(leader_timeline: DataFrame) -> DataFrame:
    """One row per event and member that it tells of: `who`, and `is_begin`, if a leadership begins with it.

    With a leadership all members of its ISR are taken to be caught up; a fetch tells of its follower. What concerns no
    member is a row of `_NOBODY`.
    """
    others = F.array_except(F.coalesce(C.ISR, F.expr(C.NOBODY)), F.array(C.LEADER_ID))
    is_fetch = (F.col(C.EVENT_TYPE) == EventType.FETCH.value) & (F.col(C.REPLICA_ID) >= 0)
    whose = F.when(begins(), others).when(is_fetch, F.array(C.REPLICA_ID)).otherwise(F.array(F.lit(_NOBODY)))
    return leader_timeline.select(
        *C.EPOCH_KEY, C.EVENT_SEQ, C.EVENT_TIME, C.LOG_END_OFFSET, C.REMOTE_LEO_MAP, begins().alias("is_begin"),
        F.explode(whose).alias(WHO),
    )  # fmt: skip


def late_members(leader_timeline: DataFrame, wait_ms: Column) -> DataFrame:
    """One row per leader epoch and member (`who`) that may not have been caught up for longer than `wait_ms`.

    That goes on through a whole slice of half of it.
    """
    runs = _runs(leader_timeline)
    first, last = (slice_of(time, wait_ms / 2) for time in (_FIRST_AT, _LAST_AT))
    # One that lasts from one slice into the next may show it in either.
    slices = runs.groupBy(*MEMBER, first.alias(SLICE)).agg(
        F.bool_or(F.col(IS_SHOWN) & (first == last)).alias(IS_SHOWN), F.max(last).alias(_UNTIL)
    )
    members = slices.groupBy(*MEMBER).agg(*ends_of_slices(), F.max(_UNTIL).alias(_UNTIL))
    end = F.max(_UNTIL).over(Window.partitionBy(*C.EPOCH_KEY).rowsBetween(FIRST, LAST))
    is_late = is_left_out(end) & (F.col(WHO) != _NOBODY)
    return members.withColumn("is_late", is_late).where("is_late").select(*MEMBER)


def _runs(leader_timeline: DataFrame) -> DataFrame:
    """One row per member and run of `_RUN` events of its leader: from when to when, and if it shows it caught up."""
    remote = F.coalesce(F.element_at(F.col(C.REMOTE_LEO_MAP), F.col(WHO)), F.lit(UNKNOWN_OFFSET))
    known = by_member(leader_timeline).withColumn(_REMOTE, remote)
    run = F.when(F.col(WHO) != _NOBODY, F.floor(F.col(C.EVENT_SEQ) / _RUN).cast("bigint"))
    is_level = F.col("is_begin") | (F.col(_REMOTE) >= F.col(C.LOG_END_OFFSET))
    return known.groupBy(*MEMBER, run.alias("run")).agg(
        (F.bool_or(is_level) | _reaches_an_earlier_end()).alias(IS_SHOWN),
        F.min(C.EVENT_TIME).alias(_FIRST_AT),
        F.max(C.EVENT_TIME).alias(_LAST_AT),
    )


def _reaches_an_earlier_end() -> Column:
    """Return whether some fetch of a run surely came as far as the LEO had been at the one before it.

    If each of n fetches stayed below, the remote LEOs of all but the first would be less than the LEOs of all but the
    last by n - 1 at least.
    """
    behind = F.sum(F.col(C.LOG_END_OFFSET) - F.col(_REMOTE))
    first_remote, last_end = F.min_by(_REMOTE, C.EVENT_SEQ), F.max(C.LOG_END_OFFSET)
    return behind + first_remote - last_end < F.count("*") - 1
