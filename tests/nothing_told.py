"""What stalls are judged by besides events, where no line tells any of it."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from replay.findings.request_logs import heard_until
from replay.findings.told_epochs import told_epochs
from schemas.tables import FETCH_EVENTS, LEADER_CHANGES, METADATA_CHANGES, PRODUCE_EVENTS
from tests.frames import nothing_else


def untold(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """No epoch but those that have events, and no request log."""
    changes, metadata, produced, fetched = nothing_else(
        spark, LEADER_CHANGES, METADATA_CHANGES, PRODUCE_EVENTS, FETCH_EVENTS
    )
    return told_epochs(changes, metadata), heard_until(produced, fetched)
