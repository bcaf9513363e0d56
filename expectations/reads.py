"""What consumers were given beside what their leader let them read by then."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from expectations.subjects import Tables
from replay.evidence import CLOCK_ERROR_US
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field

READABLE = f"if({C.ISOLATION_LEVEL} = 1, {C.RESPONSE_LAST_STABLE_OFFSET}, {C.RESPONSE_HIGH_WATERMARK})"
"""SQL: how far the response says that its consumer may read."""
WAS_GIVEN_RECORDS = f"{C.REPLICA_ID} < 0 AND {C.ERROR_CODE} = 0 AND {C.RECORDS_SIZE} > 0"
ROSE_MEANWHILE = Field(
    "rose_meanwhile", C.BOOL, "While the leader worked on the fetch, what may be read rose past its offset."
)
_OF_FETCH = C.on_partition(C.SOURCE_FILE, C.SOURCE_LINE)
_OF_EPOCH = C.on_partition(C.LEADER_EPOCH)


def fetches_that_were_overtaken(tables: Tables) -> DataFrame:
    """One row per fetch of `_OF_FETCH` with records at or past what its response says may be read: `rose_meanwhile`.

    The leader looks up the HW that it tells first, and how far it reads after that (`Partition.readRecords`, P:1514):
    the fetch that a record waited for may come in between. Then the HW told is one that it had before, and by the time
    of the response its HW was past the offset, both as rebuilt.
    """
    may_read = F.expr(READABLE)
    strange = tables[T.FETCH_EVENTS.name].where(WAS_GIVEN_RECORDS).where(may_read.between(0, F.col(C.FETCH_OFFSET)))
    asked = strange.select(
        *_OF_EPOCH, C.SOURCE_FILE, C.SOURCE_LINE, C.FETCH_OFFSET, C.ISOLATION_LEVEL, may_read.alias("told"),
        (F.unix_micros(C.EVENT_TIME) - CLOCK_ERROR_US).alias("from_us"),
        (F.unix_micros(C.RESPONSE_TIME) + CLOCK_ERROR_US).alias("to_us"),
    )  # fmt: skip
    states = tables[T.LEADER_TIMELINE.name].select(
        *_OF_EPOCH, F.unix_micros(C.EVENT_TIME).alias("us"), C.HIGH_WATERMARK, C.LAST_STABLE_OFFSET
    )
    by_then = states.join(F.broadcast(asked), _OF_EPOCH).where("us <= to_us")
    reached = F.when(F.col(C.ISOLATION_LEVEL) == 1, F.col(C.LAST_STABLE_OFFSET)).otherwise(F.col(C.HIGH_WATERMARK))
    return (
        by_then.groupBy(*_OF_FETCH, C.FETCH_OFFSET, "told")
        .agg(_highest(reached, F.col("us") < F.col("from_us")).alias("before"), F.max(reached).alias("after"))
        .select(
            *_OF_FETCH, ((F.col("before") <= F.col("told")) & (F.col("after") > F.col(C.FETCH_OFFSET))).alias("rose")
        )
        .groupBy(*_OF_FETCH)
        .agg(F.bool_or("rose").alias(ROSE_MEANWHILE))
    )


def _highest(reached: Column, where: Column) -> Column:
    """Return the highest value reached where it holds; -1 where nothing is."""
    return F.coalesce(F.max(F.when(where, reached)), F.lit(-1))
