"""Rows of some partitions out of all."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C


def of_partitions(rows: DataFrame, few: DataFrame) -> DataFrame:
    """Return the rows whose partition (`PARTITION_KEY`) is that of some row of `few`."""
    return rows.join(F.broadcast(few.select(*C.PARTITION_KEY).distinct()), C.on_partition(), "left_semi")
