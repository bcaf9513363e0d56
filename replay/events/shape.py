"""The shape of an event, whatever it is made of."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DataType, IntegerType, LongType

from replay import names as N
from replay.events.fencing import FENCED, REGISTERED
from schemas import columns as C
from schemas.columns import NO_REPLICA

# fmt: off
SHAPE: dict[str, DataType] = {
    **{c: c.type for c in (*C.PARTITION_KEY, C.CAPTURE_ID, C.SOURCE_FILE, C.SOURCE_LINE, C.LEADER_EPOCH, C.BROKER_ID)},
    N.EVENT: IntegerType(), N.EVENT_US: LongType(), N.LOCAL_US: LongType(), C.REPLICA_ID: IntegerType(),
    C.BASE_OFFSET: LongType(), C.LAST_OFFSET: LongType(), C.FETCH_OFFSET: LongType(), C.ISR: C.INTS, C.REPLICAS: C.INTS,
    FENCED: C.INTS, REGISTERED: C.INTS,
    N.NEW_LOG_START: LongType(), N.OWN_LOG_START: LongType(),
    C.SESSION_ID: IntegerType(), C.SESSION_EPOCH: IntegerType(), C.SESSION_UNBROKEN_SINCE: IntegerType(),
    N.RESPONSE_US: LongType(), C.IS_PARKED: BooleanType(), C.RESPONSE_HIGH_WATERMARK: LongType(),
    C.RECORDS_SIZE: LongType(), C.ACKS: IntegerType(), C.ERROR_CODE: IntegerType(), N.IS_ACCEPTED: BooleanType(),
    N.IS_HEEDED: BooleanType(),
}
# fmt: on
"""Columns of an event before it is placed in its leadership."""


def shaped(frame: DataFrame, of_type: Column, **columns: Column) -> DataFrame:
    """Return `frame` as events: its own columns of `SHAPE`, `columns`, and NULL for the rest."""
    given = {
        N.EVENT: of_type,
        N.EVENT_US: F.unix_micros(C.EVENT_TIME),
        N.LOCAL_US: F.lit(0),
        C.REPLICA_ID: F.lit(NO_REPLICA),
        **columns,
    }
    own = set(frame.columns)

    def column(name: str, data_type: DataType) -> Column:
        value = given.get(name, F.col(name) if name in own else F.lit(None))
        return value.cast(data_type).alias(name)

    return frame.select(*[column(name, data_type) for name, data_type in SHAPE.items()])
