"""`replica_timeline`: a replica's own state from one change of it to the next; `own_states` says what it has."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import SLOTS, in_mask
from replay.event_types import is_event, is_event_of
from replay.events.leaderships import LOADED_HW
from replay.names import slot_column
from replay.passengers import unpacked
from replay.profile import Profile
from replay.states.own_states import BOUND, LEADER_CHANGES, OPEN, OPEN_HW, OWN_HW, OWN_LEO, with_own_state
from replay.windows import following
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_BOUND
from schemas.kinds import EventType, Exactness, Role

_REPLICA = (N.PARTITION_NUMBER, C.REPLICA_ID)
IN_ORDER_OF_REPLICA = (*_REPLICA, *C.TIMELINE_ORDER)
_WHOSE = "whose"
"""int: slot of the replica whose state the row is."""
_OF_ALL = "of_all"
"""boolean: the event is one of every replica."""
_EVERYONES = (EventType.BECOME_LEADER, EventType.ISR_CHANGE, EventType.WITNESS)


def replica_states(known: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """One row per change of a replica's state: what `replica_timeline` shows, `is_restart` and `begins_epoch`.

    Where a replica is dropped, it has a row without a role. The partition's number stands for its key: texts are copied
    at every step.
    """
    own = with_own_state(known, slots, profile).withColumn(_OF_ALL, is_event(*_EVERYONES))
    loaded = is_event(EventType.BECOME_LEADER) & F.col(LOADED_HW).isNotNull()
    # A number is exploded, not the states: of most events one replica changes, and arrays of structs are costly.
    each = own.withColumn(_WHOSE, F.explode(F.array(*[F.when(_may_change(i), i) for i in range(slots)])))
    states = each.where(F.col(_WHOSE).isNotNull()).select(
        N.PARTITION_NUMBER, C.LEADER_EPOCH, C.EVENT_SEQ, C.CAPTURE_ID,
        (loaded | is_event(N.REPLICA_RESTART)).alias(N.IS_RESTART),
        F.timestamp_micros(F.expr(N.ORDER_US)).alias(C.VALID_FROM),
        F.get(F.col(SLOTS), F.col(_WHOSE)).alias(C.REPLICA_ID),
        *_state(slots),
    )  # fmt: skip
    before = F.lag("state").over(_of_replica())
    changed = states.withColumn("before", before).where(~F.col("before").eqNullSafe(F.col("state")))
    begins = ~F.col("before")[C.LEADER_EPOCH].eqNullSafe(F.col(C.LEADER_EPOCH))
    # The epoch that they are in order of, not its copy: so it is known that they are, and no second sort is planned.
    known = changed.withColumns({"state": F.col("state").dropFields(C.LEADER_EPOCH), N.BEGINS_EPOCH: begins}).drop(
        "before"
    )
    return unpacked(known, "state")


def lasting(states: DataFrame) -> DataFrame:
    """One row per row of `replica_states`, of `schemas.tables.REPLICA_TIMELINE`: those without a role too.

    A state ends where the next one begins, or that of the next leader epoch. Of a leader that was killed, or goes on
    though it was deposed, lines tell after the next one's begin: what they tell of lasts no time.
    """
    began = states.withColumn("began", F.when(F.col(N.BEGINS_EPOCH), F.col(C.VALID_FROM)))
    ahead = {
        "until": F.lead(C.VALID_FROM).over(_of_replica()),
        "next_epoch": following("began", _REPLICA, C.TIMELINE_ORDER),
    }
    until = F.greatest(C.VALID_FROM, F.least("until", "next_epoch"))
    followed = began.withColumns(ahead).withColumn(C.VALID_TO, F.when(F.col("until").isNotNull(), until))
    return T.REPLICA_TIMELINE.conform(followed)


def of_assigned(timeline: DataFrame) -> DataFrame:
    """Return `replica_timeline`: `lasting` without the rows of who was dropped, which ended the state before."""
    return timeline.where(F.col(C.ROLE).isNotNull())


def _of_replica() -> WindowSpec:
    return Window.partitionBy(*_REPLICA).orderBy(*C.TIMELINE_ORDER)


def _may_change(slot: int) -> Column:
    """Return whether the event touches the replica in `slot`, and leaves it in another state as far as is known here.

    Who is not assigned after it may have been dropped by it.
    A leader is touched by every event, and few change what it has: whether one does is seen beside the event before.
    """
    leads, of_all = F.col(N.LEADER_SLOT) == slot, F.col(_OF_ALL)
    own = is_event_of(slot, EventType.FETCH, N.RESPONSE, N.REPLICA_RESTART, N.REFUSED)
    # Of an epoch whose requests nobody logged, followers' own lines tell: `told_replicas`.
    changes = F.when(leads, F.col(LEADER_CHANGES)).otherwise((own | of_all) & ~F.col(N.IS_UNHEARD))
    return F.when(in_mask(F.col(N.ASSIGNED_MASK), slot), changes).otherwise(of_all)


def _state(slots: int) -> list[Column]:
    """Return the state of the replica in `_WHOSE` after the event: `state`, compared as one, and the lower bounds."""
    slot, leads = F.col(_WHOSE), F.col(N.LEADER_SLOT) == F.col(_WHOSE)
    is_assigned = F.getbit(F.col(N.ASSIGNED_MASK), slot) != 0
    told, hw, last, last_hw, proven = (_of_slot(it, slots) for it in (OWN_LEO, OWN_HW, OPEN, OPEN_HW, BOUND))
    leo, is_raised = F.greatest(told, proven["least"]), proven["least"] > told
    unsure, open_end, open_hw = F.col(N.IS_UNSURE), last["may_be"], last_hw["may_be"]
    clamped = F.when(leo >= 0, F.least(hw, leo)).otherwise(hw)
    leo_high = F.greatest(leo, F.when(open_end, last["leo"]), F.when(is_raised, proven[C.LOG_END_OFFSET]))
    perhaps = F.when(open_end, last["hw"]).when(open_hw, F.least(last_hw["hw"], leo))
    hw_high = F.greatest(clamped, perhaps, F.when(is_raised, proven[C.HIGH_WATERMARK]))
    told_less = F.least(clamped, perhaps)

    def high(bound: str, of_follower: Column) -> Column:
        is_unknown = unsure | (of_follower < 0)
        return F.when(leads, F.col(bound)).when(is_unknown, NO_BOUND).otherwise(of_follower)

    state = F.struct(
        F.when(is_assigned, F.when(leads, Role.LEADER.value).otherwise(Role.FOLLOWER.value)).alias(C.ROLE),
        leo.alias(C.LOG_END_OFFSET),
        F.when(leads, leo).otherwise(_of_slot(C.REMOTE_LEO, slots)).alias(C.REMOTE_LEO),
        clamped.alias(C.HIGH_WATERMARK),
        F.coalesce(F.getbit(F.col(N.ISR_MASK), slot) != 0, F.lit(False)).alias(C.IN_ISR),
        F.col(C.LEADER_EPOCH),
        _exactness(leads, open_end | open_hw | unsure | is_raised | (clamped < 0)).alias(C.EXACTNESS),
        high(C.LOG_END_OFFSET_HIGH, leo_high).alias(C.LOG_END_OFFSET_HIGH),
        high(C.HIGH_WATERMARK_HIGH, hw_high).alias(C.HIGH_WATERMARK_HIGH),
    )
    return [
        state.alias("state"),
        leo.alias(C.LOG_END_OFFSET_LOW),
        F.when(leads, F.col(C.HIGH_WATERMARK_LOW)).otherwise(told_less).alias(C.HIGH_WATERMARK_LOW),
    ]


def _of_slot(name: str, slots: int) -> Column:
    """Return the column of `name` for the slot in `_WHOSE`."""
    value = F.col(slot_column(name, slots - 1))
    for i in range(slots - 1):
        value = F.when(F.col(_WHOSE) == i, F.col(slot_column(name, i))).otherwise(value)
    return value


def _exactness(leads: Column, open_end: Column) -> Column:
    """Return how the HW is known: a response that no later fetch follows may not have arrived, or none came yet."""
    return F.when(leads, F.col(C.EXACTNESS)).when(open_end, Exactness.BOUNDED.value).otherwise(Exactness.EXACT.value)
