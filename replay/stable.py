"""The last stable offset: how far a `read_committed` consumer may read (KIP-98).

It is a function of the HW and of where transactions begin and end in the log: the first offset of the earliest
transaction that began below the HW and whose marker is not below it, else the HW itself. Source:
`UnifiedLog.fetchLastStableOffsetMetadata`, `ProducerStateManager.firstUnstableOffset` and `onHighWatermarkUpdated`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.leaderships import STATED_LEO
from replay.windows import FIRST, NOW
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET

FIRST_OFFSET = "first_offset"
"""bigint: where a transaction begins."""
REACH = "reach"
"""bigint: offset of its marker, or past any offset while it is open; of an event, the HW."""
OPEN = 2**62
_IS_EVENT = "is_event"
_UNTOLD_FROM = "untold_from"


def transactions(produced: DataFrame, begun: DataFrame) -> DataFrame:
    """One row per transaction of a partition: partition key, `first_offset` and `reach`.

    `produced` is `produce_events`, `begun` is `leaderships.leaderships`: what a later leader's log never held is no
    longer open.
    """
    epoch = F.struct(C.LEADER_EPOCH, STATED_LEO)
    later = begun.groupBy(*C.PARTITION_KEY).agg(F.collect_list(epoch).alias("begun"))
    written = (F.col(C.IS_TRANSACTIONAL) | F.col(C.IS_CONTROL)) & (F.col(C.BASE_OFFSET) >= 0)
    told = produced.where(written & (F.col(C.PRODUCER_ID) >= 0)).join(F.broadcast(later), C.on_partition(), "left")
    kept = told.where(~F.coalesce(_is_lost(), F.lit(False)))
    of_producer = Window.partitionBy(*C.PARTITION_KEY, C.PRODUCER_ID).orderBy(C.BASE_OFFSET, C.LEADER_EPOCH)
    ended_before = F.sum(F.col(C.IS_CONTROL).cast("int")).over(of_producer.rowsBetween(FIRST, -1))
    numbered = kept.withColumn("number", F.coalesce(ended_before, F.lit(0)))
    first = F.min(F.when(~F.col(C.IS_CONTROL), F.col(C.BASE_OFFSET)))
    marker = F.max(F.when(F.col(C.IS_CONTROL), F.col(C.BASE_OFFSET)))
    return (
        numbered.groupBy(*C.PARTITION_KEY, C.PRODUCER_ID, "number")
        .agg(first.alias(FIRST_OFFSET), F.coalesce(marker, F.lit(OPEN)).alias(REACH))
        .where(F.col(FIRST_OFFSET).isNotNull())
        .select(*C.PARTITION_KEY, FIRST_OFFSET, REACH)
    )


def untold_transactions(produced: DataFrame) -> DataFrame:
    """One row per partition with appends of transactions whose producer nothing tells: `untold_from`, the first offset.

    A request line names no producer, the batch in a dump does; and only there are the markers that end transactions.
    """
    untold = F.col(C.IS_TRANSACTIONAL) & (F.col(C.BASE_OFFSET) >= 0) & (F.col(C.PRODUCER_ID) < 0)
    return produced.where(untold).groupBy(*C.PARTITION_KEY).agg(F.min(C.BASE_OFFSET).alias(_UNTOLD_FROM))


def _is_lost() -> Column:
    """Return whether a leader of a later epoch began below the batch: its log does not hold it."""
    return F.exists(
        "begun", lambda it: (it[C.LEADER_EPOCH] > F.col(C.LEADER_EPOCH)) & (it[STATED_LEO] <= F.col(C.BASE_OFFSET))
    )


def with_last_stable_offset(known: DataFrame, of_log: DataFrame, untold: DataFrame) -> DataFrame:
    """Return the events with `last_stable_offset`; `of_log` is `transactions`, `untold` is `untold_transactions`.

    Past the first append of which nobody knows whether its transaction is over it is unknown.

    The HW rises from event to event and markers lie anywhere, so both are sorted by offset once: seen from the end of
    the log, a transaction comes before every HW that its marker is not below.
    """
    events = known.withColumns({REACH: F.col(C.HIGH_WATERMARK), _IS_EVENT: F.lit(1)})
    ends = of_log.withColumn(_IS_EVENT, F.lit(0))
    from_the_end = Window.partitionBy(*C.PARTITION_KEY).orderBy(F.desc(REACH), _IS_EVENT).rowsBetween(FIRST, NOW)
    earliest = F.min(FIRST_OFFSET).over(from_the_end)
    both = events.unionByName(ends, allowMissingColumns=True).withColumn("earliest", earliest)
    hw = F.col(C.HIGH_WATERMARK)
    is_unknown = (hw < 0) | F.coalesce(hw > F.col(_UNTOLD_FROM), F.lit(False))
    stable = F.when(is_unknown, F.lit(UNKNOWN_OFFSET)).otherwise(F.least(hw, F.coalesce("earliest", hw)))
    return (
        both.where(F.col(_IS_EVENT) == 1)
        .join(F.broadcast(untold), C.on_partition(), "left")
        .withColumn(C.LAST_STABLE_OFFSET, stable)
        .select(*known.columns, C.LAST_STABLE_OFFSET)
    )
