"""Leader epochs that a broker led when all of its logs had ended (`ended_logs`): no line of its own tells of them.

It lived: the epoch lasted longer than one of a leader that is dead (`epoch_times`), or that never knew of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.events.epoch_times import BEGUN_US, NEXT_US, REPLACED_WITHIN_US, told_of_epochs, with_times
from replay.events.heard import TO_US, heard
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T

WROTE_UNTIL_US = "wrote_until_us"
"""bigint: the time of a broker's last line, of any of its logs."""
_END_US = "end_us"
_BROKER = (C.CLUSTER_ID, C.BROKER_ID)


def epochs_after_lines(landed: Mapping[str, DataFrame], wrote: DataFrame) -> DataFrame:
    """One row per leader epoch, its key, that began when all logs of its leader had ended, and that it lived through.

    `wrote` is `last_lines`.
    """
    of_cluster = Window.partitionBy(C.CLUSTER_ID).rowsBetween(FIRST, LAST)
    until = wrote.withColumn(_END_US, F.max(WROTE_UNTIL_US).over(of_cluster))
    led = told_of_epochs(landed, C.LEADER_ID).where(F.col(C.LEADER_ID) >= 0).distinct()
    known = led.withColumnRenamed(C.LEADER_ID, C.BROKER_ID).join(F.broadcast(until), [str(c) for c in _BROKER])
    is_after = F.col(BEGUN_US) > F.col(WROTE_UNTIL_US)
    lasted = F.coalesce(NEXT_US, _END_US) - F.col(BEGUN_US) > F.col(REPLACED_WITHIN_US)
    return with_times(known, landed).where(is_after & lasted).select(*C.PARTITION_KEY, C.LEADER_EPOCH)


def last_lines(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker of whom some line has landed: `wrote_until_us`."""
    told = [landed[table.name] for table in (T.LEADER_CHANGES, T.BROKER_STATEMENTS)]
    timed = [of.select(*_BROKER, F.unix_micros(C.EVENT_TIME).alias(WROTE_UNTIL_US)) for of in told]
    asked = heard(landed).select(*_BROKER, F.col(TO_US).alias(WROTE_UNTIL_US))
    each = reduce(DataFrame.unionByName, [*timed, asked])
    return each.groupBy(*_BROKER).agg(F.max(WROTE_UNTIL_US).alias(WROTE_UNTIL_US))
