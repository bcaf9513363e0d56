"""Consumers that were given records which later vanished; known by their client ids."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings import finding, text
from replay.losses import LOSS, PREVIOUS_EPOCH, STARTS, is_replaced
from schemas import columns as C
from schemas import tables as T
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import IncidentKind, Severity


def reads_of_lost_records(landed: Mapping[str, DataFrame], lost: DataFrame) -> DataFrame:
    """One row per range gone and client that had read of it from an earlier leader.

    A position proves that everything below it was read, or skipped by choice; records in a response were read up to the
    HW it carries, for a consumer is given nothing beyond (`FetchIsolation.HIGH_WATERMARK`).
    """
    consumed = landed[T.FETCH_EVENTS.name].where((F.col(C.REPLICA_ID) < 0) & (F.col(C.ERROR_CODE) == 0)).select(
        *C.PARTITION_KEY, C.CLIENT_ID, C.FETCH_OFFSET, C.RECORDS_SIZE, C.RESPONSE_HIGH_WATERMARK, C.EVENT_TIME,
        F.col(C.LEADER_EPOCH).alias("epoch"),
    )  # fmt: skip
    given = (F.col(C.RECORDS_SIZE) > 0) & (F.col(C.RESPONSE_HIGH_WATERMARK) > F.col(C.FETCH_OFFSET))
    read_to = F.when(given, F.col(C.RESPONSE_HIGH_WATERMARK)).otherwise(F.col(C.FETCH_OFFSET))
    until = F.least(read_to, F.col(C.TO_OFFSET))
    # A position in the range is one in the records that are gone only while their leaders led.
    is_before = (F.col("epoch") <= F.col(PREVIOUS_EPOCH)) & ~is_replaced("epoch", C.FROM_OFFSET)
    ranges = lost.select(*LOSS, C.CAPTURE_ID, C.LEADER_ID, PREVIOUS_EPOCH, STARTS)
    rows = (
        consumed.join(F.broadcast(ranges), C.on_partition())
        .where(is_before & (until > F.col(C.FROM_OFFSET)))
        .groupBy(*LOSS, C.CAPTURE_ID, C.LEADER_ID, C.CLIENT_ID)
        .agg(
            F.min(C.EVENT_TIME).alias(C.STARTED_AT),
            F.max(C.EVENT_TIME).alias(C.ENDED_AT),
            F.greatest(F.min(C.FETCH_OFFSET), C.FROM_OFFSET).alias("first"),
            F.max(until).alias("until"),
        )
    )
    # Positions beyond the range alone: which of its records they read, nothing says.
    first = F.when(F.col("first") < F.col("until"), F.col("first")).otherwise(F.col(C.FROM_OFFSET))
    evidence = text(
        "client {} read [{}, {}) before leader {} was elected in epoch {}, whose log does not hold them",
        C.CLIENT_ID, first, "until", C.LEADER_ID, C.LEADER_EPOCH,
    )  # fmt: skip
    kind, offsets = IncidentKind.CONSUMER_READ_LOST_RECORDS, (first, F.col("until"))
    return finding(rows, kind, Severity.CRITICAL, evidence, replica_id=F.lit(UNKNOWN_OFFSET), offsets=offsets)
