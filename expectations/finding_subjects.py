"""What rules of findings speak of: an incident, and an append that was acknowledged beside the losses."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from expectations.subject import OF_PARTITION, Subject, Tables, nowhere
from schemas import columns as C
from schemas import tables as T
from schemas.columns import ALL_ACKS, Field
from schemas.kinds import LOSSES

IS_TOLD = f"{C.KIND} IS NOT NULL"
IS_LOST = Field("is_lost", C.BOOL, "The log of a later elected leader does not hold the records.")
_RESTART = "INTERVAL 100 MILLISECONDS"
"""A process that restarts and keeps its epoch takes longer; an append in an epoch is no earlier than its begin."""


def findings(tables: Tables) -> DataFrame:
    """One row per finding; its evidence names its lines."""
    return tables[T.INCIDENTS.name].withColumns(nowhere())


def findings_of_fetches(tables: Tables) -> DataFrame:
    """One row per finding, and where no fetch is in the capture one that says so: its kind is NULL."""
    asked = tables[T.FETCH_EVENTS.name].select(C.CLUSTER_ID).distinct()
    untold = tables[T.SOURCE_FILES.name].select(C.CLUSTER_ID).distinct().join(asked, str(C.CLUSTER_ID), "left_anti")
    return findings(tables).unionByName(untold, allowMissingColumns=True)


def acknowledged(tables: Tables) -> DataFrame:
    """One row per append that a producer with acks=all was told had succeeded, and whether it is lost."""
    lost = tables[T.INCIDENTS.name].where(F.col(C.KIND).isin(*LOSSES))
    ranges = lost.groupBy(*C.PARTITION_KEY).agg(
        F.collect_list(F.struct(F.col(C.LEADER_EPOCH).alias("epoch"), C.FROM_OFFSET, C.TO_OFFSET, C.STARTED_AT)).alias(
            "ranges"
        )
    )
    succeeded = (F.col(C.ACKS) == ALL_ACKS) & (F.col(C.ERROR_CODE) == 0) & (F.col(C.BASE_OFFSET) >= 0)
    appends = tables[T.PRODUCE_EVENTS.name].where(succeeded)
    # Where nothing tells the last offset: a batch is kept or lost as a whole.
    last = F.greatest(F.col(C.BASE_OFFSET), F.col(C.LAST_OFFSET))

    def is_before(it: Column) -> Column:
        epoch = F.col(C.LEADER_EPOCH)
        restarted = it[C.STARTED_AT] - F.expr(_RESTART)
        return (it["epoch"] > epoch) | ((it["epoch"] == epoch) & (F.col(C.EVENT_TIME) < restarted))

    is_in = F.exists(
        "ranges", lambda it: is_before(it) & (it[C.FROM_OFFSET] <= last) & (it[C.TO_OFFSET] > F.col(C.BASE_OFFSET))
    )
    known = appends.join(F.broadcast(ranges), C.on_partition(), "left")
    return known.withColumn(IS_LOST, F.coalesce(is_in, F.lit(False)))


FINDINGS = Subject("findings", T.INCIDENTS, (C.INCIDENT_ID,), findings, empty_holds=True)
FETCH_FINDINGS = Subject(
    "findings_of_fetches",
    T.INCIDENTS,
    (C.INCIDENT_ID,),
    findings_of_fetches,
    beside=(T.FETCH_EVENTS, T.SOURCE_FILES),
    empty_holds=True,
)
ACKNOWLEDGED = Subject(
    "acknowledged", T.PRODUCE_EVENTS, (*OF_PARTITION, C.LEADER_EPOCH, C.BASE_OFFSET), acknowledged,
    beside=(T.INCIDENTS,), may_be_empty=True,
)  # fmt: skip
