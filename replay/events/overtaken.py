"""Overtaken fetches: those that a follower had given up, and that were answered after later ones of the same follower.

A broker that was frozen, or is starting, finds in its sockets what followers asked it long before. They have given up,
and asked anew on other connections, maybe told of another epoch meanwhile; which is read first is chance. A fetch that
names an older epoch than its replica has named before is such a one. It is refused (KIP-320), and tells where the
replica was then, not where it is.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.events.acceptance import FENCED_LEADER_EPOCH
from schemas import columns as C

_OF_FETCHER = C.on_partition(C.BROKER_ID, C.REPLICA_ID)
_FETCH = C.on_partition(*C.LINE)


def without_overtaken(fetches: DataFrame) -> DataFrame:
    """Return the followers' fetches of `schemas.tables.FETCH_EVENTS` but for those that were overtaken.

    All by one broker's clock. Few are refused so, and where none is nothing else is looked at.
    """
    fenced = fetches.where((F.col(C.ERROR_CODE) == FENCED_LEADER_EPOCH) & (F.col(C.CURRENT_LEADER_EPOCH) >= 0)).select(
        *_OF_FETCHER, *C.LINE, F.col(C.CURRENT_LEADER_EPOCH).alias("named"), F.col(C.EVENT_TIME).alias("asked_at")
    )
    asked = fetches.select(*_OF_FETCHER, C.CURRENT_LEADER_EPOCH, C.EVENT_TIME)
    is_before = (F.col(C.CURRENT_LEADER_EPOCH) > F.col("named")) & (F.col(C.EVENT_TIME) < F.col("asked_at"))
    overtaken = asked.join(F.broadcast(fenced), _OF_FETCHER).where(is_before).select(*_FETCH).distinct()
    return fetches.join(F.broadcast(overtaken), _FETCH, "left_anti")
