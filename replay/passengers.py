"""Passengers: columns that a stretch of windows neither reads nor changes, carried as one.

A window copies each row twice, field by field; a struct it copies as one piece of memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def packed(frame: DataFrame, columns: Sequence[str], name: str) -> DataFrame:
    """Return the frame with `columns` as one, a struct of this name."""
    return frame.withColumn(name, F.struct(*columns)).drop(*columns)


def unpacked(frame: DataFrame, name: str) -> DataFrame:
    """Return the frame with the columns that `packed` packed.

    All of them have to be read later: of a struct that is read in part Spark carries the parts, each by itself.
    """
    return frame.select("*", f"{name}.*").drop(name)
