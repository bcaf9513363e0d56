"""What stands when a piece of a history begins: of the requests before it those that a leader's state is made of.

They are very few: each replica's last fetch of each leader (its remote LEO, the HW it was told), the last append of an
epoch (the LEO) and the first one (where no line says from which offset it began).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.events.acceptance import CERTAINLY_READ, CLEAN, DIVERGING
from schemas import columns as C

_ANSWERED = f"{CLEAN} AND {C.RECORDS_SIZE} >= 0"
"""SQL: the response told the fetcher of the partition."""
_LAST = {"fetched": "true", "accepted": CERTAINLY_READ, "answered": _ANSWERED, "diverging": DIVERGING}
LED = (*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID)
FETCHER = (*C.REPLICA_KEY, C.BROKER_ID)


def ends_of_epochs(appends: DataFrame, *by: Column) -> DataFrame:
    """One row per epoch of a leader, and `by`: `first` and `last`, the least and the greatest base offset."""
    of_epoch = appends.where(F.col(C.BASE_OFFSET) >= 0).groupBy(*LED, *by)
    return of_epoch.agg(F.min(C.BASE_OFFSET).alias("first"), F.max(C.BASE_OFFSET).alias("last"))


def standing_appends(ends: DataFrame, *by: str) -> DataFrame:
    """One row per end of an epoch: its partition, `by` and `base_offset`."""
    return ends.select(*C.PARTITION_KEY, *by, F.explode(F.array("first", "last")).alias(C.BASE_OFFSET))


def last_fetches(fetches: DataFrame, *by: Column) -> DataFrame:
    """One row per follower of a leader, and `by`: when the last fetch of each kind was.

    Of each leader: one that was never told of another in between knows what it knew when it is elected again.
    """
    of_follower = fetches.where(F.col(C.REPLICA_ID) >= 0).groupBy(*FETCHER, *by)
    return of_follower.agg(*[F.max(F.when(F.expr(is_so), F.col(C.EVENT_TIME))).alias(k) for k, is_so in _LAST.items()])


def last_of(gathered: DataFrame, *by: str) -> DataFrame:
    """One row per follower of a leader, and `by`: the last times of several rows of `last_fetches`."""
    return gathered.groupBy(*FETCHER, *by).agg(*[F.max(name).alias(name) for name in _LAST])


def standing_fetches(last: DataFrame, *by: str) -> DataFrame:
    """One row per fetch that was the last of its kind: its partition and follower, `by` and `event_time`."""
    times = last.select(*FETCHER, *by, F.explode(F.array_distinct(F.array(*_LAST))).alias(C.EVENT_TIME))
    return times.where(F.col(C.EVENT_TIME).isNotNull())
