"""Events in their leaderships: whose process led when each happened, and what was known of it then.

An event of a broker that is not the leader of the event's epoch changes nothing there and is left out: its error
code has told the client so.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import every_mask, mask_of, slot_of
from replay.brokers_rules import rules_of
from replay.event_types import is_event
from replay.events.fencing import FENCED, REGISTERED
from replay.events.leaderships import LOADS, START_US, STATED_HW, STATED_LEO
from replay.events.next_roles import REACHED, end_told_later, next_role, reached
from replay.events.shape import SHAPE
from replay.events.told_by_roles import is_read
from replay.profile import Profile
from replay.settings import min_isr
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

_NEVER_NULL = (N.EVENT, N.EVENT_US, C.LEADER_EPOCH)
_GIVEN_UP = (C.ISR, C.REPLICAS, FENCED, REGISTERED, C.BROKER_ID, N.IS_ACCEPTED, *_NEVER_NULL)
"""Columns that others stand for from here on."""


def placed(happened: DataFrame, context: DataFrame, slots: int, profile: Profile) -> DataFrame:
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
        *[_last_offset() if c == C.LAST_OFFSET else c for c in SHAPE if c not in _GIVEN_UP],
        *[_not_null(F.col(c)).alias(c) for c in _NEVER_NULL],
        *[_not_null(F.col("mine")[c]).alias(c) for c in (N.INCARNATION, N.TENURE, START_US)],
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
        every_mask().alias(N.EVERY_MASK),
        F.when(F.size(LOADS) > 0, _loaded_us()).alias(N.LOADED_US),
        is_read().alias(N.IS_ACCEPTED),
        next_role().alias(N.NEXT_ROLE),
        reached().alias(REACHED),
        *_rules(profile),
    )


def _rules(profile: Profile) -> list[Column]:
    """Return which rules the leader plays by, where not all play by the same."""
    leader_id, start_us = (F.col("mine")[name] for name in (C.LEADER_ID, START_US))
    return [rules_of(profile, leader_id, start_us).alias(N.RULES)] if profile.by_broker else []


def _last_offset() -> Column:
    """Return the last offset that the event tells of: an end that of its leader's log, as its next role found it."""
    ended = F.when(is_event(EventType.RESTART), end_told_later() - 1)
    return ended.otherwise(F.col(C.LAST_OFFSET)).alias(C.LAST_OFFSET)


def _not_null(value: Column) -> Column:
    """Return a value that is never NULL such that Spark knows it: each window looks, at each row, whether it is."""
    return F.coalesce(value, F.lit(UNKNOWN_OFFSET))


def _loaded_us() -> Column:
    """Return when the replica's process loaded its log."""
    own = F.filter(LOADS, lambda it: it[C.BROKER_ID] == F.col(C.REPLICA_ID))
    return F.transform(own, lambda it: it["us"])
