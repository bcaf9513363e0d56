"""Fetches of a partition that was never read: the leader's metadata had lost it, and another partition was waited for.

A topic that is deleted is gone from a broker's metadata, beside ZooKeeper, some time before its log is. Then a fetch of
it is set aside (`KafkaApis.handleFetchRequest`, `erroneous`), and parks with the request's other partitions. Where
those came with records, it was they who ended the wait, and no log that was deleted.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.events.acceptance import UNKNOWN_TOPIC_OR_PARTITION
from replay.profile import Profile
from schemas import columns as C

IS_UNREAD = "is_unread"
"""boolean: it has that error, and its request was answered with records of another partition."""
_REQUEST: list[str] = [*C.LINE]


def with_unread(fetches: DataFrame, profile: Profile) -> DataFrame:
    """Return the followers' fetches of `schemas.tables.FETCH_EVENTS` with `is_unread`, as none is without ZooKeeper."""
    if not profile.has_controllers_requests:
        return fetches.withColumn(IS_UNREAD, F.lit(False))
    has_error: Column = F.col(C.ERROR_CODE) == UNKNOWN_TOPIC_OR_PARTITION
    unknown = fetches.where(has_error).select(*_REQUEST).distinct()
    served = fetches.where(F.col(C.RECORDS_SIZE) > 0).join(F.broadcast(unknown), _REQUEST, "left_semi")
    ended = served.select(*_REQUEST).distinct().withColumn(IS_UNREAD, F.lit(True))
    marked = fetches.join(F.broadcast(ended), _REQUEST, "left")
    return marked.withColumn(IS_UNREAD, has_error & F.coalesce(IS_UNREAD, F.lit(False)))
