"""Times without a leader: from an epoch that nobody led to the next one that somebody did."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.finding import finding, text, until
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_REPLICA
from schemas.kinds import IncidentKind, Severity, StatementKind


def times_without_leader(epochs: DataFrame, landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per stretch in which nobody led: from an epoch with leader -1 to the next with a leader.

    `epochs` is `told_epochs.told_epochs`. After the last in-sync replica was told to stop it is what somebody wanted,
    and only information.
    """
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH)
    led_by = F.when(F.col(C.LEADER_ID) >= 0, F.col(C.LEADER_ID))
    known = epochs.withColumns(
        {
            "last_leader": F.last(led_by, ignorenulls=True).over(in_order.rowsBetween(FIRST, -1)),
            "is_begin": F.lag(C.LEADER_ID).over(in_order) != NO_REPLICA,
            C.ENDED_AT: F.first(F.when(led_by.isNotNull(), F.col(C.STARTED_AT)), ignorenulls=True).over(
                in_order.rowsBetween(1, LAST)
            ),
        }
    )
    gaps = known.where((F.col(C.LEADER_ID) == NO_REPLICA) & F.coalesce("is_begin", F.lit(True)))
    return _no_leader(gaps.join(_stops(landed), [str(C.CLUSTER_ID), "last_leader"], "left"))


def _stops(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker that began a controlled shutdown: the times."""
    stopping = landed[T.BROKER_STATEMENTS.name].where(F.col(C.KIND) == StatementKind.PROCESS_STOPPING.value)
    return stopping.groupBy(C.CLUSTER_ID, F.col(C.BROKER_ID).alias("last_leader")).agg(
        F.collect_list(C.EVENT_TIME).alias("stops")
    )


def _no_leader(gaps: DataFrame) -> DataFrame:
    """One finding per stretch in which nobody led."""
    # The controller moves the leader within the shutdown (controlled.shutdown.*), a minute is far more than it takes.
    near = F.expr("INTERVAL 60 SECONDS")
    is_planned = F.coalesce(
        F.exists("stops", lambda at: (at <= F.col(C.STARTED_AT) + near) & (at >= F.col(C.STARTED_AT) - near)),
        F.lit(False),
    )
    severity = F.when(is_planned, Severity.INFO.value).otherwise(Severity.CRITICAL.value)
    lasted = until(F.col(C.STARTED_AT), F.col(C.ENDED_AT))
    evidence = F.concat(
        text("no leader from epoch {} on, {}; the last was {}", C.LEADER_EPOCH, lasted, "last_leader"),
        F.when(is_planned, ", which was told to stop").otherwise(""),
    )
    return finding(gaps, IncidentKind.NO_LEADER, severity, evidence)
