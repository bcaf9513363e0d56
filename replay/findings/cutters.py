"""Cutters: whose records a replica cut, by the leader epoch in which it was last in touch with a leader before."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.findings.contacts import FIRST_AT
from schemas import columns as C

SEEN_IN = "seen_in"
"""int: the last leader epoch that the replica led or fetched in before it cut; NULL where none is known."""


def with_last_contact(truncations: DataFrame, took_part: DataFrame) -> DataFrame:
    """Return the truncations with `seen_in`; `took_part` is `contacts.contacts`.

    In the epoch of the cut itself the times decide: a former leader cuts before it first fetches, and what it cuts is
    its own; one that has fetched, and restarts without its tail, cuts what that epoch's leader has.
    """
    in_touch = F.struct(F.col(C.LEADER_EPOCH).alias("epoch"), FIRST_AT)
    of_replica = took_part.groupBy(*C.PARTITION_KEY, C.REPLICA_ID).agg(F.collect_list(in_touch).alias("in_touch"))
    # A line has the time of the replica's clock, a cut that is rebuilt that of its leader's.
    at = F.when(F.col(C.IS_STATED), F.expr(f"{C.EVENT_TIME} - {N.CLOCKS_APART}")).otherwise(F.col(C.EVENT_TIME))

    def is_before(it: Column) -> Column:
        epoch = F.col(C.LEADER_EPOCH)
        return (it["epoch"] < epoch) | ((it["epoch"] == epoch) & (it[FIRST_AT] < at))

    before = F.transform(F.filter("in_touch", is_before), lambda it: it["epoch"])
    known = truncations.join(of_replica, C.on_partition(C.REPLICA_ID), "left")
    return known.withColumn(SEEN_IN, F.array_max(before)).drop("in_touch")
