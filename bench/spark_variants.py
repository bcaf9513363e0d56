"""The engine, and its floor: what Spark itself takes to read, shuffle, sort and write the same rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from bench.inputs import CLUSTER
from bench.wide import cheap
from jobs.deliveries import landed_events
from jobs.hot_partitions import HOT_ROWS
from jobs.keeping import keeping, with_few_kept
from jobs.shuffles import few_tasks, tasks_of
from jobs.warehouse import Warehouse
from jobs.whole_replay import whole_replay
from schemas import columns as C
from schemas.kinds import EventType, Exactness, Role
from schemas.tables import FETCH_EVENTS, LEADER_TIMELINE, PRODUCE_EVENTS, REPLICA_TIMELINE, Table


def write(target: Path, table: Table, frame: DataFrame) -> None:
    """Write a timeline as the job does: a Delta table with its constraints."""
    warehouse = Warehouse(frame.sparkSession, str(target))
    warehouse.create(table)
    warehouse.replace(table, frame, CLUSTER)


def engine(warehouse: Warehouse, target: Path) -> None:
    """Replay the events and write both timelines, as `tidegauge reconstruct` does."""
    landed = landed_events(warehouse, CLUSTER)
    with keeping() as keep, few_tasks(warehouse.spark, tasks_of(landed)):
        timelines = whole_replay(with_few_kept(landed, keep), keep).timelines
        write(target, LEADER_TIMELINE, timelines.leader_timeline)
        write(target, REPLICA_TIMELINE, timelines.replica_timeline)


def in_one_piece(warehouse: Warehouse, target: Path) -> None:
    """The same with a hot partition in one task."""
    warehouse.spark.conf.set(HOT_ROWS, str(1 << 60))
    engine(warehouse, target)
    warehouse.spark.conf.unset(HOT_ROWS)


def floor(warehouse: Warehouse, target: Path, rows_per_event: float) -> None:
    """Read the events, shuffle and sort them once, and write as many rows of both timelines, of cheap values."""
    landed = landed_events(warehouse, CLUSTER)
    with few_tasks(warehouse.spark, tasks_of(landed)):
        in_order = _in_order(landed).persist(StorageLevel.MEMORY_AND_DISK)
        _write_plainly(target, LEADER_TIMELINE, _filled(in_order, LEADER_TIMELINE))
        whole = int(rows_per_event)
        number = whole + F.when(F.pmod(F.hash(*_ORDER), F.lit(1000)) < (rows_per_event - whole) * 1000, 1).otherwise(0)
        each = in_order.withColumn(C.REPLICA_ID, F.explode(F.sequence(F.lit(1), number)))
        _write_plainly(target, REPLICA_TIMELINE, _filled(each, REPLICA_TIMELINE))
        in_order.unpersist()


def _write_plainly(target: Path, table: Table, frame: DataFrame) -> None:
    """Write the rows as anybody would: a Delta table as Delta makes it if nobody says otherwise."""
    table.conform(frame).write.format("delta").save(str(target / table.name))


_ORDER = (C.PARTITION, C.LEADER_EPOCH, C.EVENT_TIME, C.EVENT_SEQ)


def _in_order(events: Mapping[str, DataFrame]) -> DataFrame:
    """Appends and fetches as one, in the order of their partition: what any replay has to begin with."""

    def read(table: Table, event: EventType, offset: str, replica: Column) -> DataFrame:
        return events[table.name].select(
            *C.PARTITION_KEY, C.CAPTURE_ID, C.LEADER_EPOCH, C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE, C.BROKER_ID,
            F.lit(event.value).alias(C.EVENT_TYPE), F.col(offset).alias(C.OFFSET), replica.alias(C.REPLICA_ID),
            F.col(C.SOURCE_LINE).alias(C.EVENT_SEQ),
        )  # fmt: skip

    appends = read(PRODUCE_EVENTS, EventType.APPEND, C.LAST_OFFSET, F.lit(-1))
    fetches = read(FETCH_EVENTS, EventType.FETCH, C.FETCH_OFFSET, F.col(C.REPLICA_ID))
    both = appends.unionByName(fetches).repartition(*[str(c) for c in C.PARTITION_KEY])
    return both.sortWithinPartitions(*C.PARTITION_KEY, *_ORDER[1:])


def _filled(rows: DataFrame, table: Table) -> DataFrame:
    """Rows of a timeline whose values are the event's own: as wide, and cheap."""
    offset = F.col(C.OFFSET)
    texts = {C.EXACTNESS: Exactness.EXACT.value, C.ROLE: Role.FOLLOWER.value}
    given: dict[str, Column] = {
        C.VALID_FROM: F.col(C.EVENT_TIME), C.VALID_TO: F.col(C.EVENT_TIME), C.LEADER_ID: F.col(C.BROKER_ID),
        C.HIGH_WATERMARK_LIMITED_BY: F.array(C.REPLICA_ID),
        **{name: F.lit(value) for name, value in texts.items()},
    }  # fmt: skip
    for column in table.columns:
        if column not in rows.columns and column not in given:
            given[column] = cheap(column, offset)
    return rows.select(*[given.get(c, F.col(c)).alias(c) for c in table.columns])
