"""Whether leaders' HWs stand while an ISR is under min.insync.replicas: for who has the tables and no profile."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.releases import MIN_ISR_GATE, release_of
from schemas import columns as C
from schemas.kinds import KAFKA_VERSION

_GATES = "gates"
_SINCE_US, _HAS_GATE = "since_us", "has_gate"


def min_isr_gates(settings: DataFrame) -> DataFrame:
    """One row per cluster that tells releases: `gates`, what each line says of its broker's, in the order of time."""
    told = settings.where((F.col(C.NAME) == KAFKA_VERSION) & F.col(C.VALUE).isNotNull())
    # What a capture says of itself (about.json) has no time.
    since_us = F.coalesce(F.unix_micros(C.EVENT_TIME), F.lit(0)).alias(_SINCE_US)
    is_as_new = release_of(F.col(C.VALUE)) >= F.struct(*map(F.lit, MIN_ISR_GATE))
    gate = F.struct(since_us, C.BROKER_ID, is_as_new.alias(_HAS_GATE))
    return told.groupBy(C.CLUSTER_ID).agg(F.sort_array(F.collect_set(gate)).alias(_GATES))


def has_gate(leader_id: Column, at: Column) -> Column:
    """Return whether a leader has the gate at a time, by `min_isr_gates`: as `brokers_rules.of_leader_at` has it.

    Who tells nothing of itself plays by what the first told who did; where nobody does, a release is taken for new.
    """
    own = F.filter(_GATES, lambda it: (it[C.BROKER_ID] == leader_id) & (it[_SINCE_US] <= F.unix_micros(at)))
    return F.coalesce(F.get(own, F.size(own) - 1)[_HAS_GATE], F.get(F.col(_GATES), F.lit(0))[_HAS_GATE], F.lit(True))
