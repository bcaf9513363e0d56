"""Frames of a table's schema from what a test is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas.tables import Table


def rows(spark: SparkSession, table: Table, *given: Mapping[str, Any]) -> DataFrame:
    """Rows of a table of which a test says only what it is about; the rest is NULL."""
    schema = table.schema
    return spark.createDataFrame([tuple(row.get(name) for name in schema.names) for row in given], schema)


def everything_in(frame: DataFrame) -> list[str]:
    """Each row with all its columns, as JSON."""
    return [row[0] for row in frame.select(F.to_json(F.struct("*"))).collect()]
