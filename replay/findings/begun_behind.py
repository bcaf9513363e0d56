"""Logs that begin behind a range of offsets: whatever records a replica had there, it has none of them any more.

A follower whose log ends before its leader's log start gives it up and begins anew
(`AbstractFetcherThread.fetchOffsetAndTruncate`, AFT:709); retention and DeleteRecords move the start; a replica that is
dropped deletes its log. None of that is a truncation.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings.differing import END
from replay.findings.spans import SPAN
from replay.statements import LOG_STARTS, is_of
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_BOUND
from schemas.kinds import StatementKind as S

BEHIND_AT = "behind_at"
"""timestamp: when the replica first told that its log begins at the end of the range or behind it; NULL if never."""
_TOLD_AT, _BEGINS_AT = "told_at", "begins_at"


def with_behind(apart: DataFrame, landed: Mapping[str, DataFrame], whose: str) -> DataFrame:
    """Return the rows, one per leadership and replica `whose`, with `behind_at`: since that leadership began."""
    one = (*map(str, SPAN), whose)
    ranges = apart.select(*one, C.STARTED_AT, END)
    began = (
        _log_starts(landed, whose)
        .join(F.broadcast(ranges), C.on_partition(whose))
        .where((F.col(_BEGINS_AT) >= F.col(END)) & (F.col(_TOLD_AT) >= F.col(C.STARTED_AT)))
        .groupBy(*one)
        .agg(F.min(_TOLD_AT).alias(BEHIND_AT))
    )
    return apart.join(F.broadcast(began), [*one], "left")


def _log_starts(landed: Mapping[str, DataFrame], whose: str) -> DataFrame:
    """One row per line or fetch by which a replica tells where its own log begins."""
    statements, fetches = landed[T.BROKER_STATEMENTS.name], landed[T.FETCH_EVENTS.name]
    at = F.col(C.EVENT_TIME).alias(_TOLD_AT)
    is_deleted = is_of(S.LOG_DELETED)
    begins = F.when(is_deleted, F.lit(NO_BOUND)).otherwise(F.col(C.OFFSET)).alias(_BEGINS_AT)
    begun = statements.where(is_of(*LOG_STARTS) | is_deleted)
    told = begun.select(*C.PARTITION_KEY, F.col(C.BROKER_ID).alias(whose), at, begins)
    asked = fetches.where(F.col(C.LOG_START_OFFSET) >= 0).select(
        *C.PARTITION_KEY, F.col(C.REPLICA_ID).alias(whose), at, F.col(C.LOG_START_OFFSET).alias(_BEGINS_AT)
    )
    return told.unionByName(asked)
