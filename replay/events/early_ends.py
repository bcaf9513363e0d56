"""Whose logs ended before others': of these alone a log may have ended while its broker lived on (`ended_logs`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.events.heard import ASKED_WITHIN_US, HEARD_UNTIL_US, TO_US, heard
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T

EARLY_ENDS = "early_ends"
"""Name under which tables bring `early_ends`: asked for before anything is planned, for most deliveries have none."""
WROTE_UNTIL_US, END_US = "wrote_until_us", "end_us"
"""bigint: the time of a broker's last line, of any of its logs, and of the last one of all brokers."""
REQUESTS_END_US = "requests_end_us"
"""bigint: the last request of all brokers."""


def early_ends(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker whose request log ended before another's, or whose other logs did where it has none.

    Columns: cluster_id, broker_id, `heard_until_us` (its last request; NULL: it has no request log), `requests_end_us`,
    `wrote_until_us`, `end_us`.
    """
    if EARLY_ENDS in landed:
        return landed[EARLY_ENDS]
    told = [landed[table.name] for table in (T.LEADER_CHANGES, T.BROKER_STATEMENTS)]
    never = F.lit(None).cast("bigint").alias(HEARD_UNTIL_US)
    wrote = [of.select(*C.BROKER_KEY, F.unix_micros(C.EVENT_TIME).alias(WROTE_UNTIL_US), never) for of in told]
    asked = heard(landed).select(*C.BROKER_KEY, F.col(TO_US).alias(WROTE_UNTIL_US), F.col(TO_US).alias(HEARD_UNTIL_US))
    each = reduce(DataFrame.unionByName, [*wrote, asked]).groupBy(*C.BROKER_KEY)
    last = each.agg(*[F.max(us).alias(us) for us in (WROTE_UNTIL_US, HEARD_UNTIL_US)])
    of_cluster = Window.partitionBy(C.CLUSTER_ID).rowsBetween(FIRST, LAST)
    of_all = {END_US: WROTE_UNTIL_US, REQUESTS_END_US: HEARD_UNTIL_US}
    ends = last.withColumns({end: F.max(us).over(of_cluster) for end, us in of_all.items()})
    sooner_us = F.coalesce(F.col(REQUESTS_END_US) - F.col(HEARD_UNTIL_US), F.col(END_US) - F.col(WROTE_UNTIL_US))
    return ends.where(sooner_us > ASKED_WITHIN_US)
