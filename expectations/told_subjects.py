"""What rules of the HW in responses speak of: what a leader told whoever asked, beside what it was rebuilt to have."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from expectations.subject import OF_PARTITION, Subject, Tables
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field

WAS_REACHED = Field("was_reached", C.BOOL, "The rebuilt HW of the broker was ever that; NULL where only bounds tell.")
_OF_LEADER = C.on_partition(C.BROKER_ID)
_SEEN = (C.EVENT_TIME, *C.LINE)
_LOW, _HIGH = "low", "high"
"""bigint: bounds of a HW that was rebuilt, equal where it is exact; of one that is told the low one alone."""


def told_high_watermarks(tables: Tables) -> DataFrame:
    """One row per HW that a leader told of a partition in an epoch, by the first line that tells it: `was_reached`.

    Every response carries the HW that its leader had at a moment (`Partition.fetchOffsetSnapshot`), and nearly every
    step wakes a consumer that waits for it. Consumers' fetches are no input of the engine: what they were told bears
    it out. A fetch that waited may be answered in a later epoch of the same leader, so that any of its epochs counts.
    What a follower tells is its own.
    """
    states = tables[T.LEADER_TIMELINE.name].select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, F.col(C.LEADER_ID).alias(C.BROKER_ID),
        F.col(C.HIGH_WATERMARK_LOW).alias(_LOW), F.col(C.HIGH_WATERMARK_HIGH).alias(_HIGH),
    ).distinct()  # fmt: skip
    led = states.select(*_OF_LEADER, C.LEADER_EPOCH).distinct()
    told = _told(tables[T.FETCH_EVENTS.name]).join(led, C.on_partition(C.BROKER_ID, C.LEADER_EPOCH), "left_semi")
    both = told.unionByName(states.drop(C.LEADER_EPOCH), allowMissingColumns=True)
    # By the low bound, what is told last: whatever was rebuilt to reach it stands before it.
    rising = Window.partitionBy(*_OF_LEADER).orderBy(_LOW, F.col(C.RESPONSE_HIGH_WATERMARK).asc_nulls_first())
    so_far = rising.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    is_exact = F.max(F.when(F.col(_LOW) == F.col(_HIGH), F.col(_HIGH))).over(so_far) == F.col(_LOW)
    may_be = F.coalesce(F.max(_HIGH).over(so_far) >= F.col(_LOW), F.lit(False))
    reached = F.when(is_exact, F.lit(True)).when(~may_be, F.lit(False))
    return both.withColumn(WAS_REACHED, reached).where(F.col(C.RESPONSE_HIGH_WATERMARK).isNotNull()).drop(_LOW, _HIGH)


def _told(fetches: DataFrame) -> DataFrame:
    """One row per partition, epoch, broker and HW of its responses, with the first line that tells it."""
    carry_hw = fetches.where((F.col(C.ERROR_CODE) == 0) & (F.col(C.RESPONSE_HIGH_WATERMARK) >= 0))
    first = F.min(F.struct(*_SEEN)).alias("first")
    of_told = carry_hw.groupBy(*_OF_LEADER, C.LEADER_EPOCH, C.RESPONSE_HIGH_WATERMARK).agg(first)
    seen = [F.col("first")[name].alias(name) for name in _SEEN]
    return of_told.select(
        *_OF_LEADER, C.LEADER_EPOCH, C.RESPONSE_HIGH_WATERMARK, *seen, F.col(C.RESPONSE_HIGH_WATERMARK).alias(_LOW)
    )


TOLD_HIGH_WATERMARKS = Subject(
    "told_high_watermarks", T.FETCH_EVENTS, (*OF_PARTITION, C.LEADER_EPOCH, C.BROKER_ID, C.RESPONSE_HIGH_WATERMARK),
    told_high_watermarks, beside=(T.LEADER_TIMELINE,), may_be_empty=True,
)  # fmt: skip
