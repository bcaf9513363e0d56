"""Leaderships: a leader epoch, cut again where its leader's process restarts and keeps the epoch.

Small tables, one row a leadership; the events are many and are joined with them once.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.assignment import SLOTS
from replay.events.next_roles import NEXT_ROLES, next_roles
from replay.events.requested import followed_meanwhile
from replay.names import INCARNATION, IS_CONTESTED, IS_NEW_LEADER, PARTITION_NUMBER, TENURE
from replay.statements import is_of, said
from replay.windows import FIRST, LAST
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind, StatementKind

START_US = "start_us"
"""bigint: when the broker applied it, microseconds since the epoch, on its own clock."""
STATED_LEO = "stated_log_end_offset"
"""bigint: "from offset O" of the state-change line; NULL where no line says."""
STATED_HW = "stated_high_watermark"
"""bigint: "high watermark H" of the same line; NULL where no line says."""
LOADED_HW = "loaded_high_watermark"
"""bigint: HW the process loaded from its checkpoint just before; NULL where it had a role already."""
LOADED_AT_US = "loaded_at_us"
"""bigint: when, on the same clock; the broker may have followed since, of which lines tell from 2.6 on."""

LOADS = "loads"
"""array<struct<broker_id,us>>: when which replica's process loaded the partition's log."""

_ROLES = (ChangeKind.BECOME_LEADER, ChangeKind.BECOME_FOLLOWER)


def leaderships(roles: DataFrame) -> DataFrame:
    """One row per leadership: leader, begin, what its line states, whether its process led just before.

    `roles` is `roles_with_loads`.

    Columns: the partition key, leader_epoch, incarnation, tenure, leader_id, is_new_leader, start_us, stated_*,
    loaded_*. Source: `Partition.makeLeader`; a restarted process starts with epoch -1, so that its first
    metadata is always a new epoch to it, even where the cluster's leader epoch is the same.
    """
    begun = _begun(roles)
    numbered = begun.withColumn(
        INCARNATION,
        F.row_number().over(Window.partitionBy(*C.PARTITION_KEY, C.LEADER_EPOCH).orderBy(START_US, C.LEADER_ID)) - 1,
    )
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, INCARNATION)
    of_leader = Window.partitionBy(*C.PARTITION_KEY, C.LEADER_ID).orderBy(C.LEADER_EPOCH, INCARNATION)
    so_far = of_leader.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # A leader that was not told of another in between never stepped down: its own roles say where its tenure began.
    counted = numbered.withColumns(
        {"place": F.row_number().over(in_order), "begun": F.sum(F.col(IS_NEW_LEADER).cast("int")).over(so_far)}
    )
    of_tenure = Window.partitionBy(*C.PARTITION_KEY, C.LEADER_ID, "begun").rowsBetween(FIRST, LAST)
    return (
        counted.withColumn(TENURE, F.min("place").over(of_tenure))
        .select(
            *C.PARTITION_KEY, C.LEADER_EPOCH, INCARNATION, TENURE, C.LEADER_ID, IS_NEW_LEADER, START_US,
            STATED_LEO, STATED_HW, LOADED_HW, LOADED_AT_US,
        )
    )  # fmt: skip


def _begun(roles: DataFrame) -> DataFrame:
    """One row per "starts at leader epoch" of a leader, with the role its process had before."""
    return roles.where(F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value).select(
        *C.PARTITION_KEY,
        C.LEADER_EPOCH,
        F.col(C.BROKER_ID).alias(C.LEADER_ID),
        START_US,
        (~F.col("before").eqNullSafe(ChangeKind.BECOME_LEADER.value)).alias(IS_NEW_LEADER),
        STATED_LEO,
        STATED_HW,
        F.col("loaded").alias(LOADED_HW),
        F.when(F.col("loaded").isNotNull(), F.col("us_before")).alias(LOADED_AT_US),
    )


def roles_with_loads(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per change of role: with `before`, what came before it, and `loaded`, the HW if that was a restart.

    `us_before` is when that was.
    """
    of_broker = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID)
    by_broker = of_broker.orderBy(START_US, "rank", C.LEADER_EPOCH)
    told = F.col(C.CHANGE_KIND) == ChangeKind.ASSIGNED.value
    followed = F.collect_set(F.when(told, F.col(C.LEADER_EPOCH))).over(of_broker.rowsBetween(FIRST, LAST))
    roles = _role_changes(landed).withColumn("followed", followed).where(~told)
    kinds = {
        "before": C.CHANGE_KIND, "loaded": LOADED_HW, "epoch_before": C.LEADER_EPOCH, "us_before": START_US,
    }  # fmt: skip
    known = roles.withColumns({name: F.lag(of).over(by_broker) for name, of in kinds.items()})
    led = F.col("before") == ChangeKind.BECOME_LEADER.value
    stepped_down = led & followed_meanwhile(F.col("followed"), F.col("epoch_before"))
    before = F.when(stepped_down, ChangeKind.BECOME_FOLLOWER.value).otherwise(F.col("before"))
    return known.withColumn("before", before).drop("followed", "epoch_before")


def _role_changes(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per change of role of a broker, per log that its process loaded, and per leader it was to follow."""
    at = F.unix_micros(C.EVENT_TIME).alias(START_US)
    stated = _stated_on_line(landed[T.BROKER_STATEMENTS.name])
    is_role = F.col(C.CHANGE_KIND).isin(*[str(kind.value) for kind in _ROLES])
    is_told = (F.col(C.CHANGE_KIND) == ChangeKind.ASSIGNED.value) & (F.col(C.LEADER_ID) != F.col(C.BROKER_ID))
    roles = landed[T.LEADER_CHANGES.name].where(is_role | is_told)
    changed = roles.join(stated, C.on_partition(C.BROKER_ID, C.LEADER_EPOCH, C.EVENT_TIME), "left").select(
        *C.PARTITION_KEY, C.CAPTURE_ID, C.BROKER_ID, C.LEADER_EPOCH, C.CHANGE_KIND, at, F.lit(1).alias("rank"),
        STATED_LEO, STATED_HW, F.lit(None).cast("bigint").alias(LOADED_HW),
    )  # fmt: skip
    loads = landed[T.BROKER_STATEMENTS.name].where(F.col(C.KIND) == StatementKind.LOADED_HW.value)
    unsaid: Column = F.lit(None).cast("bigint")
    loaded = loads.select(
        *C.PARTITION_KEY, C.CAPTURE_ID, C.BROKER_ID, F.lit(-1).alias(C.LEADER_EPOCH),
        F.lit(StatementKind.LOADED_HW.value).alias(C.CHANGE_KIND), at, F.lit(0).alias("rank"),
        unsaid.alias(STATED_LEO), unsaid.alias(STATED_HW), F.col(C.OFFSET).alias(LOADED_HW),
    )  # fmt: skip
    return changed.unionByName(loaded)


def _stated_on_line(statements: DataFrame) -> DataFrame:
    """One row per broker, epoch and time: the LEO and HW a leader began with, as the line of its change says."""
    leo, hw = StatementKind.BECAME_LEADER_LEO, StatementKind.BECAME_LEADER_HW
    return (
        statements.where(is_of(leo, hw))
        .groupBy(*C.PARTITION_KEY, C.BROKER_ID, C.LEADER_EPOCH, C.EVENT_TIME)
        .agg(said(leo).alias(STATED_LEO), said(hw).alias(STATED_HW))
    )


def with_context(begun: DataFrame, assigned: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per partition and leader epoch: `slots`, `incarnations` (its leaderships), `loads`, `next_roles`.

    `loads` are the restarts of all its replicas: broker and time, on that broker's clock.
    """
    entry = F.struct(INCARNATION, START_US, TENURE, C.LEADER_ID, IS_NEW_LEADER, STATED_LEO, STATED_HW)
    per_epoch = begun.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH).agg(
        F.sort_array(F.collect_list(entry)).alias("incarnations")
    )
    load = F.struct(C.BROKER_ID, F.unix_micros(C.EVENT_TIME).alias("us"))
    loads = (
        statements.where(F.col(C.KIND) == StatementKind.LOADED_HW.value)
        .groupBy(*C.PARTITION_KEY)
        .agg(F.collect_list(load).alias(LOADS))
    )
    unstated = begun.where(F.col(STATED_LEO).isNull()).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, F.col(C.LEADER_ID).alias(C.BROKER_ID), F.col(START_US).alias("us")
    )
    leaders = F.array_distinct(F.transform("incarnations", lambda it: it[C.LEADER_ID]))
    is_contested = (F.size(leaders) > 1).alias(IS_CONTESTED)
    return (
        per_epoch.join(assigned, C.on_partition())
        .join(loads, C.on_partition(), "left")
        .join(next_roles(begun, unstated, assigned, statements), C.on_partition(C.LEADER_EPOCH), "left")
        .select(
            PARTITION_NUMBER, *C.PARTITION_KEY, C.LEADER_EPOCH, "incarnations", SLOTS, LOADS, NEXT_ROLES, is_contested
        )
    )  # fmt: skip
