"""`leader_timeline`: an event at a partition's leader, and what the leader knew after it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import replica_in, replicas_of
from replay.brokers_rules import of_each_leader
from replay.event_types import event_type, is_event, is_public
from replay.events.next_roles import REACHED
from replay.high_watermark import effective_min_isr, holds, is_under_min_isr
from replay.names import slot_column
from replay.profile import Profile
from replay.settings import UNKNOWN_MIN_ISR
from replay.states.by_replica import with_replicas
from replay.states.inferred_isr import bounds_of_inferred
from replay.states.log_starts import GIVEN_UP_AT
from replay.states.starts import START_IS_STATED
from replay.states.undecided import with_undecided
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_BOUND, UNKNOWN_OFFSET
from schemas.kinds import EventType, Exactness


def with_high_watermark(
    states: DataFrame, starts: DataFrame, assigned: DataFrame, slots: int, profile: Profile
) -> DataFrame:
    """Return the events with `high_watermark`, its bounds and its exactness: the greater of start and candidates.

    Likewise `log_start_offset`: where the leader's log started, or was moved to since.

    And with the partition's key and slots again: up to here its number stood for them.
    """
    named = states.join(F.broadcast(assigned), N.PARTITION_NUMBER)
    known = named.join(F.broadcast(starts.drop(GIVEN_UP_AT)), [*N.LEADERSHIP], "left")
    start, risen = F.coalesce(F.col(N.START_HW), F.lit(UNKNOWN_OFFSET)), F.col(N.RISEN_TO)
    is_unknown = (start < 0) & (risen < F.col(N.EPOCH_START))
    rebuilt = low = high = F.greatest(start, risen)
    if profile.has_outsiders or profile.has_untold_isr:
        surely = F.least(N.RISEN_SURELY, N.HW_IF_WAITED)
        low, high = F.greatest(start, surely), F.greatest(start, N.RISEN_PERHAPS)
    if profile.has_untold_isr:
        low, high = bounds_of_inferred(low, high)
    # What a response told the leader had: something let the HW rise that no line shows, as far as to the LEO maybe; and
    # where no line tells how long the log is, nobody knows how far.
    is_told = F.col(N.RISEN_AT_LEAST) > rebuilt
    low = F.greatest(low, N.RISEN_AT_LEAST)
    longest = F.when(F.col(C.LOG_END_OFFSET) < 0, NO_BOUND).otherwise(F.col(C.LOG_END_OFFSET))
    high = F.when(low > high, F.greatest(low, longest)).otherwise(high)
    began_at = F.when(F.col(C.LOG_END_OFFSET) < 0, NO_BOUND).otherwise(F.col(N.EPOCH_START))
    high = F.when(is_unknown, F.greatest(high, began_at)).otherwise(
        F.greatest(high, _unheard_of(slots), N.MAY_HAVE_RISEN_TO)
    )
    is_stated = (F.col(START_IS_STATED) & (start > risen)) | is_event(EventType.WITNESS) | is_told
    return known.withColumns(_values(low, high, is_unknown, is_stated, profile))


def _values(low: Column, high: Column, is_unknown: Column, is_stated: Column, profile: Profile) -> dict[str, Column]:
    """Return HW, LEO and log start of a row, with their bounds and exactness; from `low` to `high` the HW may be.

    What a response calls committed is in the log, though no line tells of all its appends. (Up to 2.3 a HW may be told
    that lies above the leader's own log.)
    """
    leo = F.col(C.LOG_END_OFFSET)
    is_longer = (leo >= 0) & (F.col(N.RISEN_AT_LEAST) > leo) & ~F.lit(profile.evaluates_each_fetch)
    end = F.when(is_longer, low).otherwise(leo)
    most = F.when(is_longer, NO_BOUND).otherwise(high)
    return {
        C.HIGH_WATERMARK: low,
        C.LOG_START_OFFSET: F.greatest(C.LOG_START_OFFSET, N.START_LOG_START),
        C.HIGH_WATERMARK_LOW: low,
        C.HIGH_WATERMARK_HIGH: most,
        C.LOG_END_OFFSET: end,
        C.LOG_END_OFFSET_LOW: end,
        C.LOG_END_OFFSET_HIGH: F.when(is_longer, NO_BOUND).otherwise(F.greatest(leo, N.MAY_HAVE_GROWN_TO)),
        N.IS_UNSURE: F.lit(False),
        N.IS_UNHEARD: F.lit(False),
        C.EXACTNESS: F.when(is_unknown | (low < most), Exactness.BOUNDED.value)
        .when(is_stated, Exactness.STATED.value)
        .otherwise(Exactness.EXACT.value),
    }


def leader_timeline(known: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """One row per event at a leader, of `schemas.tables.LEADER_TIMELINE`."""
    public = with_replicas(known.where(is_public()), slots, profile)
    return _rows(with_undecided(public, slots, of_each_leader(profile)), slots, profile)


def undoubted(known: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the same, before the next event puts a row's HW in doubt (`undecided`): no row needs another."""
    return _rows(with_replicas(known.where(is_public()), slots, profile), slots, profile)


def _rows(public: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """One row per event that the timeline shows, of `schemas.tables.LEADER_TIMELINE`."""
    joining, by_leaders = F.col(N.JOINING_MASK), of_each_leader(profile)
    with_joining = replicas_of(F.col(N.ISR_MASK).bitwiseOR(joining), slots)
    return T.LEADER_TIMELINE.conform(
        public.withColumns(
            {
                C.EVENT_TYPE: event_type(),
                C.EVENT_TIME: F.timestamp_micros(F.expr(N.ORDER_US)),
                C.IS_ISR_INFERRED: F.col(C.IS_ISR_INFERRED) if profile.has_untold_isr else F.lit(False),
                C.MAXIMAL_ISR: F.when(joining == 0, F.col(C.ISR)).otherwise(with_joining),
                C.IS_UNDER_MIN_ISR: F.when(F.col(C.MIN_ISR) >= 0, is_under_min_isr(by_leaders)),
                C.MIN_ISR: F.when(F.col(C.MIN_ISR) >= 0, effective_min_isr(by_leaders)).otherwise(UNKNOWN_MIN_ISR),
                # Of a leadership whose begin and appends no line tells, the LEO is unknown, and so how far the HW rose.
                # Where lines name two leaders of an epoch, or a member that is no replica, none is picked silently.
                C.EXACTNESS: F.when(
                    (F.col(C.LOG_END_OFFSET) < 0) | F.col(N.IS_CONTESTED) | _has_strange_members(),
                    Exactness.BOUNDED.value,
                ).otherwise(F.col(C.EXACTNESS)),
                C.LAST_STABLE_OFFSET: F.when(_has_no_lso(), UNKNOWN_OFFSET).otherwise(
                    F.least(C.LAST_STABLE_OFFSET, C.HIGH_WATERMARK)
                ),
            }
        )
    )


def _has_no_lso() -> Column:
    """Return whether nothing tells of transactions: of none below the HW in a log of which no request is logged."""
    may_hold_one = F.col(C.HIGH_WATERMARK) > F.greatest(C.LOG_START_OFFSET, F.lit(0))
    return F.col(N.IS_UNSURE) | (F.col(N.IS_UNHEARD) & may_hold_one)


def _has_strange_members() -> Column:
    """Return whether the ISR holds a replica that is not assigned."""
    return F.col(N.ISR_MASK).bitwiseAND(F.bitwise_not(N.ASSIGNED_MASK)) != 0


def _unheard_of(slots: int) -> Column:
    """Return how far the HW may have risen before the leader's process ended, by requests that it never logged.

    An append may be among them, or one of which nothing tells where it ended: then its log was longer than is known.
    """
    longest, reached = F.greatest(C.LOG_END_OFFSET, N.MAY_HAVE_GROWN_TO), []
    for i in range(slots):
        told = F.coalesce(F.try_element_at(F.col(REACHED), replica_in(i)), longest)
        asked = F.greatest(F.col(slot_column(C.REMOTE_LEO, i)), told)
        reached.append(F.when(holds(i, F.col(N.JOINING_MASK)), asked))
    return F.when(is_event(EventType.RESTART), F.least(longest, *reached))
