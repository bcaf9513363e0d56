"""Events: everything that happened at the leaders, one row each, of one shape."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import event
from replay.events.fencing import AT_US, fencings
from replay.events.leaderships import START_US
from replay.events.requested import requests_of_controllers, with_requested
from replay.events.requests import appends, fetches
from replay.events.restarts import restart_events
from replay.events.shape import shaped
from replay.events.silence import with_heard_batches
from replay.events.told import silences, told_events
from replay.profile import Profile
from replay.statements import is_of
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind, EventType, StatementKind

_CHANGE_EVENTS = {
    ChangeKind.BECOME_LEADER: EventType.BECOME_LEADER,
    ChangeKind.LEADER_METADATA: EventType.ISR_CHANGE,
    ChangeKind.ISR_UPDATED: EventType.ISR_CHANGE,
    ChangeKind.ISR_SHRINK_PROPOSED: N.SHRINK_PROPOSED,
    ChangeKind.ISR_CHANGE_REJECTED: N.REJECTION,
}


def events(
    landed: Mapping[str, DataFrame], begun: DataFrame, restarts: DataFrame, ended: DataFrame, profile: Profile
) -> DataFrame:
    """One row per append, follower's fetch, change of leadership or ISR, or move of the log start, of `SHAPE`.

    `restarts` is `restarts.follower_restarts`, `ended` is `ends.ends`.
    """
    fenced = _fencings(begun, landed)
    parts: tuple[DataFrame, ...] = (
        _changes(landed, profile),
        appends(with_heard_batches(landed) if profile.has_silence else landed),
        fetches(landed, profile),
        _log_starts(landed),
        fenced,
        restart_events(begun, restarts),
        _ends(ended),
    )
    if profile.has_silence:
        told = shaped(told_events(landed), event(N.STATEMENT), **{N.EVENT_US: F.col(N.EVENT_US)})
        unheard = shaped(silences(landed, begun), event(N.SILENCE), **{N.EVENT_US: F.col(N.EVENT_US)})
        parts = (*parts, told, unheard)
    union = parts[0]
    for part in parts[1:]:
        union = union.unionByName(part)
    return union


def _changes(landed: Mapping[str, DataFrame], profile: Profile) -> DataFrame:
    """One row per change that a leader applied to its partition, with the assignment of that partition epoch."""
    changes = landed[T.LEADER_CHANGES.name].where(
        F.col(C.CHANGE_KIND).isin(*[str(kind.value) for kind in _CHANGE_EVENTS])
    )
    if profile.has_controllers_requests:
        changes = with_requested(changes, requests_of_controllers(landed))
    registered = landed[T.METADATA_CHANGES.name].groupBy(*C.PARTITION_KEY, C.PARTITION_EPOCH).agg(
        F.max_by(C.REPLICAS, C.METADATA_OFFSET).alias("registered")
    )  # fmt: skip
    told = changes.join(F.broadcast(registered), C.on_partition(C.PARTITION_EPOCH), "left").join(
        F.broadcast(_stated_ends(landed)), C.on_partition(C.BROKER_ID, C.EVENT_TIME), "left"
    )
    numbers = [x for kind, event_type in _CHANGE_EVENTS.items() for x in (F.lit(kind.value), event(event_type))]
    proposed = F.col(C.CHANGE_KIND) == ChangeKind.ISR_SHRINK_PROPOSED.value
    return shaped(
        told,
        F.create_map(*numbers)[F.col(C.CHANGE_KIND)],
        **{
            C.REPLICAS: F.coalesce(C.REPLICAS, "registered"),
            C.ISR: F.when(~proposed, F.col(C.ISR)),
            C.LAST_OFFSET: F.when(proposed, F.col(C.LAST_OFFSET)),
        },
    )


def _stated_ends(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader and time of a line of a shrinking ISR: `last_offset`, the last before the LEO it states."""
    stated = landed[T.BROKER_STATEMENTS.name].where(is_of(StatementKind.SHRINKING_LEO))
    return stated.groupBy(*C.on_partition(C.BROKER_ID, C.EVENT_TIME)).agg((F.max(C.OFFSET) - 1).alias(C.LAST_OFFSET))


def _log_starts(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per "Incremented log start offset" at a leader (DeleteRecords, retention)."""
    moved = landed[T.BROKER_STATEMENTS.name].where(is_of(StatementKind.LOG_START_MOVED))
    return shaped(moved, event(EventType.LOG_START), **{N.NEW_LOG_START: F.col(C.OFFSET)})


def _fencings(begun: DataFrame, landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leadership and change of fencing during it."""
    tables = (T.BROKER_REGISTRATIONS, T.LEADER_CHANGES, T.METADATA_CHANGES)
    fenced = fencings(begun, *[landed[table.name] for table in tables])
    return shaped(fenced, event(N.FENCING), **{N.EVENT_US: F.col(AT_US), C.CAPTURE_ID: F.lit("")})


def _ends(ended: DataFrame) -> DataFrame:
    """One row per leader's process that ended while it led, just before it loaded its log again."""
    return shaped(
        ended,
        event(EventType.RESTART),
        **{C.REPLICA_ID: F.col(C.BROKER_ID), N.EVENT_US: F.col(START_US) - 1},
    )
