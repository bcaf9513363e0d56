"""Roles that are told long after: of a leader whose process ended they say what its followers had, and so its HW.

Its end is bounded by the LEO with which each follower took its next role (`next_roles.reached`); one that was frozen
then, or cut off, may take that hours later.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.events.ends import ends
from replay.events.leaderships import START_US, roles_with_loads
from replay.statements import ROLE_LEOS, is_of
from schemas import columns as C
from schemas import tables as T

_ROLE = (*C.PARTITION_KEY, C.BROKER_ID, C.EVENT_TIME)


def ends_told_of(landed: Mapping[str, DataFrame], new: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader's end and follower of whose next role after it the news tell: cluster, and `at`, when it was.

    `landed` are all rows, `new` those that are news.
    """
    ended = ends(roles_with_loads(landed)).select(
        *C.PARTITION_KEY, F.col(C.LEADER_EPOCH).alias("ended"), F.col(C.BROKER_ID).alias("leader"), START_US
    )
    told = landed[T.BROKER_STATEMENTS.name].where(is_of(*ROLE_LEOS)).select(*_ROLE, C.LEADER_EPOCH)
    later = told.join(F.broadcast(ended), C.on_partition()).where(F.col(C.LEADER_EPOCH) > F.col("ended"))
    following = later.groupBy(*C.PARTITION_KEY, "ended", "leader", START_US, C.BROKER_ID).agg(
        F.min_by(C.EVENT_TIME, F.struct(C.LEADER_EPOCH, C.EVENT_TIME)).alias(C.EVENT_TIME)
    )
    news = new[T.BROKER_STATEMENTS.name].where(is_of(*ROLE_LEOS)).select(*_ROLE)
    told_now = following.join(F.broadcast(news), [*map(str, _ROLE)], "left_semi")
    return told_now.select(C.CLUSTER_ID, F.timestamp_micros(START_US).alias("at"))
