"""Gaps in fetch sessions (KIP-227): requests missing from the capture, after which their partitions are unknown."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.finding import finding, text
from replay.windows import FIRST
from schemas import columns as C
from schemas.kinds import IncidentKind, Severity

_SESSION = (C.CLUSTER_ID, C.BROKER_ID, C.REPLICA_ID, C.SESSION_ID)
_SINCE = C.SESSION_UNBROKEN_SINCE


def session_gaps(fetches: DataFrame) -> DataFrame:
    """One row per gap in the numbers of a follower's fetch session; of the session, thus of no partition.

    That a session is unbroken since a request says what its delivery had: the requests before that one may have come
    with another.
    """
    so_far = Window.partitionBy(*_SESSION).orderBy(_SINCE).rowsBetween(FIRST, -1)
    known = _unbroken(fetches).withColumns(
        {"before": F.max("last").over(so_far), C.STARTED_AT: F.max("last_at").over(so_far)}
    )
    gaps = known.where(F.col(_SINCE) > F.col("before") + 1).withColumns(
        {
            C.TOPIC: F.lit(""),
            C.TOPIC_ID: F.lit(""),
            C.PARTITION: F.lit(-1),
            C.LEADER_EPOCH: F.lit(-1),
        }
    )
    evidence = text(
        "fetch session {} of replica {} at broker {}: request {} follows {}",
        C.SESSION_ID, C.REPLICA_ID, C.BROKER_ID, _SINCE, "before",
    )  # fmt: skip
    return finding(gaps, IncidentKind.FETCH_SESSION_GAP, Severity.WARNING, evidence, replica_id=F.col(C.REPLICA_ID))


def _unbroken(fetches: DataFrame) -> DataFrame:
    """One row per part of a follower's session without a gap: its first and last request that a partition's row is of.

    The last request before a gap has a row of every partition, for there the run of each ends.
    """
    in_session = fetches.where((F.col(C.REPLICA_ID) >= 0) & (F.col(C.SESSION_ID) > 0))
    # Few are broken, and by a text among aggregates all that are looked at would be sorted.
    broken = in_session.groupBy(*_SESSION).agg(F.min(_SINCE).alias("first"), F.max(_SINCE).alias("last"))
    of_broken = F.broadcast(broken.where("first < last").drop("first", "last"))
    return (
        in_session.join(of_broken, [*map(str, _SESSION)], "left_semi")
        .groupBy(*_SESSION, _SINCE)
        .agg(
            F.min_by(C.CAPTURE_ID, C.SESSION_EPOCH).alias(C.CAPTURE_ID),
            F.min_by(C.EVENT_TIME, C.SESSION_EPOCH).alias(C.ENDED_AT),
            F.max(C.SESSION_EPOCH).alias("last"),
            F.max_by(C.EVENT_TIME, C.SESSION_EPOCH).alias("last_at"),
        )
    )
