"""`event_seq`: the total order of one partition and leader epoch, as a number."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from schemas import columns as C

_PER_INCARNATION = 1 << 40
"""Events of a leader that restarted and kept its epoch follow those before, whatever their number."""


def with_event_seq(states: DataFrame) -> DataFrame:
    """Return the events with `event_seq`, unique and rising within a partition and leader epoch (not dense)."""
    number = F.col(N.PLACE).cast("bigint") + F.col(N.INCARNATION) * F.lit(_PER_INCARNATION)
    return states.withColumn(C.EVENT_SEQ, number)


def incarnation_of(event_seq: str) -> Column:
    """Return the incarnation (int) that an `event_seq` is numbered in."""
    return F.call_function("div", F.col(event_seq), F.lit(_PER_INCARNATION)).cast("int")
