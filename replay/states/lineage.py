"""Lineage: whose records the log of a leader holds: of some leaderships before it, each up to some offset, and its own.

A leader has the log of the leadership that it led or fetched from last, as far as its own LEO when it was elected. One
that was away since an older epoch has that epoch's tail in place of what later leaders appended (an unclean election).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_event
from schemas import columns as C
from schemas.kinds import EventType

NUMBER = "number"
"""int: place of a leadership in its partition, from 1; 0 stands for all that led before the capture."""
WRITER = "writer"
"""int: the number of the leadership whose records they are."""
UNTIL = "until_offset"
"""bigint: exclusive end of those that the log holds; `BEYOND` in its own leadership."""
BEYOND = 1 << 62
"""Past any offset."""
_PIECES = "array<struct<writer:int,start:bigint>>"


def lineages(states: DataFrame) -> DataFrame:
    """One row per leadership and writer of records in its log: `LEADERSHIP`, `number`, `writer`, `until_offset`.

    `states` are the leaders' states, event by event.
    """
    begun = _with_parent(_contacts(states)).where("leads")
    fields = F.struct(NUMBER, "parent", "start", C.LEADER_EPOCH, N.INCARNATION, N.TENURE)
    in_order = F.sort_array(F.collect_list(fields)).alias("begun")
    of_partition = begun.groupBy(N.PARTITION_NUMBER).agg(in_order)
    logs = F.aggregate("begun", F.array().cast(f"array<{_PIECES}>"), _with_next)
    each = F.explode(F.arrays_zip("begun", logs.alias("log"))).alias("it")
    known = of_partition.select(N.PARTITION_NUMBER, each).select(N.PARTITION_NUMBER, "it.begun.*", "it.log")
    pieces = known.select("*", F.posexplode("log").alias("place", "piece"))
    following = F.get("log", F.col("place") + 1)["start"]
    until = F.coalesce(following, F.lit(BEYOND)).alias(UNTIL)
    return pieces.select(*N.LEADERSHIP, NUMBER, F.col("piece.writer").alias(WRITER), until)


def _with_next(logs: Column, it: Column) -> Column:
    """Return the logs so far, and that of the next leadership: what it holds of its parent's, and its own records."""
    unknown = F.array(F.struct(F.lit(0), F.lit(-1))).cast(_PIECES)
    parent = F.coalesce(F.get(logs, it["parent"] - 1), unknown)
    held = F.filter(parent, lambda piece: piece["start"] < it["start"])
    own = F.array(F.struct(it[NUMBER], it["start"])).cast(_PIECES)
    return F.concat(logs, F.array(F.concat(held, own)))


def _contacts(states: DataFrame) -> DataFrame:
    """One row per leadership and replica that led it or fetched from it: `leads`, how far its log then reached at most.

    `start` is the LEO with which the leadership began. A fetch from beyond its leader's log tells that the replica has
    not truncated to it yet: 2.8.0 records such (`Profile.records_divergence`).
    """
    fetched = is_event(EventType.FETCH, N.RESPONSE)
    diverges = fetched & (F.col(C.LOG_END_OFFSET) >= 0) & (F.col(C.FETCH_OFFSET) > F.col(C.LOG_END_OFFSET))
    whose = F.when(fetched, F.col(N.SLOT)).otherwise(F.col(N.LEADER_SLOT)).alias(N.SLOT)
    start = F.max(N.EPOCH_START)
    return (
        states.where(~F.coalesce(diverges, F.lit(False)))
        .groupBy(*N.LEADERSHIP, whose)
        .agg(
            F.bool_or(~fetched).alias("leads"),
            F.max(C.LOG_END_OFFSET).alias("came_to"),
            F.when(start >= 0, start).otherwise(F.lit(BEYOND)).alias("start"),
        )
    )


def _with_parent(contacts: DataFrame) -> DataFrame:
    """Return the contacts with `parent`: the number of the leadership in whose log a leader's own begins.

    A log that is longer than it was when its replica was last heard of has grown since: as its predecessor's did.
    """
    of_partition = Window.partitionBy(N.PARTITION_NUMBER).orderBy(C.LEADER_EPOCH, N.INCARNATION)
    of_replica = Window.partitionBy(N.PARTITION_NUMBER, N.SLOT).orderBy(C.LEADER_EPOCH, N.INCARNATION)
    placed = contacts.withColumn(NUMBER, F.dense_rank().over(of_partition))
    last = F.lag(F.struct(NUMBER, "came_to")).over(of_replica)
    has_it_all = last["came_to"] >= F.col("start")
    before = F.col(NUMBER) - 1
    return placed.withColumn("parent", F.when(has_it_all, last[NUMBER]).otherwise(before))
