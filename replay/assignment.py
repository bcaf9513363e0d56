"""Slots: a replica's state lives in the columns of its slot, its place among all replicas the partition ever had.

Exploding events by replicas costs 2.5 times as much as slots do, array columns 1.5 times. The assignment is a small
table made of metadata and of all events: a replica that always led never fetches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.names import ASSIGNED_MASK, LEADER_SLOT, PARTITION_NUMBER
from schemas import columns as C
from schemas import tables as T

SLOTS = "slots"
"""array<int>: every replica the partition ever had, ascending; a slot is an index into it."""
MOST_SLOTS = 30
"""So many fit into a set of slots, a bit mask of an int, and the bit beyond them."""


def assignments(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per partition: its number, and `slots`, every replica that metadata, a leader or a fetch names.

    A reassignment makes the list longer than the replication factor at any one time; which slots are assigned when
    is a bit mask of the timeline.
    """
    changes = landed[T.LEADER_CHANGES.name]
    named = F.array_union(F.array(F.col(C.LEADER_ID)), _list(C.ISR))
    for column in (C.REPLICAS, C.ADDING_REPLICAS, C.REMOVING_REPLICAS):
        named = F.array_union(named, _list(column))
    # A broker that follows is a replica, though no ISR may ever name it; one that changes an ISR leads.
    of_changes = F.array_union(named, F.array(F.col(C.BROKER_ID)))
    sources = [changes.select(*C.PARTITION_KEY, F.explode(of_changes).alias(C.REPLICA_ID))]
    if T.METADATA_CHANGES.name in landed:
        metadata = landed[T.METADATA_CHANGES.name]
        sources.append(metadata.select(*C.PARTITION_KEY, F.explode(named).alias(C.REPLICA_ID)))
    for name, column in ((T.FETCH_EVENTS.name, C.REPLICA_ID), (T.PRODUCE_EVENTS.name, C.BROKER_ID)):
        sources.append(landed[name].select(*C.PARTITION_KEY, F.col(column).alias(C.REPLICA_ID)))
    replicas = sources[0]
    for source in sources[1:]:
        replicas = replicas.unionByName(source)
    known = replicas.where(F.col(C.REPLICA_ID) >= 0)
    # Distinct first: what is collected is so row by row, and of more than 128 partitions only after a sort of all rows.
    # Then a list, not a set: Spark leaves out a `distinct` that makes no difference to what comes after it.
    sets = known.distinct().groupBy(*C.PARTITION_KEY).agg(F.sort_array(F.collect_list(C.REPLICA_ID)).alias(SLOTS))
    return sets.withColumn(PARTITION_NUMBER, F.row_number().over(Window.orderBy(*C.PARTITION_KEY)))


def outsiders(landed: Mapping[str, DataFrame], assigned: DataFrame) -> DataFrame:
    """One row per line that tells an ISR without one of the replicas the partition ever had."""
    told = landed[T.LEADER_CHANGES.name].select(*C.PARTITION_KEY, C.ISR)
    if T.METADATA_CHANGES.name in landed:
        told = told.unionByName(landed[T.METADATA_CHANGES.name].select(*C.PARTITION_KEY, C.ISR))
    return told.join(F.broadcast(assigned), C.on_partition()).where(F.size(C.ISR) < F.size(SLOTS))


def named(rows: DataFrame, assigned: DataFrame) -> DataFrame:
    """Return the rows with the key of their partition, whose number stood for it."""
    return rows.join(F.broadcast(assigned.drop(SLOTS)), PARTITION_NUMBER)


def _list(column: str) -> Column:
    return F.coalesce(F.col(column), F.expr(C.NOBODY))


def slot_of(replica_id: Column) -> Column:
    """Return the slot of `replica_id` in the row's `slots`; -1 if it has none."""
    return F.coalesce(F.array_position(F.col(SLOTS), replica_id).cast("int") - 1, F.lit(-1))


def mask_of(replicas: Column, slots: int) -> Column:
    """Return the bit mask of the slots of `replicas` (array<int>); NULL where that is NULL."""
    bits = [
        F.when(F.array_contains(replicas, F.get(F.col(SLOTS), F.lit(i))), 1 << i).otherwise(0) for i in range(slots)
    ]
    return F.when(replicas.isNotNull(), sum(bits, F.lit(0)))


def every_mask() -> Column:
    """Return the bit mask (int) of all slots of the row's partition."""
    return F.expr(f"shiftleft(1, size({SLOTS})) - 1")


def replicas_of(mask: Column, slots: int) -> Column:
    """Return the replica ids (array<int>, ascending) of the slots in `mask`; NULL where that is NULL."""
    members = [(in_mask(mask, i) & replica_in(i).isNotNull(), replica_in(i)) for i in range(slots)]
    return F.when(mask.isNotNull(), listed(members, "int"))


def replica_in(slot: int) -> Column:
    """Return the id of the replica in `slot`; NULL beyond the last."""
    return F.get(F.col(SLOTS), F.lit(slot))


def listed(values: Sequence[tuple[Column, Column]], of: str) -> Column:
    """Return the values whose condition, beside them, holds, as an array of the type `of`.

    `array_compact` is a lambda, interpreted row by row, and many times as slow.
    """
    nothing = F.array().cast(f"array<{of}>")
    return F.concat(*[F.when(is_in, F.array(value)).otherwise(nothing) for is_in, value in values])


def follows(slot: int) -> Column:
    """Return whether the replica in `slot` is assigned at the event, and not the leader."""
    return in_mask(F.col(ASSIGNED_MASK), slot) & (F.col(LEADER_SLOT) != slot)


def in_mask(mask: Column, slot: int) -> Column:
    """Return whether `slot` is in the bit mask."""
    return mask.bitwiseAND(1 << slot) != 0
