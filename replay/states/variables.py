"""The variables of the rules table (`replay.rules`) as they stood after each event: one window of the leadership."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_event
from replay.in_sync import is_settled
from replay.names import slot_column
from replay.profile import Profile
from replay.rules import bound, current, evaluates_high_watermark, within
from replay.states.unheard import unheard
from replay.windows import carried, place, so_far, tenure_before
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

LEADER_VARIABLES = (C.LOG_END_OFFSET, C.LOG_START_OFFSET, N.ISR_MASK, N.ASSIGNED_MASK, N.FENCED_MASK)


def with_variables(ordered: DataFrame, slots: int, profile: Profile, *, has_witnesses: bool) -> DataFrame:
    """Return the events with every variable of the rules table as it stood after them."""
    is_long = profile.has_long_tenures
    variables: dict[str, Column] = {name: current(name) for name in LEADER_VARIABLES}
    variables[C.LOG_END_OFFSET] = F.coalesce(variables[C.LOG_END_OFFSET], F.lit(UNKNOWN_OFFSET))
    variables[C.LOG_START_OFFSET] = F.coalesce(variables[C.LOG_START_OFFSET], F.lit(UNKNOWN_OFFSET))
    variables[N.ASSIGNED_MASK] = F.coalesce(variables[N.ASSIGNED_MASK], F.col(N.EVERY_MASK))
    variables[N.PLACE] = F.row_number().over(place())
    variables[N.SETTLED] = F.count_if(is_settled()).over(so_far())
    variables[N.RISEN_AT_LEAST] = risen_at_least(F.col(C.RESPONSE_HIGH_WATERMARK))
    variables |= unheard(slots)
    # A response is no event of the leader's, and a witness was not where its append is: what follows is what follows
    # the event before.
    is_leaders = ~is_event(N.RESPONSE, EventType.WITNESS)
    variables[N.MAY_HAVE_GROWN_TO] = _may_have_grown_to(is_leaders)
    if has_witnesses and profile.has_outsiders:
        variables[N.HW_IF_WAITED] = carried(F.when(is_leaders, F.col(N.HW_IF_WAITED)), so_far())
    for i in range(slots):
        remote = current(C.REMOTE_LEO, i, has_long_tenures=is_long)
        if has_witnesses:
            variables[slot_column(N.REMOTE_LEO_BOUND, i)] = bound(C.REMOTE_LEO, i, has_long_tenures=is_long)
        is_anew = current(N.IS_REREGISTERED, i, has_long_tenures=is_long)
        # What a witness proves is no fetch: the HW is evaluated where one differs from the last that is known.
        before = within(tenure_before(is_long=is_long), C.REMOTE_LEO, i)
        variables[slot_column(C.REMOTE_LEO, i)] = F.coalesce(remote, F.lit(UNKNOWN_OFFSET))
        variables[slot_column(N.IS_REREGISTERED, i)] = F.coalesce(is_anew, F.lit(False))
        variables[slot_column(N.REMOTE_LEO_BEFORE, i)] = F.coalesce(before, F.lit(UNKNOWN_OFFSET))
    with_state = ordered.withColumns(variables)
    if has_witnesses:
        with_state = _with_raised(with_state, slots)
    of_fetcher = F.lit(None)
    for i in range(slots):
        of_fetcher = F.when(F.col(N.SLOT) == i, F.col(slot_column(N.REMOTE_LEO_BEFORE, i))).otherwise(of_fetcher)
    return (
        with_state.withColumn(N.FETCHER_LEO_BEFORE, of_fetcher)
        .withColumn(N.IS_EVALUATED, F.coalesce(evaluates_high_watermark(profile), F.lit(False)))
        .withColumn(N.FOLLOWER_LEO, _no_more_than_the_leader_has())
        .drop(*[slot_column(N.REMOTE_LEO_BEFORE, i) for i in range(slots)])
    )


def _may_have_grown_to(is_leaders: Column) -> Column:
    """Return where the next append begins: that only rises, also where a fetch was moved across one.

    How long the log was that its leader left is known again when its process has ended.
    """
    found = F.when(is_event(EventType.RESTART), F.col(N.MAY_HAVE_GROWN_TO))
    grown_to = F.max(F.when(is_leaders, F.col(N.MAY_HAVE_GROWN_TO))).over(so_far())
    return F.coalesce(found, grown_to, F.lit(UNKNOWN_OFFSET))


def _with_raised(states: DataFrame, slots: int) -> DataFrame:
    """Return the events with remote LEOs raised to what a witness proves, and `raised_mask`, of whom it does."""
    bounds, remotes = (
        [F.col(slot_column(name, i)) for i in range(slots)] for name in (N.REMOTE_LEO_BOUND, C.REMOTE_LEO)
    )
    raised = [
        F.when(least > remote, 1 << i).otherwise(0)
        for i, (least, remote) in enumerate(zip(bounds, remotes, strict=True))
    ]
    known = {slot_column(C.REMOTE_LEO, i): F.greatest(bounds[i], remotes[i]) for i in range(slots)}
    return states.withColumns({N.RAISED_MASK: sum(raised, F.lit(0)), **known}).drop(
        *[slot_column(N.REMOTE_LEO_BOUND, i) for i in range(slots)]
    )


def _no_more_than_the_leader_has() -> Column:
    """Return the fetcher's LEO after its response.

    If its next fetch is of a later leadership, the fetcher may have led in between: what it asks for there is no more
    of this leader's. What it had before the response it has: a diverging one may bring none, and be from beyond this
    leader's log. Where that may be longer than is known, nothing tells how much of it came.
    """
    has, next_asks = F.col(C.LOG_END_OFFSET), F.col(N.FOLLOWER_LEO)
    is_last = is_event(N.RESPONSE) & F.col(N.NEXT_FETCH_US).isNull() & (has >= 0)
    taken = F.when((next_asks > has) & (F.col(N.MAY_HAVE_GROWN_TO) > has), UNKNOWN_OFFSET)
    taken = taken.otherwise(F.least(next_asks, has))
    return F.when(is_last & (next_asks > F.col(C.FETCH_OFFSET)), taken).otherwise(next_asks)


def risen_at_least(told: Column) -> Column:
    """Return the greatest HW `told` to a follower so far: the leader had it by then, whatever else the log shows."""
    return F.coalesce(F.max(F.when(is_event(N.RESPONSE), told)).over(so_far()), F.lit(UNKNOWN_OFFSET))
