"""What consumers were given beside what their leader let them read by then."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from expectations.subject import Tables
from replay.order.clock import CLOCK_ERROR_US
from replay.readable import READABLE, readable
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field

WAS_GIVEN_RECORDS = f"{C.REPLICA_ID} < 0 AND {C.ERROR_CODE} = 0 AND {C.RECORDS_SIZE} > 0"
IS_BELOW_BY_THEN = Field(
    "is_below_by_then", C.BOOL, "By the time of the response the HW, or the LSO, as rebuilt, was past the offset."
)
OF_FETCH = C.on_partition(*C.LINE)
_OF_EPOCH = C.on_partition(C.LEADER_EPOCH)


def overtaken_fetches(tables: Tables) -> DataFrame:
    """One row per fetch, by `OF_FETCH`, with records at or past what its response says may be read: `is_below_by_then`.

    The leader looks up the HW that it tells first, and how far it reads after that (`Partition.readRecords`, P:1514):
    the fetch that a record waited for may come in between. Then the HW was past the offset when the leader answered.
    """
    may_read = F.expr(READABLE)
    strange = tables[T.FETCH_EVENTS.name].where(WAS_GIVEN_RECORDS).where(may_read.between(0, F.col(C.FETCH_OFFSET)))
    asked = strange.select(*_OF_EPOCH, *C.LINE, C.FETCH_OFFSET, C.ISOLATION_LEVEL, C.RESPONSE_TIME)
    states = tables[T.LEADER_TIMELINE.name].select(*_OF_EPOCH, C.EVENT_TIME, C.HIGH_WATERMARK, C.LAST_STABLE_OFFSET)
    late_us = F.unix_micros(C.EVENT_TIME) - F.unix_micros(C.RESPONSE_TIME)
    by_then = states.join(F.broadcast(asked), _OF_EPOCH).where(late_us <= CLOCK_ERROR_US)
    reached = F.expr(readable(C.HIGH_WATERMARK, C.LAST_STABLE_OFFSET))
    return by_then.groupBy(*OF_FETCH).agg(F.bool_or(reached > F.col(C.FETCH_OFFSET)).alias(IS_BELOW_BY_THEN))
