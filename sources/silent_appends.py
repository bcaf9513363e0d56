"""Appends of which no response tells an offset: transaction markers, acks=0, and what a leader begins with."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources.resolve_appends import TERM
from sources.resolve_epochs import lines_of_leaders

MAY_BE_THERE = (3, 6, 7, 20, 56)
"""Errors with which a marker may have been appended all the same, as an append may: what `DelayedProduce.tryComplete`
finds of a partition that was led when it was appended."""


def is_silent() -> Column:
    """Whether a row is of an append whose offset no response tells, or may be."""
    return (F.col(C.BASE_OFFSET) < 0) & (F.col(C.LEADER_EPOCH) >= 0) & (is_marker() | _is_uncounted())


def is_marker() -> Column:
    """Whether a row is of a marker that was surely appended, of which only a request tells, and that can be counted."""
    # To an internal topic coordinators append besides, as no line tells.
    return _is_asked_for() & (F.col(C.ERROR_CODE) == 0) & ~F.col(C.TOPIC).startswith("__")


def _is_uncounted() -> Column:
    """Whether it is of nobody knows how many records, or maybe none."""
    may_be = _is_asked_for() & F.col(C.ERROR_CODE).isin(0, *MAY_BE_THERE) & ~is_marker()
    return may_be | F.coalesce((F.col(C.ACKS) == 0) & (F.col(C.ERROR_CODE) == 0), F.lit(False))


def beginnings(appends: DataFrame, statements: DataFrame) -> DataFrame:
    """One row a leader that began where no append begins, as an append of no record: what it begins with is silent."""
    begun = lines_of_leaders(statements).select(
        *TERM, F.col(C.OFFSET).alias(C.BASE_OFFSET), (F.col(C.OFFSET) - 1).alias(C.LAST_OFFSET), C.EVENT_TIME,
    )  # fmt: skip
    return begun.join(appends.select(*TERM, C.BASE_OFFSET).distinct(), [*TERM, C.BASE_OFFSET], "left_anti")


def _is_asked_for() -> Column:
    return F.col(C.IS_CONTROL) & (F.col(C.BASE_OFFSET) < 0)
