"""The HW that a replica loads with its log, up to 2.3: one of the lines "Replica loaded" is of it, the others are not.

`Partition.getOrCreateReplica` wrote it of every replica of the partition, those of other brokers among them, which have
no HW (0). All that are written between two loads of the log are of one load, and the greatest HW is the log's; before
the first, of a log that is being created, all are other brokers'.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import StatementKind
from sources.cluster_release import UP_TO_2_3, is_of_release

_LINE = (C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE)


def with_one_hw_a_load(stated: DataFrame, settings: DataFrame) -> DataFrame:
    """Rows of `broker_statements`, of each load of a log one HW where the latest version in `settings` is up to 2.3."""
    is_hw = _is(StatementKind.LOADED_HW)
    of_log = Window.partitionBy(C.BROKER_ID, C.TOPIC, C.PARTITION, F.when(_is_of_load(), 1).otherwise(0))
    until_now = of_log.orderBy(*_LINE).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    numbered = stated.withColumn("load", F.count_if(_is(StatementKind.LOADED_LEO)).over(until_now))
    of_load = Window.partitionBy(C.BROKER_ID, C.TOPIC, C.PARTITION, "load", is_hw)
    place = F.row_number().over(of_load.orderBy(F.col(C.OFFSET).desc(), *_LINE))
    is_of_log = (F.col("place") == 1) & ((F.col("load") > 0) | (F.col(C.OFFSET) > 0))
    placed = numbered.withColumn("place", place)
    return placed.where(~is_hw | ~is_of_release(settings, UP_TO_2_3) | is_of_log).select(*stated.columns)


def _is(kind: StatementKind) -> Column:
    return F.col(C.KIND) == kind.value


def _is_of_load() -> Column:
    return _is(StatementKind.LOADED_HW) | _is(StatementKind.LOADED_LEO)
