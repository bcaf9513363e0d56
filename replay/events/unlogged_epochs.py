"""Leader epochs that a broker led when all of its logs had ended (`ended_logs`): no line of its own tells of them.

It lived: the epoch lasted longer than one of a leader that is dead (`epoch_times`), or that never knew of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.events.early_ends import END_US, WROTE_UNTIL_US
from replay.events.epoch_times import BEGUN_US, NEXT_US, REPLACED_WITHIN_US, told_of_epochs, with_times
from schemas import columns as C


def epochs_after_lines(landed: Mapping[str, DataFrame], early: DataFrame) -> DataFrame:
    """One row per leader epoch, its key, that began when all logs of its leader had ended, and that it lived through.

    `early` is `early_ends.early_ends`.
    """
    led = told_of_epochs(landed, C.LEADER_ID).where(F.col(C.LEADER_ID) >= 0).distinct()
    known = led.withColumnRenamed(C.LEADER_ID, C.BROKER_ID).join(F.broadcast(early), [str(c) for c in C.BROKER_KEY])
    is_after = F.col(BEGUN_US) > F.col(WROTE_UNTIL_US)
    lasted = F.coalesce(NEXT_US, END_US) - F.col(BEGUN_US) > F.col(REPLACED_WITHIN_US)
    return with_times(known, landed).where(is_after & lasted).select(*C.PARTITION_KEY, C.LEADER_EPOCH)
