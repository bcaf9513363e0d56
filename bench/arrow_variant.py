"""The plain job as `applyInArrow` or `applyInPandas` of the NumPy kernel: Spark reads, shuffles and writes.

Python workers do the rest. The rows are as wide as the engine's: what the kernel does not make is a cheap value.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from bench.inputs import CLUSTER
from bench.kernel import APPEND, FETCH, ISR, LEADS, UNSAID, states
from bench.peer import SLOTS
from bench.wide import LEADERS, REPLICAS, widened
from jobs.deliveries import landed_events
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.kinds import ChangeKind, StatementKind
from schemas.tables import (
    BROKER_STATEMENTS,
    FETCH_EVENTS,
    LEADER_CHANGES,
    PRODUCE_EVENTS,
)

GIVEN = ("partition", "epoch", "us", "kind", "leader", "slot", "leo", "asked", "told", "mask", "start_hw")
LEADER_COLUMNS = ("partition", "epoch", "us", "kind", "leader", "slot", "log_end", "in_sync", "hw")
KNOWN = tuple(f"leo_{i}" for i in range(SLOTS))
_MADE = (*LEADER_COLUMNS, *KNOWN, "told", "next")
_SCHEMA = ", ".join(f"{name} bigint" for name in _MADE)


def in_arrow(warehouse: Warehouse, target: Path) -> None:
    """Write both timelines as Delta."""
    _write(_events(landed_events(warehouse, CLUSTER)).groupBy("partition").applyInArrow(_kernel, _SCHEMA), target)


def in_pandas(warehouse: Warehouse, target: Path) -> None:
    """The same with a pandas frame a partition."""
    _write(_events(landed_events(warehouse, CLUSTER)).groupBy("partition").applyInPandas(_of_frame, _SCHEMA), target)


def _write(made: DataFrame, target: Path) -> None:
    done = made.persist()
    leaders = done.select(*LEADER_COLUMNS, *KNOWN)
    own = done.select("partition", F.col("leader").alias("slot"), "epoch", "us", F.col("log_end").alias("leo"), "hw")
    followers = done.where(F.col("kind") == FETCH).select(
        "partition", "slot", "epoch", "us", F.col("next").alias("leo"), F.least("told", "next").alias("hw")
    )
    states = own.unionByName(followers)
    for timeline, rows in ((LEADERS, leaders), (REPLICAS, states)):
        widened(rows, timeline).write.format("delta").mode("overwrite").save(str(target / timeline))
    done.unpersist()


def _kernel(table: pa.Table) -> pa.Table:
    made = states({name: table.column(name).to_numpy() for name in GIVEN}, SLOTS)
    return pa.table({name: made[name].astype(np.int64) for name in _MADE})


def _of_frame(frame: pd.DataFrame) -> pd.DataFrame:
    made = states({name: frame[name].to_numpy() for name in GIVEN}, SLOTS)
    return pd.DataFrame({name: made[name].astype(np.int64) for name in _MADE})


def _events(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per event of a leadership, of the kernel's columns."""
    placed = _happened(landed).join(F.broadcast(_led(landed)), [str(C.PARTITION), str(C.LEADER_EPOCH)])
    bits = [F.when(F.array_contains("isr", F.get("slots", F.lit(i))), 1 << i).otherwise(0) for i in range(SLOTS)]
    shown = {
        "epoch": F.col(C.LEADER_EPOCH), "leader": F.col("leader") - 1,
        "slot": F.coalesce(F.array_position("slots", F.col("replica")), F.lit(0)) - 1,
        "mask": F.when(F.col("isr").isNotNull(), sum(bits, F.lit(0))).otherwise(F.lit(UNSAID)),
        "leo": F.when(F.col("kind") == LEADS, F.col("start_leo")).otherwise(F.col("leo")),
    }  # fmt: skip
    return placed.withColumns(shown).select(*[F.col(name).cast("bigint") for name in GIVEN])


def _happened(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per append, accepted fetch, begin of a leadership, change of an ISR."""
    changes = landed[LEADER_CHANGES.name]
    begins = F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value

    def rows(table: DataFrame, kind: Column, **given: Column) -> DataFrame:
        columns = {name: given.get(name, F.lit(UNSAID)) for name in ("leo", "asked", "told")}
        return table.select(
            C.PARTITION, C.LEADER_EPOCH, F.unix_micros(C.EVENT_TIME).alias("us"), kind.alias("kind"),
            given.get("replica", F.lit(-1)).alias("replica"),
            given.get("isr", F.lit(None).cast("array<int>")).alias("isr"),
            *[value.cast("bigint").alias(name) for name, value in columns.items()],
        )  # fmt: skip

    told = changes.where(begins | (F.col(C.CHANGE_KIND) == ChangeKind.ISR_UPDATED.value))
    fetched = landed[FETCH_EVENTS.name].where((F.col(C.DIVERGING_EPOCH) < 0) & (F.col(C.REPLICA_ID) >= 0))
    return (
        rows(landed[PRODUCE_EVENTS.name], F.lit(APPEND), leo=F.col(C.LAST_OFFSET) + 1)
        .unionByName(
            rows(fetched, F.lit(FETCH), replica=F.col(C.REPLICA_ID), asked=F.col(C.FETCH_OFFSET),
                 told=F.col(C.RESPONSE_HIGH_WATERMARK))
        )
        .unionByName(rows(told, F.when(begins, LEADS).otherwise(ISR), isr=F.col(C.ISR)))
    )  # fmt: skip


def _led(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leadership: its leader and replicas as slots, the LEO and HW it began with."""
    slots = F.array_sort(C.REPLICAS)
    began = landed[BROKER_STATEMENTS.name].groupBy(C.PARTITION, C.LEADER_EPOCH).agg(
        _said(StatementKind.BECAME_LEADER_HW).alias("start_hw"),
        _said(StatementKind.BECAME_LEADER_LEO).alias("start_leo"),
    )  # fmt: skip
    begins = landed[LEADER_CHANGES.name].where(F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value)
    return begins.select(
        C.PARTITION, C.LEADER_EPOCH, slots.alias("slots"), F.array_position(slots, F.col(C.LEADER_ID)).alias("leader")
    ).join(began, [str(C.PARTITION), str(C.LEADER_EPOCH)])


def _said(kind: StatementKind) -> Column:
    return F.max(F.when(F.col(C.KIND) == kind.value, F.col(C.OFFSET)))
