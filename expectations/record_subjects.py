"""What rules of records speak of: fetches, entries of epoch caches, records of partitions in the metadata log."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from expectations.reads import IS_BELOW_BY_THEN, OF_FETCH, overtaken_fetches
from expectations.subject import OF_PARTITION, Subject, Tables
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from schemas.kinds import EventType

IS_RECORDED = Field("is_recorded", C.BOOL, "The leader's timeline has an event of this fetch.")
PREVIOUS_EPOCH = Field("previous_epoch", C.INT, "Leader epoch of the entry, or the record, before.")
PREVIOUS_PARTITION_EPOCH = Field("previous_partition_epoch", C.INT, "Partition epoch of the record before.")
PREVIOUS_RECORD = Field("previous_metadata_offset", C.LONG, "Offset of the partition's record before.")
PREVIOUS_START = Field("previous_start_offset", C.LONG, "Its start.")


def fetches(tables: Tables) -> DataFrame:
    """One row per fetch of a partition; `is_recorded` is told of those whose response says that the logs diverge.

    And `is_below_by_then` of those that got records past what their response says may be read.
    """
    fetched = tables[T.FETCH_EVENTS.name]
    diverging = fetched.where((F.col(C.DIVERGING_EPOCH) >= 0) & ~F.col(C.IS_PARKED)).select(*OF_FETCH).distinct()
    events = tables[T.LEADER_TIMELINE.name].where(F.col(C.EVENT_TYPE) == EventType.FETCH.value)
    recorded = events.join(F.broadcast(diverging), OF_FETCH, "left_semi").select(*OF_FETCH).distinct()
    known = fetched.join(F.broadcast(recorded.withColumn(IS_RECORDED, F.lit(True))), OF_FETCH, "left")
    overtaken = F.broadcast(overtaken_fetches(tables))
    return known.join(overtaken, OF_FETCH, "left").withColumns(
        {name: F.coalesce(name, F.lit(False)) for name in (IS_RECORDED, IS_BELOW_BY_THEN)}
    )


def cache_entries(tables: Tables) -> DataFrame:
    """One row per entry of a replica's leader-epoch-checkpoint, with the entry before it."""
    of_file = (*C.PARTITION_KEY, C.BROKER_ID, C.CAPTURE_ID, C.SOURCE_FILE)
    in_order = Window.partitionBy(*of_file).orderBy(C.SOURCE_LINE, C.LEADER_EPOCH)
    return tables[T.EPOCH_STARTS.name].withColumns(
        {PREVIOUS_EPOCH: F.lag(C.LEADER_EPOCH).over(in_order), PREVIOUS_START: F.lag(C.START_OFFSET).over(in_order)}
    )


def partition_records(tables: Tables) -> DataFrame:
    """One row per record of a partition in the metadata log, with the epochs of the one before it."""
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.METADATA_OFFSET, C.PARTITION_EPOCH)
    said = F.struct(C.LEADER_EPOCH, C.PARTITION_EPOCH, C.LEADER_ID, C.ISR)
    epochs = (C.METADATA_OFFSET, C.LEADER_EPOCH, C.PARTITION_EPOCH)
    before = F.lag(F.struct(C.CAPTURE_ID, *epochs, said.alias("said"))).over(in_order)
    # The snapshot of a later delivery says again what the log of an earlier one had told.
    is_elsewhere = (F.col(C.CAPTURE_ID) != F.col("before")[C.CAPTURE_ID]) & (F.col(C.PARTITION_EPOCH) >= 0)
    is_again = F.coalesce(is_elsewhere, F.lit(False)) & F.col("before.said").eqNullSafe(said)
    return (
        tables[T.METADATA_CHANGES.name]
        .withColumn("before", before)
        .where(~is_again | (F.col(C.METADATA_OFFSET) == F.col("before")[C.METADATA_OFFSET]))
        .withColumns(
            {
                PREVIOUS_RECORD: F.col("before")[C.METADATA_OFFSET],
                PREVIOUS_EPOCH: F.col("before")[C.LEADER_EPOCH],
                PREVIOUS_PARTITION_EPOCH: F.col("before")[C.PARTITION_EPOCH],
            }
        )
        .drop("before")
    )


FETCHES = Subject(
    "fetches", T.FETCH_EVENTS, (*OF_PARTITION, *C.LINE), fetches,
    beside=(T.LEADER_TIMELINE,), may_be_empty=True,
)  # fmt: skip
CACHE_ENTRIES = Subject(
    "cache_entries", T.EPOCH_STARTS, (*OF_PARTITION, C.BROKER_ID, C.LEADER_EPOCH), cache_entries, may_be_empty=True
)
PARTITION_RECORDS = Subject(
    "partition_records", T.METADATA_CHANGES, (*OF_PARTITION, C.METADATA_OFFSET), partition_records, may_be_empty=True
)
