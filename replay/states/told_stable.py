"""The LSO that responses tell: each carries, with the HW, the LSO that its leader had then (FETCH v4, KIP-98).

A request line names no producer, so that without dumps nobody knows whose transaction a marker ends. But the LSO
follows from the log below the HW alone: the first offset of the earliest transaction that has begun and not ended
there (`UnifiedLog.fetchLastStableOffsetMetadata`, UL:676). So what any response told with a HW holds whenever that was
the HW; and as the LSO never falls within a leadership, between two HWs with which the same was told it was the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.keep import Keep
from replay.profile import Profile
from replay.states.lineage import BEYOND
from replay.states.stable import IS_FLOOR, REACH, TOLD_LSO, UNTOLD, transactions
from replay.states.unfinished import FIRST_OFFSET
from schemas import columns as C
from schemas import tables as T
from schemas.columns import UNKNOWN_OFFSET


def in_logs_and_told(
    requests: Mapping[str, DataFrame],
    begun: DataFrame,
    assigned: DataFrame,
    lineage: DataFrame,
    profile: Profile,
    keep: Keep,
    *,
    is_tail: bool = False,
) -> tuple[DataFrame, DataFrame | None]:
    """Return what `stable.with_last_stable_offset` asks of logs and responses; of these None where dumps tell it all.

    `requests` are the landed ones, by table; all other as `stable.transactions` has it.
    """
    produced = requests[T.PRODUCE_EVENTS.name]
    if not profile.has_untold_transactions:
        return transactions(produced, begun, assigned, lineage, is_tail=is_tail), None
    told = keep(told_stable(requests[T.FETCH_EVENTS.name], begun, assigned))
    are_open = told.where(F.col(TOLD_LSO) < F.col(REACH)).select(N.PARTITION_NUMBER).distinct()
    with_open = keep(assigned.join(are_open, N.PARTITION_NUMBER, "left_semi"), is_small=True)
    possible = with_possible_transactions(produced, with_open)
    in_logs = transactions(possible, begun, assigned, lineage, is_tail=is_tail)
    return in_logs.unionByName(untold_transactions(possible, begun, with_open)), told


def told_stable(fetched: DataFrame, begun: DataFrame, assigned: DataFrame) -> DataFrame:
    """One row per leadership and HW that its leader told: `LEADERSHIP` and `stable.TOLD`.

    `fetched` is `fetch_events`, `begun` is `leaderships.leaderships`. A leader raises its HW first and its LSO after
    that (`UnifiedLog.updateHighWatermarkMetadata`): of what is told with the same HW the greatest counts, but for what
    is the log start alone. What it told before a restart in the same epoch it told of the same log.
    """
    lso, start = F.col(C.RESPONSE_LAST_STABLE_OFFSET), F.coalesce(C.RESPONSE_LOG_START_OFFSET, F.lit(UNKNOWN_OFFSET))
    told = fetched.where((F.col(C.ERROR_CODE) == 0) & (F.col(C.RESPONSE_HIGH_WATERMARK) >= 0) & (lso >= 0))
    of_epoch = told.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID, C.RESPONSE_HIGH_WATERMARK).agg(
        F.max(F.when(lso > start, lso)).alias("own"), F.max(lso).alias("floor")
    )
    led = begun.join(assigned, C.on_partition()).select(
        *C.PARTITION_KEY, *N.LEADERSHIP, F.col(C.LEADER_ID).alias(C.BROKER_ID)
    )
    return of_epoch.join(F.broadcast(led), C.on_partition(C.LEADER_EPOCH, C.BROKER_ID)).select(
        *N.LEADERSHIP,
        F.col(C.RESPONSE_HIGH_WATERMARK).alias(REACH),
        F.coalesce("own", "floor").alias(TOLD_LSO),
        F.isnull("own").alias(IS_FLOOR),
    )


def with_possible_transactions(produced: DataFrame, with_open: DataFrame) -> DataFrame:
    """Return `produce_events`, where nothing tells whether an append is of a transaction, as if it were.

    So of partitions with markers, or of whose leaders one told of an open transaction (`with_open`, `assignments` of
    some): before 2.8 a request line does not say it.
    """
    ended = produced.where(C.IS_CONTROL).select(*C.PARTITION_KEY)
    of_transactions = ended.unionByName(with_open.select(*C.PARTITION_KEY)).distinct()
    marked = produced.join(F.broadcast(of_transactions.withColumn("may_be", F.lit(True))), C.on_partition(), "left")
    is_it = F.coalesce(C.IS_TRANSACTIONAL, "may_be", F.lit(False))
    return marked.withColumn(C.IS_TRANSACTIONAL, is_it).select(*produced.columns)


def untold_transactions(produced: DataFrame, begun: DataFrame, with_open: DataFrame) -> DataFrame:
    """One row per leadership of partitions in `with_open` without any append of a transaction: as `transactions`.

    Group coordinators append what no line tells, a producer's offsets (KIP-98).
    """
    of_appends = produced.where(F.col(C.IS_TRANSACTIONAL) & ~F.col(C.IS_CONTROL)).select(*C.PARTITION_KEY).distinct()
    nowhere = with_open.join(of_appends, C.on_partition(), "left_anti")
    from_the_begin, for_ever = F.lit(0).cast("bigint").alias(FIRST_OFFSET), F.lit(BEYOND).alias(REACH)
    led = begun.join(F.broadcast(nowhere), C.on_partition())
    return led.select(*N.LEADERSHIP, from_the_begin, for_ever, F.lit(True).alias(UNTOLD))
