"""Whether a cluster's HWs stand while an ISR is under min.insync.replicas: for who has the tables and no profile."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import KAFKA_VERSION

HAS_GATE = "has_gate"
"""boolean: the last release that the cluster tells of is 3.7 or newer (KIP-966)."""
_BEFORE = r"^(?:[0-2]\.|3\.[0-6](?:\.|-|$))"
_BEFORE_OF_CONFLUENT = r"^(?:[56]\.|7\.[0-6]\.).*-(?:ccs|ce)"
"""Confluent's 7.7 is Apache's 3.7."""


def min_isr_gates(settings: DataFrame) -> DataFrame:
    """One row per cluster that tells its release: `has_gate`, as `releases.profile_for` has `min_isr_gate`."""
    told = settings.where((F.col(C.NAME) == KAFKA_VERSION) & F.col(C.VALUE).isNotNull())
    latest = F.max_by(C.VALUE, F.coalesce(F.unix_micros(C.EVENT_TIME), F.lit(0)))
    of_cluster = told.groupBy(C.CLUSTER_ID).agg(latest.alias("release"))
    is_older = F.col("release").rlike(_BEFORE) | F.col("release").rlike(_BEFORE_OF_CONFLUENT)
    return of_cluster.select(C.CLUSTER_ID, (~is_older).alias(HAS_GATE))
