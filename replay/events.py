"""Events: everything that happened at the leaders, one row each, of one shape, placed in its leadership.

An event of a broker that is not the leader of the event's epoch changes nothing there and is left out: its error
code has told the client so.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DataType, IntegerType, LongType, StringType

from replay import names as N
from replay.assignment import SLOTS, mask_of, slot_of
from replay.batch_starts import with_recorded_offset
from replay.fencing import AT_US, FENCED, REGISTERED, fencings
from replay.leaderships import LOADED_HW, LOADS, START_US, STATED_HW, STATED_LEO
from replay.next_roles import NEXT_ROLES, REACHED, reached
from replay.profile import Profile
from replay.restarts import LOADED_LEO
from replay.settings import min_isr
from replay.silence import with_heard_batches
from replay.told import silences, told_events
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_REPLICA, UNKNOWN_OFFSET
from schemas.kinds import AppendSource, ChangeKind, EventType, StatementKind

# fmt: off
SHAPE: dict[str, DataType] = {
    **{c: c.type for c in (*C.PARTITION_KEY, C.CAPTURE_ID, C.SOURCE_FILE, C.SOURCE_LINE, C.LEADER_EPOCH, C.BROKER_ID)},
    C.EVENT_TYPE: StringType(), N.EVENT_US: LongType(), N.LOCAL_US: LongType(), C.REPLICA_ID: IntegerType(),
    C.BASE_OFFSET: LongType(), C.LAST_OFFSET: LongType(), C.FETCH_OFFSET: LongType(), C.ISR: C.INTS, C.REPLICAS: C.INTS,
    FENCED: C.INTS, REGISTERED: C.INTS,
    N.NEW_LOG_START: LongType(), C.SESSION_ID: IntegerType(), C.SESSION_EPOCH: IntegerType(),
    N.RESPONSE_US: LongType(), C.IS_PARKED: BooleanType(), C.RESPONSE_HIGH_WATERMARK: LongType(),
    C.RECORDS_SIZE: LongType(), C.ACKS: IntegerType(), C.ERROR_CODE: IntegerType(), "is_accepted": BooleanType(),
}
# fmt: on
"""Columns of an event before it is placed in its leadership."""

_CHANGE_EVENTS = {
    ChangeKind.BECOME_LEADER: EventType.BECOME_LEADER.value,
    ChangeKind.LEADER_METADATA: EventType.ISR_CHANGE.value,
    ChangeKind.ISR_UPDATED: EventType.ISR_CHANGE.value,
    ChangeKind.ISR_SHRINK_PROPOSED: N.SHRINK_PROPOSED,
    ChangeKind.ISR_CHANGE_REJECTED: N.REJECTION,
}


APPENDS_AFTER, FETCHES_AFTER = 0.1, 0.2
"""Share of a request's local time after which it took effect: with these the bundled captures' HW steps are nearest to
the brokers' own times (99 % within 6.3 ms; with none 6.6 ms, with a half 10.7 ms)."""


def events(
    landed: Mapping[str, DataFrame], begun: DataFrame, restarts: DataFrame, ended: DataFrame, profile: Profile
) -> DataFrame:
    """One row per append, follower's fetch, change of leadership or ISR, or move of the log start, of `SHAPE`.

    `restarts` is `restarts.follower_restarts`, `ended` is `ends.ends`.
    """
    fenced = _fencings(begun, landed[T.BROKER_REGISTRATIONS.name])
    parts: tuple[DataFrame, ...] = (
        _changes(landed),
        _appends(with_heard_batches(landed) if profile.has_silence else landed),
        _fetches(landed, profile),
        _log_starts(landed),
        fenced,
        _restarts(begun, restarts),
        _ends(ended),
    )
    if profile.has_silence:
        told = _shaped(told_events(landed), F.lit(N.TOLD), **{N.EVENT_US: F.col(N.EVENT_US)})
        unheard = _shaped(silences(landed, begun), F.lit(N.SILENCE), **{N.EVENT_US: F.col(N.EVENT_US)})
        parts = (*parts, told, unheard)
    union = parts[0]
    for part in parts[1:]:
        union = union.unionByName(part)
    return union


def _shaped(frame: DataFrame, event_type: Column, **columns: Column) -> DataFrame:
    """Return `frame` as events: its own columns of `SHAPE`, `columns`, and NULL for the rest."""
    given = {
        C.EVENT_TYPE: event_type,
        N.EVENT_US: F.unix_micros(C.EVENT_TIME),
        N.LOCAL_US: F.lit(0),
        C.REPLICA_ID: F.lit(NO_REPLICA),
        **columns,
    }
    own = set(frame.columns)

    def column(name: str, data_type: DataType) -> Column:
        value = given.get(name, F.col(name) if name in own else F.lit(None))
        return value.cast(data_type).alias(name)

    return frame.select(*[column(name, data_type) for name, data_type in SHAPE.items()])


def _changes(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per change that a leader applied to its partition, with the assignment of that partition epoch."""
    changes = landed[T.LEADER_CHANGES.name].where(
        F.col(C.CHANGE_KIND).isin(*[str(kind.value) for kind in _CHANGE_EVENTS])
    )
    registered = landed[T.METADATA_CHANGES.name].groupBy(*C.PARTITION_KEY, C.PARTITION_EPOCH).agg(
        F.max_by(C.REPLICAS, C.METADATA_OFFSET).alias("registered")
    )  # fmt: skip
    told = changes.join(F.broadcast(registered), C.on_partition(C.PARTITION_EPOCH), "left")
    mapping = F.create_map(*[F.lit(str(x)) for kind, event in _CHANGE_EVENTS.items() for x in (kind.value, event)])
    proposed = F.col(C.CHANGE_KIND) == ChangeKind.ISR_SHRINK_PROPOSED.value
    return _shaped(
        told,
        mapping[F.col(C.CHANGE_KIND)],
        **{C.REPLICAS: F.coalesce(C.REPLICAS, "registered"), C.ISR: F.when(~proposed, F.col(C.ISR))},
    )


def _handled_us(share: float) -> Column:
    """Return when the leader did it, microseconds since the epoch: after a share of the time it worked on it."""
    return F.unix_micros(C.EVENT_TIME) + (F.coalesce(C.LOCAL_TIME_US, F.lit(0)) * share).cast("bigint")


def _appends(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per append: a real base offset proves it, whatever the error (6, 7 and 20: appended, not acknowledged).

    acks=0 is never answered with an offset and shows in the dump alone.
    """
    appended = (F.col(C.BASE_OFFSET) >= 0) & (F.col(C.LAST_OFFSET) >= 0)
    # What only a dump tells has the batch's own time; its `local_time_us` is how far that may be off, not work.
    by_request = F.col(C.APPEND_SOURCE) == AppendSource.REQUEST.value
    return _shaped(
        landed[T.PRODUCE_EVENTS.name].where(appended),
        F.lit(EventType.APPEND.value),
        **{
            N.EVENT_US: F.when(by_request, _handled_us(APPENDS_AFTER)).otherwise(F.unix_micros(C.EVENT_TIME)),
            N.LOCAL_US: F.coalesce(C.LOCAL_TIME_US, F.lit(0)),
            N.RESPONSE_US: F.unix_micros(C.RESPONSE_TIME),
        },
    )


def _fetches(landed: Mapping[str, DataFrame], profile: Profile) -> DataFrame:
    """One row per follower's fetch; failed ones too, for they tell the fetcher's LEO, but are not `is_accepted`.

    A fetch is parked only if no partition of it failed or diverged at its first read (`ReplicaManager.fetchMessages`),
    so a parked one was accepted whatever its response says. Source: `Partition.fetchRecords`, KAFKA-8400, KAFKA-13141.
    """
    clean = (F.col(C.ERROR_CODE) == 0) & (F.col(C.DIVERGING_EPOCH) < 0)
    parked = F.col(C.IS_PARKED)
    believed = parked & (F.col(C.CURRENT_LEADER_EPOCH) >= 0)
    of_followers = landed[T.FETCH_EVENTS.name].where(F.col(C.REPLICA_ID) >= 0)
    return _shaped(
        with_recorded_offset(of_followers, landed, profile),
        F.lit(EventType.FETCH.value),
        **{
            C.LEADER_EPOCH: F.when(believed, F.col(C.CURRENT_LEADER_EPOCH)).otherwise(F.col(C.LEADER_EPOCH)),
            C.REPLICA_ID: F.col(C.REPLICA_ID),
            N.EVENT_US: _handled_us(FETCHES_AFTER),
            N.LOCAL_US: F.coalesce(C.LOCAL_TIME_US, F.lit(0)),
            N.RESPONSE_US: F.unix_micros(C.RESPONSE_TIME),
            "is_accepted": parked | clean,
            C.RECORDS_SIZE: F.when(clean, F.col(C.RECORDS_SIZE)).otherwise(UNKNOWN_OFFSET),
        },
    )


def _log_starts(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per "Incremented log start offset" at a leader (DeleteRecords, retention)."""
    moved = landed[T.BROKER_STATEMENTS.name].where(F.col(C.KIND) == StatementKind.LOG_START_MOVED.value)
    return _shaped(moved, F.lit(EventType.LOG_START.value), **{N.NEW_LOG_START: F.col(C.OFFSET)})


def _fencings(begun: DataFrame, registrations: DataFrame) -> DataFrame:
    """One row per leadership and change of fencing during it."""
    fenced = fencings(begun, registrations)
    return _shaped(fenced, F.lit(N.FENCING), **{N.EVENT_US: F.col(AT_US), C.CAPTURE_ID: F.lit("")})


def _restarts(begun: DataFrame, restarts: DataFrame) -> DataFrame:
    """One row per restart of a follower, in the leadership of the epoch it found; its own clock is all there is."""
    leaders = begun.select(*C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID).distinct()
    found = restarts.withColumnRenamed(C.BROKER_ID, "restarted").join(leaders, C.on_partition(C.LEADER_EPOCH))
    return _shaped(
        found,
        F.lit(N.REPLICA_RESTART),
        **{
            C.BROKER_ID: F.col(C.LEADER_ID),
            C.REPLICA_ID: F.col("restarted"),
            N.EVENT_US: F.col(START_US),
            C.FETCH_OFFSET: F.col(LOADED_LEO),
            C.RESPONSE_HIGH_WATERMARK: F.col(LOADED_HW),
        },
    )


def _ends(ended: DataFrame) -> DataFrame:
    """One row per leader's process that ended while it led, just before it loaded its log again."""
    return _shaped(
        ended,
        F.lit(EventType.RESTART.value),
        **{C.REPLICA_ID: F.col(C.BROKER_ID), N.EVENT_US: F.col(START_US) - 1},
    )


def placed(happened: DataFrame, context: DataFrame, slots: int) -> DataFrame:
    """Return the events of leaders in their leadership: with its number, incarnation, tenure, slots and bit masks.

    `context` is `leaderships.with_context`. The incarnation is the last that began before the event; an event that
    the clock puts just before the first belongs to the first.
    """
    begun = F.filter("incarnations", lambda it: it["start_us"] <= F.col(N.EVENT_US))
    # A lambda is interpreted, row by row: one incarnation, as nearly every epoch has, needs none.
    number = F.when(F.size("incarnations") == 1, 0).otherwise(F.greatest(F.size(begun) - 1, F.lit(0)))
    mine = F.get(F.col("incarnations"), number)
    joined = happened.join(F.broadcast(context), C.on_partition(C.LEADER_EPOCH))
    at = joined.withColumn("mine", mine)
    return at.where(F.col("mine")[C.LEADER_ID] == F.col(C.BROKER_ID)).select(
        *[c for c in SHAPE if c not in (C.ISR, C.REPLICAS, FENCED, REGISTERED, C.BROKER_ID)],
        F.col("mine")[N.INCARNATION].alias(N.INCARNATION),
        F.col("mine")[N.TENURE].alias(N.TENURE),
        F.col("mine")[N.IS_NEW_LEADER].alias(N.IS_NEW_LEADER),
        F.col("mine")[C.LEADER_ID].alias(C.LEADER_ID),
        N.IS_CONTESTED,
        F.col("mine")[STATED_LEO].alias(STATED_LEO),
        F.col("mine")[STATED_HW].alias(STATED_HW),
        slot_of(F.col("mine")[C.LEADER_ID]).alias(N.LEADER_SLOT),
        slot_of(F.col(C.REPLICA_ID)).alias(N.SLOT),
        mask_of(F.col(C.ISR), slots).alias(N.NEW_ISR_MASK),
        mask_of(F.col(C.REPLICAS), slots).alias(N.NEW_ASSIGNED_MASK),
        min_isr(F.col(N.EVENT_US), F.col("mine")[C.LEADER_ID]).alias(C.MIN_ISR),
        mask_of(F.col(FENCED), slots).alias(N.NEW_FENCED_MASK),
        mask_of(F.col(REGISTERED), slots).alias(N.NEW_REGISTERED_MASK),
        N.PARTITION_NUMBER,
        F.expr(f"shiftleft(1, size({SLOTS})) - 1").alias(N.EVERY_MASK),
        F.when(F.size(LOADS) > 0, _loaded_us()).alias(N.LOADED_US),
        F.try_element_at(F.col(NEXT_ROLES), F.col(C.REPLICA_ID)).alias(N.NEXT_ROLE),
        reached().alias(REACHED),
    )


def _loaded_us() -> Column:
    """Return when the replica's process loaded its log."""
    own = F.filter(LOADS, lambda it: it[C.BROKER_ID] == F.col(C.REPLICA_ID))
    return F.transform(own, lambda it: it["us"])
