"""Of which releases a cluster is, where that decides what its lines mean: those that print their version tell."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources.broker_settings import KAFKA_VERSION


def is_of_release(settings: DataFrame, of_apache: str, of_confluent: str, name: str) -> DataFrame:
    """One row: `name`, whether the latest version in `settings` is one of these (patterns); false where none is told.

    Confluent Platform counts its own releases, and its brokers print those (`5.4.0-ccs` is 2.4).
    """
    latest = F.max_by(C.VALUE, F.coalesce(C.EVENT_TIME, F.timestamp_seconds(F.lit(0))))
    version = settings.where(F.col(C.NAME) == KAFKA_VERSION).agg(latest.alias("version"))
    is_one = F.col("version").rlike(of_confluent) | F.col("version").rlike(of_apache)
    return version.select(F.coalesce(is_one, F.lit(False)).alias(name))
