"""Partitions that are replayed by themselves, apart from all the others."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.timelines import Timelines
from schemas import columns as C
from schemas import tables as T

_OF_PARTITIONS = (T.PRODUCE_EVENTS, T.FETCH_EVENTS, T.LEADER_CHANGES, T.METADATA_CHANGES)
"""What makes a partition's leaderships and events: without them, statements of others come to nothing."""


def only(landed: Mapping[str, DataFrame], partitions: DataFrame) -> dict[str, DataFrame]:
    """Return the tables with the events of these `partitions` (their keys) alone."""
    return {**landed, **{table.name: _of(landed[table.name], partitions, "left_semi") for table in _OF_PARTITIONS}}


def put_in_place(apart: Timelines, timelines: Timelines, partitions: DataFrame) -> Timelines:
    """Return the timelines with the rows of `apart` in the place of all that they have of these `partitions`."""
    return Timelines(
        **{
            name: _of(rows, partitions, "left_anti").unionByName(_of(getattr(apart, name), partitions, "left_semi"))
            for name, rows in vars(timelines).items()
        }
    )


def _of(rows: DataFrame, partitions: DataFrame, how: str) -> DataFrame:
    """Return the rows of these partitions, or all others."""
    return rows.join(F.broadcast(partitions), C.on_partition(), how).select(*rows.columns)
