"""Rows as wide as the engine's: what another engine does not make of a timeline's columns is a cheap value.

Else it would be compared by how little it writes: half of what a replay costs Spark is the writing of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from deltalake import write_deltalake
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type

from schemas import columns as C
from schemas.tables import LEADER_TIMELINE, REPLICA_TIMELINE

LEADERS, REPLICAS = "leaders", "replicas"
"""Folders of both timelines, by another engine."""
_TIMELINES = {LEADERS: (LEADER_TIMELINE, "log_end"), REPLICAS: (REPLICA_TIMELINE, "leo")}
"""Whose columns they have, and their own of which the cheap values are made."""
_BOTH = (C.PARTITION, C.LEADER_EPOCH, C.REPLICA_ID, C.LOG_END_OFFSET, C.HIGH_WATERMARK)
_MADE = {
    LEADERS: (*_BOTH, C.EVENT_TIME, C.EVENT_TYPE, C.LEADER_ID, C.ISR, C.REMOTE_LEO_MAP),
    REPLICAS: (*_BOTH, C.VALID_FROM),
}
"""What their own columns stand for."""
_ISR = np.array([1, 2, 3], dtype=np.int32)


def missing(timeline: str) -> Sequence[C.Field]:
    """The columns of the timeline that other engines do not make."""
    return [c for c in _TIMELINES[timeline][0].columns if c not in _MADE[timeline]]


def cheap(column: C.Field, offset: Column) -> Column:
    """A value of the column's type, made of the offset."""
    if column.type == C.ISR.type:
        return F.array(F.lit(1), F.lit(2), F.lit(3))
    if isinstance(column.type, type(C.OFFSET_BY_REPLICA)):
        return F.create_map(F.lit(2), offset, F.lit(3), offset - 1)
    if column.type == C.BOOL:
        return offset < 0
    return offset.cast(column.type) if column.type == C.LONG else F.lit(1).cast(column.type)


def widened(rows: DataFrame, timeline: str) -> DataFrame:
    """Rows of Spark with what is missing."""
    offset = F.col(_TIMELINES[timeline][1])
    return rows.select("*", *[cheap(c, offset).alias(c) for c in missing(timeline)])


def write_widened(target: Path, timeline: str, rows: pa.RecordBatchReader) -> None:
    """Write Arrow's rows, with what is missing, as a Delta table; a batch at a time."""
    fields = [pa.field(str(c), to_arrow_type(c.type, timezone="UTC")) for c in missing(timeline)]
    schema = pa.schema([*rows.schema, *fields])

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in rows:
            offset = batch.column(_TIMELINES[timeline][1]).to_numpy(zero_copy_only=False)
            yield pa.record_batch([*batch.columns, *[_cheap(field.type, offset) for field in fields]], schema=schema)

    write_deltalake(str(target / timeline), pa.RecordBatchReader.from_batches(schema, batches()))


def _cheap(of: pa.DataType, offset: np.ndarray) -> pa.Array:
    """What `cheap` is, in Arrow."""
    count = len(offset)
    if pa.types.is_list(of):
        return pa.ListArray.from_arrays(np.arange(0, 3 * count + 1, 3, dtype=np.int32), np.tile(_ISR, count))
    if pa.types.is_boolean(of):
        return pa.array(offset < 0)
    if pa.types.is_int64(of):
        return pa.array(offset)
    return pa.repeat(pa.scalar(1).cast(of), count)
