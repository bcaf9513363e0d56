"""The tail of a history: of the landed rows those that what comes after a moment depends on.

Changes of leaders, ISRs and settings are few and stay. Of the requests before the moment a leader's state is made of
very few: each replica's last fetch (its remote LEO, the HW it was told), the last append of an epoch (the LEO) and the
first one (where no line says from which offset it began).
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.batch_starts import BATCH_START, batch_starts
from schemas import columns as C
from schemas import tables as T

ACCEPTED = f"{C.IS_PARKED} OR ({C.ERROR_CODE} = 0 AND {C.DIVERGING_EPOCH} < 0)"
"""SQL: the leader recorded where the fetcher was (`Partition.fetchRecords`)."""
ANSWERED = f"{C.ERROR_CODE} = 0 AND {C.RECORDS_SIZE} >= 0"
"""SQL: the response told the fetcher of the partition."""
_LED = (*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID)


def tail_of(landed: Mapping[str, DataFrame], since_us: int | Column) -> dict[str, DataFrame]:
    """Return the tables of `landed`, of requests those that were under way at `since_us` or later, and what stood then.

    `since_us` is in microseconds since the epoch, on every broker's own clock.
    """
    produced, fetched = landed[T.PRODUCE_EVENTS.name], landed[T.FETCH_EVENTS.name]
    moved = landed[T.BROKER_STATEMENTS.name]
    return {
        **landed,
        T.PRODUCE_EVENTS.name: produced.where(is_later(since_us)).unionByName(
            _standing_appends(produced.where(~is_later(since_us)), moved)
        ),
        T.FETCH_EVENTS.name: fetched.where(is_later(since_us)).unionByName(
            _standing_fetches(fetched.where(~is_later(since_us)))
        ),
    }


def is_later(since_us: int | Column) -> Column:
    """Return whether the request was answered, or came, at the moment or after it."""
    since = F.timestamp_micros(F.lit(since_us))
    # Two plain comparisons, so that files are skipped by the least and greatest time in them.
    return (F.col(C.EVENT_TIME) >= since) | F.coalesce(F.col(C.RESPONSE_TIME) >= since, F.lit(False))


def _standing_appends(earlier: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per append that is the first or the last of its epoch, or that a log was made to start within."""
    # Offsets first and rows by a join: the greatest struct of a group would be found by sorting all rows.
    ends = earlier.where(F.col(C.BASE_OFFSET) >= 0).groupBy(*_LED).agg(
        F.min(C.BASE_OFFSET).alias("first"), F.max(C.BASE_OFFSET).alias("last")
    )  # fmt: skip
    of_epoch = ends.select(*C.PARTITION_KEY, F.explode(F.array("first", "last")).alias(C.BASE_OFFSET))
    within = batch_starts(statements, earlier).select(*C.PARTITION_KEY, F.col(BATCH_START).alias(C.BASE_OFFSET))
    standing = of_epoch.unionByName(within).distinct()
    return earlier.join(F.broadcast(standing), C.on_partition(C.BASE_OFFSET), "left_semi")


def _standing_fetches(earlier: DataFrame) -> DataFrame:
    """One row per follower's last fetch of a partition: the last one, the last accepted, the last that was answered."""
    times = [F.max(F.when(F.expr(which), F.col(C.EVENT_TIME))) for which in ("true", ACCEPTED, ANSWERED)]
    of_replica = earlier.where(F.col(C.REPLICA_ID) >= 0).groupBy(*C.PARTITION_KEY, C.REPLICA_ID)
    last = of_replica.agg(F.array_distinct(F.array(*times)).alias("times")).select(
        *C.PARTITION_KEY, C.REPLICA_ID, F.explode("times").alias(C.EVENT_TIME)
    )
    return earlier.join(F.broadcast(last), C.on_partition(C.REPLICA_ID, C.EVENT_TIME), "left_semi")
