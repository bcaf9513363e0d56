"""Partitions whose leaders were silent between their first request and their last: no cut of them is far from silence.

Before the first, where a request log was rotated away sooner than the lines of leaderships, and after the last one,
what is bounded is all in one stretch: the first, or the last.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.events.heard import AT_US
from replay.events.silence import unheard_moments
from replay.events.told import told_by_leaders
from replay.stretches.requests import SECOND_US
from schemas import columns as C


def silent_within(landed: Mapping[str, DataFrame], counts: DataFrame) -> DataFrame:
    """One row per partition (its key) of which a leader changed, told or ended in silence between its requests.

    `counts` is `hot.request_counts`.
    """
    columns = (*C.PARTITION_KEY, AT_US)
    moments = unheard_moments(landed).select(*columns).unionByName(told_by_leaders(landed).select(*columns))
    asked = F.broadcast(counts.select(*C.PARTITION_KEY, "first", "last"))
    is_within = F.col(AT_US).between(F.col("first") * SECOND_US, (F.col("last") + 1) * SECOND_US)
    return moments.join(asked, C.on_partition()).where(is_within).select(*C.PARTITION_KEY).distinct()
