"""Requests as events: appends and followers' fetches, when the leader did what they asked for."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.brokers_rules import of_each_fetch
from replay.event_types import event
from replay.events.acceptance import ACCEPTED, CLEAN, DIVERGED, DIVERGING, PARKED
from replay.events.batch_starts import with_recorded_offset
from replay.events.held_up import HELD_UP_US, appends_held_up, by_request, fetches_held_up
from replay.events.overtaken import without_overtaken
from replay.events.shape import shaped
from replay.events.unread import IS_UNREAD, with_unread
from replay.profile import Profile
from schemas import columns as C
from schemas import tables as T
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType

APPENDS_AFTER, FETCHES_AFTER = 0.1, 0.2
"""Share of a request's local time after which it took effect: with these the bundled captures' HW steps are nearest to
the brokers' own times (99 % within 6.3 ms; with none 6.6 ms, with a half 10.7 ms)."""


def _handled_us(share: float) -> Column:
    """Return when the leader did it, microseconds since the epoch: after a share of the time it worked on it.

    Of one that took long: its broker stood still, and most often after it had taken effect; else `held_up` tells.
    """
    return F.unix_micros(C.EVENT_TIME) + handled_after_us(F.coalesce(C.LOCAL_TIME_US, F.lit(0)), F.lit(share))


def handled_after_us(local_us: Column, share: Column) -> Column:
    """Return how long after the begin of its work a request took effect, microseconds, by its local time."""
    return (F.least(local_us, F.lit(HELD_UP_US)) * share).cast("bigint")


def _known(offset: str) -> Column:
    return F.when(F.col(offset) >= 0, F.col(offset))


def _is_of_stated_epoch(profile: Profile) -> Column:
    """Return whether a fetch waited, and was accepted in the epoch that it names."""
    return F.expr(PARKED) & (F.col(C.CURRENT_LEADER_EPOCH) >= 0) & F.lit(profile.fetches_state_epoch)


def appends(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per append: a real base offset proves it, whatever the error (6, 7 and 20: appended, not acknowledged).

    Where nothing tells its end, it is of one record at least. acks=0 is never answered with an offset and shows in the
    dump alone.
    """
    appended, is_open = F.col(C.BASE_OFFSET) >= 0, F.col(C.LAST_OFFSET) < 0
    return shaped(
        appends_held_up(landed[T.PRODUCE_EVENTS.name].where(appended), landed[T.BROKER_STATEMENTS.name]),
        F.when(is_open, event(N.OPEN_APPEND)).otherwise(event(EventType.APPEND)),
        **{
            C.LAST_OFFSET: F.greatest(C.BASE_OFFSET, C.LAST_OFFSET),
            N.EVENT_US: F.when(by_request(), _handled_us(APPENDS_AFTER)).otherwise(F.unix_micros(C.EVENT_TIME)),
            N.LOCAL_US: F.coalesce(C.LOCAL_TIME_US, F.lit(0)),
            N.RESPONSE_US: F.unix_micros(C.RESPONSE_TIME),
        },
    )


def fetches(landed: Mapping[str, DataFrame], profile: Profile) -> DataFrame:
    """One row per follower's fetch; failed ones too, for they tell the fetcher's LEO, but are not `is_accepted`.

    Which are, `acceptance` says. Source: `Partition.fetchRecords`, KAFKA-8400, KAFKA-13141.
    """
    profile = of_each_fetch(profile)
    is_parked, is_diverging = F.expr(PARKED), F.expr(DIVERGING)
    is_recorded = F.lit(profile.records_divergence) & is_diverging & ~is_parked
    believed = _is_of_stated_epoch(profile)
    of_followers = without_overtaken(landed[T.FETCH_EVENTS.name].where(F.col(C.REPLICA_ID) >= 0))
    in_time = fetches_held_up(of_followers, landed[T.BROKER_STATEMENTS.name])
    return shaped(
        with_recorded_offset(with_unread(in_time, profile), landed, profile),
        event(EventType.FETCH),
        **{
            C.LEADER_EPOCH: F.when(believed, F.col(C.CURRENT_LEADER_EPOCH)).otherwise(F.col(C.LEADER_EPOCH)),
            C.REPLICA_ID: F.col(C.REPLICA_ID),
            N.EVENT_US: _handled_us(FETCHES_AFTER),
            N.LOCAL_US: F.coalesce(C.LOCAL_TIME_US, F.lit(0)),
            N.RESPONSE_US: F.unix_micros(C.RESPONSE_TIME),
            # What waited for an answer and states no epoch may have got it when its leader led again, in a later one.
            N.NEW_LOG_START: F.when(believed | ~is_parked, _known(C.RESPONSE_LOG_START_OFFSET)),
            N.OWN_LOG_START: _known(C.LOG_START_OFFSET),
            N.IS_ACCEPTED: (F.expr(ACCEPTED) & ~F.col(IS_UNREAD)) | is_recorded,
            C.ERROR_CODE: F.when(is_recorded, DIVERGED).otherwise(F.col(C.ERROR_CODE)),
            N.IS_HEEDED: F.lit(profile.heeds_divergence) & is_diverging,
            # What the leader had when it answered: a response that omits the partition says no more to its follower.
            C.RESPONSE_HIGH_WATERMARK: F.greatest(C.RESPONSE_HIGH_WATERMARK, C.SESSION_HIGH_WATERMARK),
            C.RECORDS_SIZE: F.when(F.expr(CLEAN), F.col(C.RECORDS_SIZE)).otherwise(UNKNOWN_OFFSET),
        },
    )
