"""Leader epochs that a broker led when all of its logs had ended (`ended_logs`): no line of its own tells of them.

It lived: the epoch lasted longer than one of a leader that is dead (`epoch_times`), or that never knew of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.events.epoch_times import BEGUN_US, NEXT_US, REPLACED_WITHIN_US, told_of_epochs, with_times
from replay.events.heard import ASKED_WITHIN_US, TO_US, heard
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T

EARLY_ENDS = "early_ends"
"""Name under which tables bring `early_ends`: asked for before anything is planned, for most deliveries have none."""
WROTE_UNTIL_US, END_US = "wrote_until_us", "end_us"
"""bigint: the time of a broker's last line, of any of its logs, and of the last one of all brokers."""
_BROKER = (C.CLUSTER_ID, C.BROKER_ID)
_HEARD_UNTIL_US, _REQUESTS_END_US = "heard_until_us", "requests_end_us"


def epochs_after_lines(landed: Mapping[str, DataFrame], early: DataFrame) -> DataFrame:
    """One row per leader epoch, its key, that began when all logs of its leader had ended, and that it lived through.

    `early` is `early_ends`.
    """
    led = told_of_epochs(landed, C.LEADER_ID).where(F.col(C.LEADER_ID) >= 0).distinct()
    known = led.withColumnRenamed(C.LEADER_ID, C.BROKER_ID).join(F.broadcast(early), [str(c) for c in _BROKER])
    is_after = F.col(BEGUN_US) > F.col(WROTE_UNTIL_US)
    lasted = F.coalesce(NEXT_US, END_US) - F.col(BEGUN_US) > F.col(REPLACED_WITHIN_US)
    return with_times(known, landed).where(is_after & lasted).select(*C.PARTITION_KEY, C.LEADER_EPOCH)


def early_ends(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker whose request log ended before another's: `wrote_until_us`, `end_us`.

    Of a broker without a request log: whose other logs did.
    """
    if EARLY_ENDS in landed:
        return landed[EARLY_ENDS]
    told = [landed[table.name] for table in (T.LEADER_CHANGES, T.BROKER_STATEMENTS)]
    never = F.lit(None).cast("bigint").alias(_HEARD_UNTIL_US)
    wrote = [of.select(*_BROKER, F.unix_micros(C.EVENT_TIME).alias(WROTE_UNTIL_US), never) for of in told]
    asked = heard(landed).select(*_BROKER, F.col(TO_US).alias(WROTE_UNTIL_US), F.col(TO_US).alias(_HEARD_UNTIL_US))
    each = reduce(DataFrame.unionByName, [*wrote, asked]).groupBy(*_BROKER)
    last = each.agg(*[F.max(us).alias(us) for us in (WROTE_UNTIL_US, _HEARD_UNTIL_US)])
    of_cluster = Window.partitionBy(C.CLUSTER_ID).rowsBetween(FIRST, LAST)
    of_all = {END_US: WROTE_UNTIL_US, _REQUESTS_END_US: _HEARD_UNTIL_US}
    ends = last.withColumns({end: F.max(us).over(of_cluster) for end, us in of_all.items()})
    sooner_us = F.coalesce(F.col(_REQUESTS_END_US) - F.col(_HEARD_UNTIL_US), F.col(END_US) - F.col(WROTE_UNTIL_US))
    return ends.where(sooner_us > ASKED_WITHIN_US).drop(_HEARD_UNTIL_US, _REQUESTS_END_US)
