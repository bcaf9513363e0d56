"""Passengers: columns that a stretch of windows neither reads nor changes, carried as one.

A window copies each row twice, once of that field by field; a struct it copies as one piece of memory. Of a struct that
is read in part Spark carries the parts, each by itself: whatever is packed here has to be read later, all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def packed(frame: DataFrame, columns: Sequence[str], name: str) -> DataFrame:
    """Return the frame with `columns` as one, a struct of this name."""
    return frame.withColumn(name, F.struct(*columns)).drop(*columns)


def unpacked(frame: DataFrame, name: str) -> DataFrame:
    """Return the frame with the columns that `packed` packed."""
    return frame.select("*", f"{name}.*").drop(name)


def aboard(frame: DataFrame, columns: Sequence[str], name: str) -> DataFrame:
    """Return the frame with a copy of `columns` as one: what a window is given of them is read where they are.

    Spark carries a column no farther than it is read, and `ashore` reads none but the copies.
    """
    return frame.withColumn(name, F.struct(*columns))


def ashore(frame: DataFrame, columns: Sequence[str], name: str) -> DataFrame:
    """Return the frame with `columns` as they went aboard."""
    return unpacked(frame.drop(*columns), name)
