"""What stands when a piece of a history begins: of the requests before it those that a leader's state is made of.

They are very few: each replica's last fetch (its remote LEO, the HW it was told), the last append of an epoch (the LEO)
and the first one (where no line says from which offset it began).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C

_TOPIC_AUTHORIZATION_FAILED, _UNKNOWN_TOPIC_ID = 29, 100
_NEVER_READ = f"{C.ERROR_CODE} IN ({_TOPIC_AUTHORIZATION_FAILED}, {_UNKNOWN_TOPIC_ID})"
"""SQL: the request was not let through to the log (`KafkaApis.handleFetchRequest`, `erroneous`)."""
_ACCEPTED = f"({C.IS_PARKED} AND NOT {_NEVER_READ}) OR ({C.ERROR_CODE} = 0 AND {C.DIVERGING_EPOCH} < 0)"
"""SQL: the leader recorded where the fetcher was (`Partition.fetchRecords`)."""
_ANSWERED = f"{C.ERROR_CODE} = 0 AND {C.RECORDS_SIZE} >= 0"
"""SQL: the response told the fetcher of the partition."""
_LAST = {"fetched": "true", "accepted": _ACCEPTED, "answered": _ANSWERED}
LED = (*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID)
FETCHER = (*C.PARTITION_KEY, C.REPLICA_ID)


def was_read() -> Column:
    """Return whether the log was read for a fetch of this partition, so that a parked one was accepted at first.

    A fetch is parked only if no partition of it that was read failed or diverged (`ReplicaManager.fetchMessages`): of
    those its response tells what became of them meanwhile. A partition whose topic id the broker did not know yet, or
    that the fetcher may not see, was never read and parks with the others.
    """
    return ~F.expr(_NEVER_READ)


def ends_of_epochs(appends: DataFrame, *by: Column) -> DataFrame:
    """One row per epoch of a leader, and `by`: `first` and `last`, the least and the greatest base offset."""
    of_epoch = appends.where(F.col(C.BASE_OFFSET) >= 0).groupBy(*LED, *by)
    return of_epoch.agg(F.min(C.BASE_OFFSET).alias("first"), F.max(C.BASE_OFFSET).alias("last"))


def standing_appends(ends: DataFrame, *by: str) -> DataFrame:
    """One row per end of an epoch: its partition, `by` and `base_offset`."""
    return ends.select(*C.PARTITION_KEY, *by, F.explode(F.array("first", "last")).alias(C.BASE_OFFSET))


def last_fetches(fetches: DataFrame, *by: Column) -> DataFrame:
    """One row per follower of a partition, and `by`: times of the last fetch, the last accepted, the last answered."""
    of_follower = fetches.where(F.col(C.REPLICA_ID) >= 0).groupBy(*FETCHER, *by)
    return of_follower.agg(*[F.max(F.when(F.expr(is_so), F.col(C.EVENT_TIME))).alias(k) for k, is_so in _LAST.items()])


def last_of(gathered: DataFrame, *by: str) -> DataFrame:
    """One row per follower of a partition, and `by`: the last times of several rows of `last_fetches`."""
    return gathered.groupBy(*FETCHER, *by).agg(*[F.max(name).alias(name) for name in _LAST])


def standing_fetches(last: DataFrame, *by: str) -> DataFrame:
    """One row per fetch that was the last of its kind: its partition and follower, `by` and `event_time`."""
    times = last.select(*FETCHER, *by, F.explode(F.array_distinct(F.array(*_LAST))).alias(C.EVENT_TIME))
    return times.where(F.col(C.EVENT_TIME).isNotNull())
