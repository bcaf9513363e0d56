"""`replica_timeline`: a replica's own state from one change of it to the next.

A leader's state is its own. A follower's LEO is what it asks for, and after a response what its next fetch asks for;
its HW is the smaller of the HW it was told and its LEO after the append (`AbstractFetcherThread.processFetchRequest`,
`UnifiedLog.maybeUpdateHighWatermark`, UL:590).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import SLOTS, in_mask
from replay.leaderships import LOADED_HW
from replay.names import slot_column
from replay.passengers import packed, unpacked
from replay.windows import across, carried, history
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_BOUND, UNKNOWN_OFFSET
from schemas.kinds import EventType, Exactness, Role

_OF_LEADER = (
    N.TENURE, C.LEADER_EPOCH, N.INCARNATION, N.ISR_MASK, N.ASSIGNED_MASK, C.LOG_END_OFFSET, C.HIGH_WATERMARK,
    C.EXACTNESS, C.LOG_END_OFFSET_HIGH, C.HIGH_WATERMARK_HIGH,
)  # fmt: skip
"""What the state of a leader is made of."""
_SHOWN = (*C.PARTITION_KEY, C.CAPTURE_ID)
_OWN_LEO, _OWN_HW, _OPEN, _LEADER_CHANGES, _WHOSE = "own_leo", "own_hw", "open", "leader_changes", "whose"


def replica_states(known: DataFrame, slots: int) -> DataFrame:
    """One row per change of a replica's state: what `replica_timeline` shows, and `is_restart`."""
    own = _with_own_state(packed(known, _SHOWN, N.SHOWN), slots)
    loaded = (F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value) & F.col(LOADED_HW).isNotNull()
    # A number is exploded, not the states: of most events one replica changes, and arrays of structs are costly.
    each = own.withColumn(_WHOSE, F.explode(F.array(*[F.when(_may_change(i), i) for i in range(slots)])))
    states = each.where(F.col(_WHOSE).isNotNull()).select(
        N.PARTITION_NUMBER, C.LEADER_EPOCH, C.EVENT_SEQ, N.SHOWN,
        (loaded | (F.col(C.EVENT_TYPE) == N.REPLICA_RESTART)).alias(N.IS_RESTART),
        F.timestamp_micros(F.expr(N.ORDER_US)).alias(C.VALID_FROM),
        F.get(F.col(SLOTS), F.col(_WHOSE)).alias(C.REPLICA_ID),
        *_state(slots),
    )  # fmt: skip
    before = F.lag("state").over(_of_replica())
    changed = states.withColumn("before", before).where(~F.col("before").eqNullSafe(F.col("state")))
    return unpacked(unpacked(changed.drop("before", C.LEADER_EPOCH), "state"), N.SHOWN)


def replica_timeline(states: DataFrame) -> DataFrame:
    """One row per change of a replica's state, of `schemas.tables.REPLICA_TIMELINE`; `states` is `replica_states`."""
    followed = states.withColumn("until", F.lead(C.VALID_FROM).over(_of_replica()))
    until = F.when(F.col("until").isNotNull(), F.greatest(C.VALID_FROM, "until"))
    return T.REPLICA_TIMELINE.conform(followed.withColumn(C.VALID_TO, until))


def _of_replica() -> WindowSpec:
    return Window.partitionBy(N.PARTITION_NUMBER, C.REPLICA_ID).orderBy(C.LEADER_EPOCH, C.EVENT_SEQ)


def _is(event: str, slot: int) -> Column:
    return (F.col(C.EVENT_TYPE) == str(event)) & (F.col(N.SLOT) == slot)


def _with_own_state(known: DataFrame, slots: int) -> DataFrame:
    """Return the events with `own_leo_<slot>`, `own_hw_<slot>` and `open_<slot>`, and `leader_changes`.

    `open` is what the replica has if it took its last response: nothing tells, until something does.
    """
    had = F.lag(F.struct(*_OF_LEADER)).over(history())
    columns: dict[str, Column] = {_LEADER_CHANGES: ~had.eqNullSafe(F.struct(*_OF_LEADER))}
    for i in range(slots):
        leads = F.col(N.LEADER_SLOT) == i
        fetch, response = _is(EventType.FETCH, i), _is(N.RESPONSE, i)
        restart = _is(N.REPLICA_RESTART, i)
        taken = F.col(N.IS_TAKEN) & (F.col(N.FOLLOWER_LEO) >= 0)
        leo = (
            F.when(fetch | restart, F.col(C.FETCH_OFFSET))
            .when(response & taken, F.col(N.FOLLOWER_LEO))
            .when(_witnessed(i), F.col(slot_column(C.REMOTE_LEO, i)))
        )
        told = F.least(F.col(C.RESPONSE_HIGH_WATERMARK), F.col(N.FOLLOWER_LEO))
        # A reassignment that drops a replica deletes its log (`StopReplica`): assigned again, it starts anew.
        dropped = F.coalesce(~in_mask(F.col(N.NEW_ASSIGNED_MASK), i), F.lit(False))
        columns[slot_column(_OWN_LEO, i)] = _last(
            F.when(leads, F.col(C.LOG_END_OFFSET)).when(dropped, UNKNOWN_OFFSET).otherwise(leo)
        )
        columns[slot_column(_OWN_HW, i)] = _last(
            F.when(leads, F.col(C.HIGH_WATERMARK))
            .when(dropped, UNKNOWN_OFFSET)
            .when(restart, F.col(C.RESPONSE_HIGH_WATERMARK))
            .otherwise(F.when(response & taken, told))
        )
        said = F.struct(
            (response & ~taken).alias("may_be"),
            F.col(C.LOG_END_OFFSET).alias("leo"),
            F.col(C.RESPONSE_HIGH_WATERMARK).alias("hw"),
        )
        columns[slot_column(_OPEN, i)] = carried(F.when(response | leads | dropped | leo.isNotNull(), said), across())
    return known.withColumns(columns)


def _witnessed(slot: int) -> Column:
    """Return whether the event proves that the replica asked for what no line shows it asked for."""
    return (F.col(C.EVENT_TYPE) == EventType.WITNESS.value) & in_mask(F.col(N.NEW_ISR_MASK), slot)


def _last(value: Column) -> Column:
    return F.coalesce(carried(value, across()), F.lit(UNKNOWN_OFFSET))


def _may_change(slot: int) -> Column:
    """Return whether the event touches the replica in `slot`, and leaves it in another state as far as is known here.

    A leader is touched by every event, and few change what it has: whether one does is seen beside the event before.
    """
    leads = F.col(N.LEADER_SLOT) == slot
    own = _is(EventType.FETCH, slot) | _is(N.RESPONSE, slot) | _is(N.REPLICA_RESTART, slot)
    everyone = (EventType.BECOME_LEADER.value, EventType.ISR_CHANGE.value, EventType.WITNESS.value)
    # Of an epoch whose requests nobody logged, followers' own lines tell: `replay.told_replicas`.
    touched = (own | F.col(C.EVENT_TYPE).isin(*everyone)) & ~F.col(N.IS_UNHEARD)
    assigned = in_mask(F.col(N.ASSIGNED_MASK), slot) & F.get(F.col(SLOTS), F.lit(slot)).isNotNull()
    return F.when(leads, F.col(_LEADER_CHANGES)).otherwise(touched) & assigned


def _state(slots: int) -> list[Column]:
    """Return the state of the replica in `_WHOSE` after the event: `state`, compared as one, and the lower bounds."""
    slot, leads = F.col(_WHOSE), F.col(N.LEADER_SLOT) == F.col(_WHOSE)
    leo, hw, last = (_of_slot(name, slots) for name in (_OWN_LEO, _OWN_HW, _OPEN))
    unsure = F.col(N.IS_UNSURE) & ~leads
    open_end = F.coalesce(last["may_be"], F.lit(False))
    clamped = F.when(leo >= 0, F.least(hw, leo)).otherwise(hw)
    leo_high = F.when(open_end, F.greatest(leo, last["leo"])).otherwise(leo)
    hw_high = F.when(open_end, F.greatest(clamped, last["hw"])).otherwise(clamped)
    told_less = F.when(open_end, F.least(clamped, last["hw"])).otherwise(clamped)

    def high(bound: str, of_follower: Column) -> Column:
        return F.when(leads, F.col(bound)).when(unsure, NO_BOUND).otherwise(of_follower)

    state = F.struct(
        F.when(leads, Role.LEADER.value).otherwise(Role.FOLLOWER.value).alias(C.ROLE),
        leo.alias(C.LOG_END_OFFSET),
        F.when(leads, leo).otherwise(_of_slot(C.REMOTE_LEO, slots)).alias(C.REMOTE_LEO),
        clamped.alias(C.HIGH_WATERMARK),
        F.coalesce(F.getbit(F.col(N.ISR_MASK), slot) != 0, F.lit(False)).alias(C.IN_ISR),
        F.col(C.LEADER_EPOCH),
        _exactness(leads, open_end | unsure).alias(C.EXACTNESS),
        high(C.LOG_END_OFFSET_HIGH, leo_high).alias(C.LOG_END_OFFSET_HIGH),
        high(C.HIGH_WATERMARK_HIGH, hw_high).alias(C.HIGH_WATERMARK_HIGH),
    )
    return [
        state.alias("state"),
        F.when(leads, F.col(C.LOG_END_OFFSET_LOW)).otherwise(leo).alias(C.LOG_END_OFFSET_LOW),
        F.when(leads, F.col(C.HIGH_WATERMARK_LOW)).otherwise(told_less).alias(C.HIGH_WATERMARK_LOW),
    ]


def _of_slot(name: str, slots: int) -> Column:
    """Return the column of `name` for the slot in `_WHOSE`."""
    value = F.lit(None)
    for i in range(slots):
        value = F.when(F.col(_WHOSE) == i, F.col(slot_column(name, i))).otherwise(value)
    return value


def _exactness(leads: Column, open_end: Column) -> Column:
    """Return how the state is known: a response that no later fetch follows may not have arrived."""
    return F.when(leads, F.col(C.EXACTNESS)).when(open_end, Exactness.BOUNDED.value).otherwise(Exactness.EXACT.value)
