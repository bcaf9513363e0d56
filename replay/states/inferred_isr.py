"""The ISR where no line tells of it: the replicas that the lag rule keeps in it.

A replica is taken out when it was not caught up for `replica.lag.time.max.ms`, at a check that comes every half of that
time, and is put back once it fetches at the HW (P:1297 getOutOfSyncReplicas, RM:339, P:1018 maybeExpandIsr). Inferred
is who was caught up within the lag time; for those the HW waits in the ISR or not.

What nobody can know bounds the HW: whether a replica that fell behind was taken out, whether the controller took out
one that fell silent (RCM:1362; a broker that shuts down or dies leaves long before the lag time), and whether the ISR
was under min ISR.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import follows, in_mask
from replay.event_types import is_event, is_event_of
from replay.in_sync import is_caught_up, now_ms
from replay.names import slot_column
from replay.profile import Profile
from replay.windows import carried, so_far
from schemas import columns as C
from schemas.columns import NO_BOUND
from schemas.kinds import EventType

QUIET_US = 2_000_000
"""A replica that fetches again within it was there all the time: no broker restarts or is fenced so fast."""


def with_inferred_isr(states: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the events with `isr_mask` where it was unknown, and `is_isr_inferred`.

    And with `heard_again_ms` of a leadership of whose ISR at its begin no line tells: it may have begun long before,
    and who fetched then nobody knows.
    """
    members, begun_ms = F.lit(0), F.min(now_ms()).over(so_far())
    is_untold = F.when(is_event(EventType.BECOME_LEADER), F.col(N.ISR_MASK).isNull())
    unseen = F.when(F.max(is_untold).over(so_far()), begun_ms)
    for i in range(slots):
        remote = F.col(slot_column(C.REMOTE_LEO, i))
        at_the_end = (remote >= 0) & (remote >= F.col(C.LOG_END_OFFSET))
        stays = follows(i) & (at_the_end | is_caught_up(i, profile))
        members = members + F.when((F.col(N.LEADER_SLOT) == i) | stays, 1 << i).otherwise(0)
    return states.withColumns(
        {
            C.IS_ISR_INFERRED: F.col(N.ISR_MASK).isNull(),
            N.ISR_MASK: F.coalesce(F.col(N.ISR_MASK), members),
            N.HEARD_AGAIN_MS: F.greatest(N.HEARD_AGAIN_MS, unseen) if N.HEARD_AGAIN_MS in states.columns else unseen,
        }
    )


def with_bounds_of_rise(states: DataFrame, slots: int) -> DataFrame:
    """Return the events with `risen_at_most`, the most that the HW rose to; for sure it did to `risen_at_least` only.

    At least as far as a response told: that the ISR was not under min ISR nobody else knows. At most to the smallest
    LEO of the replicas it certainly waited for: those that a fetch showed to be caught up within the lag time, and that
    were there all the while.
    """
    fetched = F.struct(F.expr(N.ORDER_US).alias("us"), F.col(N.NEXT_FETCH_US).alias("next_us"))
    last: dict[str, Column] = {
        "appended_ms": F.min(F.when(is_event(EventType.APPEND), now_ms())).over(so_far()),
    }
    for i in range(slots):
        last[slot_column("last_fetch", i)] = carried(F.when(is_event_of(i, EventType.FETCH), fetched), so_far())
    held = [F.when(_is_waited_for(i), F.col(slot_column(C.REMOTE_LEO, i))) for i in range(slots)]
    most = F.least(F.col(C.LOG_END_OFFSET), *held)
    risen = F.greatest(F.col(N.RISEN_TO), F.max(F.when(F.col(C.IS_ISR_INFERRED), most)).over(so_far()))
    known = states.withColumns(last).withColumn(N.RISEN_AT_MOST, risen)
    return known.drop("appended_ms", *[slot_column("last_fetch", i) for i in range(slots)])


def bounds_of_inferred(low: Column, high: Column) -> tuple[Column, Column]:
    """Return the least and the greatest HW; what it began with is no bound: a restart that no line tells lowers it.

    `low` and `high` are those of an ISR that is told; what it may have risen to while none was it keeps.
    """
    inferred = F.col(C.IS_ISR_INFERRED)
    most = F.when(F.col(C.LOG_END_OFFSET) < 0, NO_BOUND).otherwise(F.greatest(high, F.col(N.RISEN_AT_MOST)))
    least = F.when(inferred, F.col(N.RISEN_AT_LEAST)).otherwise(low)
    return least, F.when(inferred, most).otherwise(F.greatest(high, N.RISEN_AT_MOST))


def _is_waited_for(slot: int) -> Column:
    """Return whether the HW certainly waits for the replica: a member of the ISR, or caught up and let in at once.

    The begin of a leadership counts as caught up for every replica, but shows nothing; nor does what is before the
    first append, which tells the leader's LEO.
    """
    fetch, caught_up = F.col(slot_column("last_fetch", slot)), F.col(slot_column(N.CAUGHT_UP_MS, slot))
    is_there, shown = fetch["next_us"] - fetch["us"] <= QUIET_US, caught_up > F.col("appended_ms")
    return follows(slot) & in_mask(F.col(N.ISR_MASK), slot) & is_there & shown
