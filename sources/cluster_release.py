"""Of which releases a cluster is, where that decides what its lines mean: those that print their version tell."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import KAFKA_VERSION


class Releases(NamedTuple):
    """Some releases, as patterns of what brokers print: Confluent Platform counts its own (`5.4.0-ccs` is 2.4)."""

    of_apache: str
    of_confluent: str


UP_TO_2_3 = Releases(r"^(?:0\.|1\.|2\.[0-3](?:\.|$))", r"^5\.[0-3](?:\.|$).*-(?:ccs|ce)")
FROM_2_1_TO_2_4 = Releases(r"^2\.[1-4](?:\.|$)", r"^5\.[1-4](?:\.|$).*-(?:ccs|ce)")


def is_of_release(settings: DataFrame, releases: Releases) -> Column:
    """Return whether the latest version in `settings` is one of these, false where none is told: a scalar subquery.

    A join with that one row is a nested loop, behind which AQE joins fewer parts of a shuffle to one task.
    """
    latest = F.max_by(C.VALUE, F.coalesce(C.EVENT_TIME, F.timestamp_seconds(F.lit(0))))
    version = settings.where(F.col(C.NAME) == KAFKA_VERSION).agg(latest.alias("version"))
    is_one = F.col("version").rlike(releases.of_confluent) | F.col("version").rlike(releases.of_apache)
    return version.select(F.coalesce(is_one, F.lit(False))).scalar()
