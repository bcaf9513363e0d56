"""What the HW rose to under the rules that were, and what it would have under others: over the same events in order.

Which event was first the brokers' own words decided, and no other rule changes that, nor whose LEO was known when. So
the order is made by the rules that were, and the HW worked out of it twice.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_event
from replay.events.leaderships import STATED_HW
from replay.high_watermark import allows
from replay.passengers import aboard
from replay.profile import Profile
from replay.states.leader import leader_states, remembered
from replay.states.variables import risen_at_least
from schemas import columns as C
from schemas.kinds import EventType

WAS_RISEN_TO = "was_risen_to"
"""bigint: `risen_to` under the rules that were."""
WAS_START = "was_start_high_watermark"
"""bigint: the leader's HW when the leadership began, as it was."""
_GIVEN = "given"


def states_of_both(
    ordered: DataFrame, slots: int, spoken: Profile, otherwise: Profile, min_isr: int | Column | None
) -> DataFrame:
    """One row per event, as `leader.remembered` has it under the rules `otherwise`; and `was_risen_to`.

    `ordered` are the events in order, `spoken` the rules that were. With `min_isr` every topic has that one.
    """
    was = leader_states(aboard(ordered, ordered.columns, _GIVEN), slots, spoken)
    known = was.select(
        f"{_GIVEN}.*", F.col(N.RISEN_TO).alias(WAS_RISEN_TO), N.ISR_MASK, N.ASSIGNED_MASK,
        F.coalesce(allows(spoken), F.lit(False)).alias("was_allowed"),
    )  # fmt: skip
    if min_isr is not None:
        known = known.withColumn(C.MIN_ISR, F.lit(min_isr).cast(C.MIN_ISR.type))
    is_void = is_event(EventType.WITNESS) & ~_still_proves(spoken, otherwise)
    believed = known.withColumn(C.LAST_OFFSET, F.when(~is_void, F.col(C.LAST_OFFSET)))
    return remembered(believed.drop(N.ISR_MASK, N.ASSIGNED_MASK, "was_allowed"), slots, otherwise)


def _still_proves(spoken: Profile, otherwise: Profile) -> Column:
    """Return whether an acks=all success proves the HW under other rules as well.

    Not if these do not let it rise where those did; nor if it may have waited longer for a replica outside the ISR.
    """
    is_whole = F.bit_count(N.ISR_MASK) >= F.bit_count(N.ASSIGNED_MASK)
    waits_no_longer = F.lit(otherwise.lag_time_ms) <= F.lit(spoken.lag_time_ms)
    is_allowed = F.coalesce(allows(otherwise), F.lit(False)) | ~F.col("was_allowed")
    return is_allowed & (waits_no_longer | F.coalesce(is_whole, F.lit(False)))


def with_words_that_stand(states: DataFrame, starts: DataFrame) -> DataFrame:
    """Return the events of `states_of_both` with what brokers said of the HW wherever the rules made no difference.

    Where they did, what was said is of another HW: neither a response bears witness, nor a line. `starts` is
    `starts.starts_of_both`.
    """
    began = F.broadcast(starts.select(*N.LEADERSHIP, N.START_HW, WAS_START))
    is_same_start = F.col(N.START_HW).eqNullSafe(F.col(WAS_START))
    is_same = F.greatest(N.START_HW, N.RISEN_TO).eqNullSafe(F.greatest(WAS_START, WAS_RISEN_TO))
    said = F.when(is_same, F.col(C.RESPONSE_HIGH_WATERMARK))
    known = states.join(began, [*N.LEADERSHIP], "left").withColumns(
        {
            N.RISEN_AT_LEAST: risen_at_least(said),
            C.RESPONSE_HIGH_WATERMARK: said,
            STATED_HW: F.when(is_same_start, F.col(STATED_HW)),
        }
    )
    return known.select(*[c for c in states.columns if c != WAS_RISEN_TO])
