"""Fetches that begin within a batch: what the leader records is that batch's first offset.

Only a log made to start within a batch (DeleteRecords) is fetched from there, by a new or an emptied replica. Source:
`LogSegment.read` returns the offset of the batch that holds the fetch offset since 4.0 (KAFKA-17803), and
`Partition.updateFollowerFetchState` records it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.partitions import of_partitions
from replay.profile import Profile
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind

BATCH_START = "batch_start"
"""bigint: first offset of the batch; NULL without one."""


def with_recorded_offset(fetches: DataFrame, landed: Mapping[str, DataFrame], profile: Profile) -> DataFrame:
    """Return followers' fetches with `last_offset`: one before what their leader records, where that is another."""
    starts = batch_starts(landed[T.BROKER_STATEMENTS.name], landed[T.PRODUCE_EVENTS.name])
    batch = F.struct(F.col(C.LEADER_EPOCH).alias("epoch"), F.col(BATCH_START).alias("start"))
    at_start = starts.groupBy(*C.PARTITION_KEY, F.col(C.OFFSET).alias(C.FETCH_OFFSET)).agg(
        F.sort_array(F.collect_list(batch)).alias("batches")
    )
    known = fetches.join(F.broadcast(at_start), C.on_partition(C.FETCH_OFFSET), "left")
    at_log_start = F.col(C.RESPONSE_LOG_START_OFFSET) == F.col(C.FETCH_OFFSET)
    # What a later leader had there is not what this one has. The lambda is behind a condition that is seldom true.
    by_then = F.filter("batches", lambda it: it["epoch"] <= F.col(C.LEADER_EPOCH))
    is_within = F.lit(profile.records_batch_start) & at_log_start & F.col("batches").isNotNull()
    recorded: Column = F.when(is_within, F.get(by_then, F.size(by_then) - 1)["start"])
    return known.withColumn(C.LAST_OFFSET, recorded - 1).drop("batches")


def batch_starts(statements: DataFrame, produced: DataFrame) -> DataFrame:
    """One row per partition, `offset` at which its log was made to start, and leader epoch with a batch up to there.

    `batch_start` is where the batch begins that holds it; NULL if none of the epoch does: an earlier one's was cut. A
    leader that was killed and kept its epoch may have written it twice: the later one is in its log.
    """
    moved = statements.where(F.col(C.KIND) == StatementKind.LOG_START_MOVED.value)
    starts = moved.select(*C.PARTITION_KEY, C.OFFSET).distinct()
    batches = produced.select(*C.PARTITION_KEY, C.LEADER_EPOCH, C.EVENT_TIME, C.BASE_OFFSET, C.LAST_OFFSET)
    of_moved = of_partitions(batches.where(F.col(C.BASE_OFFSET) >= 0), starts)
    firsts = of_moved.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH).agg(F.min(C.BASE_OFFSET).alias("first"))
    begun = firsts.join(F.broadcast(starts), C.on_partition()).where(F.col("first") <= F.col(C.OFFSET))
    inside = F.col(C.OFFSET).between(F.col(C.BASE_OFFSET), F.col(C.LAST_OFFSET))
    within = of_moved.join(F.broadcast(starts), C.on_partition()).where(inside)
    of_epoch = C.on_partition(C.OFFSET, C.LEADER_EPOCH)
    held = within.groupBy(*of_epoch).agg(
        F.max_by(C.BASE_OFFSET, F.struct(C.EVENT_TIME, C.BASE_OFFSET)).alias(BATCH_START)
    )
    return begun.drop("first").join(F.broadcast(held), of_epoch, "left")
