"""Who holds the HW besides the committed ISR: replicas that were caught up a moment ago, and one that is joining.

This is protocol in code, for it compares replicas with the leader over time: `ReplicaState.isCaughtUp` and
`Replica.updateFetchStateOrThrow` (R:84-91), `Partition.maybeExpandIsr` (P:1018), `PendingExpandIsr.maximalIsr` (P:237).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import in_mask
from replay.event_types import is_event, is_event_of
from replay.names import slot_column
from replay.profile import Profile
from replay.windows import before as rows_before
from replay.windows import carried, so_far
from schemas import columns as C
from schemas.kinds import EventType as E

NEVER_MS = 0
"""lastCaughtUpTimeMs of a replica that was not in the ISR when the leadership began."""


def now_ms() -> Column:
    """Return the time of the event on the leader's clock, as it reads it: in whole milliseconds (bigint)."""
    return F.expr(N.ORDER_MS)


def with_caught_up(states: DataFrame, slots: int) -> DataFrame:
    """Return the events with `caught_up_ms_<slot>`: lastCaughtUpTimeMs of each replica after them.

    A fetch at or past the leader's LEO is caught up now; one past the LEO of the replica's previous fetch was so at
    the time of that fetch. A leadership begins with "now" for its ISR and never for the rest.
    """
    previous: dict[str, Column] = {}
    for i in range(slots):
        fetched = is_event_of(i, E.FETCH)
        kept = is_event(E.BECOME_LEADER) & ~F.col(N.IS_NEW_LEADER)
        begun = F.struct(
            F.col(C.LOG_END_OFFSET).alias("leo"),
            F.when(_begins_in_sync(i), now_ms()).otherwise(NEVER_MS).alias("ms"),
        )
        at = F.struct(F.col(C.LOG_END_OFFSET).alias("leo"), now_ms().alias("ms"))
        previous[slot_column("previous", i)] = carried(F.when(fetched, at).when(kept, begun), rows_before())
    caught: dict[str, Column] = {}
    for i in range(slots):
        before = F.col(slot_column("previous", i))
        fetched = is_event_of(i, E.FETCH)
        proof = (
            F.when(fetched & (F.col(C.FETCH_OFFSET) >= F.col(C.LOG_END_OFFSET)), now_ms())
            .when(fetched & F.col(N.IS_PROVEN_CAUGHT_UP), now_ms())
            .when(fetched & (F.col(C.FETCH_OFFSET) >= before["leo"]), before["ms"])
            .when(is_event(E.BECOME_LEADER) & _begins_in_sync(i), now_ms())
        )
        caught[slot_column(N.CAUGHT_UP_MS, i)] = F.coalesce(F.max(proof).over(so_far()), F.lit(NEVER_MS))
    return states.withColumns(previous).withColumns(caught).drop(*previous)


def _begins_in_sync(slot: int) -> Column:
    """Return whether the leadership begins with the replica in its ISR; where no line tells, each may be."""
    return F.coalesce(in_mask(F.col(N.ISR_MASK), slot), F.lit(True))


def is_eligible(slot: int, profile: Profile) -> Column:
    """Return whether the replica may join the ISR: has it fetched as the broker it now is, unfenced (3.6+)."""
    has_fetched = (F.col(slot_column(C.REMOTE_LEO, slot)) >= 0) & ~(
        F.lit(profile.states_broker_epochs) & F.col(slot_column(N.IS_REREGISTERED, slot))
    )
    return ~F.lit(profile.eligibility) | (has_fetched & ~_is_fenced(slot))


def _is_fenced(slot: int) -> Column:
    """Return whether the replica's broker is known to be fenced, or shutting down."""
    return in_mask(F.coalesce(F.col(N.FENCED_MASK), F.lit(0)), slot)


def may_join(slot: int, profile: Profile) -> Column:
    """Return whether the leader may propose the fetching replica for the ISR (P:1018 maybeExpandIsr).

    An inferred ISR has no proposals: who is caught up is in it.
    """
    outside = in_mask(F.col(N.ASSIGNED_MASK), slot) & ~in_mask(F.col(N.ISR_MASK), slot)
    if profile.has_untold_isr:
        outside = outside & ~F.col(C.IS_ISR_INFERRED)
    return outside & ~(F.lit(profile.fenced_may_not_join) & _is_fenced(slot))


def is_caught_up(slot: int, profile: Profile) -> Column:
    """Return whether the replica was caught up within replica.lag.time.max.ms (`<=`, R:62)."""
    return now_ms() - F.col(slot_column(N.CAUGHT_UP_MS, slot)) <= profile.lag_time_ms


def with_joining(states: DataFrame, slots: int, profile: Profile, least_hw: Column) -> DataFrame:
    """Return the events with `joining_mask`: the replica whose joining the ISR is in flight, as a bit mask.

    A fetch proposes its replica when nothing else is in flight, it is eligible and outside the ISR, and its offset has
    reached the HW and the epoch's start. The HW without a joining replica decides it, for before the proposal there
    is none; and as the HW a leadership begins with is at most the epoch's start, its start need not be known. Where a
    tail alone is replayed, `least_hw` is what the HW had risen to before it. The proposal ends with any commit or
    rejection, and none is made while a shrink is in flight.
    """
    proposes = F.lit(0)
    for i in range(slots):
        proposes = F.when((F.col(N.SLOT) == i) & may_join(i, profile), 1 << i).otherwise(proposes)
    reached = F.expr(N.RECORDED_OFFSET) >= F.greatest(F.col(N.RISEN_BEFORE), F.col(N.EPOCH_START), least_hw)
    wish = F.when(is_event(E.FETCH) & reached & (proposes > 0), proposes).when(is_event(N.SHRINK_PROPOSED), 0)
    # The first one since all was settled: of the latest stretch between two settlings the least place.
    entry = F.struct(N.SETTLED, (-F.col(N.PLACE)).alias("place"), wish.alias("wish"))
    first = F.max(F.when(wish.isNotNull(), entry)).over(so_far())
    marked = states.withColumn("first", first)
    is_in_flight = F.col("first")[N.SETTLED] == F.col(N.SETTLED)
    joining = F.when(is_in_flight, F.col("first")["wish"]).otherwise(0)
    return marked.withColumn(N.JOINING_MASK, joining).drop("first")


def is_settled() -> Column:
    """Return whether the event ends what was in flight: a commit, a rejection, a new leadership."""
    return is_event(E.BECOME_LEADER) | is_event(E.ISR_CHANGE) | is_event(N.REJECTION)
