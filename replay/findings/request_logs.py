"""How far request logs go: until then a leader of which nothing else is told led on."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C

HEARD_UNTIL = "heard_until"
"""timestamp: of the last request in a broker's log, whichever partition it was for, and whatever it was answered."""


def heard_until(produce_events: DataFrame, fetch_events: DataFrame) -> DataFrame:
    """One row per broker that logged requests: cluster_id, leader_id (its own) and `heard_until`."""
    at = F.coalesce(C.RESPONSE_TIME, C.EVENT_TIME).alias(HEARD_UNTIL)
    each = [
        events.select(C.CLUSTER_ID, F.col(C.BROKER_ID).alias(C.LEADER_ID), at)
        for events in (produce_events, fetch_events)
    ]
    return each[0].unionByName(each[1]).groupBy(C.CLUSTER_ID, C.LEADER_ID).agg(F.max(HEARD_UNTIL).alias(HEARD_UNTIL))
