"""Frames of a table's schema from what a test is about."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas.tables import Table


def rows(spark: SparkSession, table: Table, *given: Mapping[str, Any]) -> DataFrame:
    """Rows of a table of which a test says only what it is about; the rest is NULL."""
    schema = table.schema
    return spark.createDataFrame([tuple(row.get(name) for name in schema.names) for row in given], schema)


def nothing_else(spark: SparkSession, *tables: Table) -> list[DataFrame]:
    """These tables without a row: no line tells more than what a test is about."""
    return [rows(spark, table) for table in tables]


def everything_in(frame: DataFrame) -> list[str]:
    """Each row with all its columns, as JSON."""
    return [row[0] for row in frame.select(F.to_json(F.struct("*"))).collect()]


def of_several_rows(frames: Mapping[Table, DataFrame]) -> list[tuple[str, str]]:
    """What is not the only row of its grain: the table's name, and the values that should name one row, as JSON."""
    grains = [frame.select(F.lit(t.name), F.to_json(F.struct(*t.grain))).toDF("t", "of") for t, frame in frames.items()]
    counted = reduce(DataFrame.unionAll, grains).groupBy("t", "of").count()
    return [(row["t"], row["of"]) for row in counted.where("count > 1").collect()]
