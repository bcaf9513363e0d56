"""The highest HW that leaders of a partition had reached before something, by leader epoch, for epochs are few."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C

BY_EPOCH = "highest_by_epoch"
"""array<struct<leader_epoch, …, highest>>: the highest HW of each leader epoch of the partition."""
HIGHEST = "highest"


def highest_by_epoch(rows: DataFrame, high_watermark: str, *by: str) -> DataFrame:
    """One row per partition: `highest_by_epoch`, apart by the columns `by` as well; `rows` are leaders'."""
    of_epochs = rows.groupBy(*C.EPOCH_KEY, *by).agg(F.max(high_watermark).alias(HIGHEST))
    each = F.collect_list(F.struct(C.LEADER_EPOCH, *by, HIGHEST))
    return of_epochs.groupBy(*C.PARTITION_KEY).agg(each.alias(BY_EPOCH))


def highest_where(applies: Callable[[Column], Column]) -> Column:
    """Return the highest of those in the row's `highest_by_epoch` to which it applies; NULL if it does to none."""
    return F.array_max(F.transform(F.filter(BY_EPOCH, applies), lambda it: it[HIGHEST]))


def is_earlier(it: Column, has_own_epoch: bool | Column) -> Column:
    """Return whether one of `highest_by_epoch` is of an earlier epoch than the row, or of its own, where that counts.

    Of a cut that a line tells, the events of its own epoch that were before it are told by their times (`stated_cuts`).
    """
    own = F.lit(has_own_epoch) & (it[C.LEADER_EPOCH] == F.col(C.LEADER_EPOCH))
    return (it[C.LEADER_EPOCH] < F.col(C.LEADER_EPOCH)) | own
