"""Fetches as the lines of one request log tell of them."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row, SparkSession

from sources.fetch_sessions import fetch_rows
from sources.request_log import parse
from tests.request_lines import frame


def in_order(rows: DataFrame) -> list[Row]:
    """The fetches in the order of session, epoch and partition."""
    return rows.orderBy("session_id", "session_epoch", "partition").collect()


def fetched(spark: SparkSession, ids: DataFrame, texts: list[str], landed: DataFrame | None = None) -> list[Row]:
    """Those of a request log, after what landed before it."""
    return in_order(fetch_rows(parse(frame(spark, texts), "UTC"), ids, landed))


def brief(rows: list[Row]) -> list[tuple[int, int, int, bool]]:
    """Partition, session epoch, offset, and whether the request left it out."""
    return [(row.partition, row.session_epoch, row.fetch_offset, row.is_implied) for row in rows]
