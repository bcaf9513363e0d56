"""The HW a leadership begins with: carried over from that replica's own role before, folded across leaderships.

Within a leadership everything is a window; between them goes a small vector, each replica's own HW. The fold runs as
Spark's `aggregate` over the leaderships of a partition: no driver, no UDF. Source: `Partition.makeLeader` and
`makeFollower` keep the HW; a restart reloads it from the checkpoint (P:488 createLog).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.leaderships import LOADED_HW, START_US, STATED_HW, STATED_LEO
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET

START_IS_STATED = "start_is_stated"
"""bool: the start is a broker's word: the history before is missing, or a restart reloaded a checkpoint."""

_STATE = "array<struct<hw:bigint,is_stated:boolean>>"


def last_responses(states: DataFrame, slots: int) -> DataFrame:
    """One row per leadership: `risen_to` at its end, and `heard`, by slot the HW of the replica's last response."""
    response = F.col(C.EVENT_TYPE) == N.RESPONSE
    taken = F.least(F.col(C.RESPONSE_HIGH_WATERMARK), _or_unbounded(N.FOLLOWER_LEO))
    heard = [F.max_by(F.when(response & (F.col(N.SLOT) == i), taken), _place(i, response)) for i in range(slots)]
    return states.groupBy(*N.LEADERSHIP, N.LEADER_SLOT).agg(
        F.max(N.RISEN_TO).alias(N.RISEN_TO), F.array(*heard).alias("heard"), F.max(N.EPOCH_START).alias(N.EPOCH_START)
    )


def _or_unbounded(leo: str) -> Column:
    return F.when(F.col(leo) >= 0, F.col(leo)).otherwise(F.col(C.RESPONSE_HIGH_WATERMARK))


def _place(slot: int, response: Column) -> Column:
    return F.when(response & (F.col(N.SLOT) == slot), F.col(C.EVENT_SEQ))


def leadership_starts(summaries: DataFrame, begun: DataFrame, slots: int) -> DataFrame:
    """One row per leadership: `start_high_watermark` (-1 unknown) and whether it is a broker's word."""
    joined = begun.join(summaries, [*C.PARTITION_KEY, C.LEADER_EPOCH, N.INCARNATION, N.TENURE])
    one = F.struct(
        C.LEADER_EPOCH, N.INCARNATION, N.TENURE, N.LEADER_SLOT, START_US, STATED_HW, STATED_LEO, LOADED_HW, N.RISEN_TO,
        N.EPOCH_START, "heard",
    )  # fmt: skip
    history = joined.groupBy(*C.PARTITION_KEY).agg(F.sort_array(F.collect_list(one)).alias("history"))
    nobody = F.array_repeat(F.lit(None).cast("struct<hw:bigint,is_stated:boolean>"), slots)
    begin = F.struct(nobody.alias("own"), F.array().cast(_STATE).alias("starts"))
    folded = history.withColumn("folded", F.aggregate("history", begin, _next))
    each = folded.select(*C.PARTITION_KEY, F.explode(F.arrays_zip("history", F.col("folded.starts"))).alias("it"))
    return each.select(
        *C.PARTITION_KEY,
        *[F.col("it.history")[c].alias(c) for c in (C.LEADER_EPOCH, N.INCARNATION, N.TENURE)],
        F.col("it.starts.hw").alias(N.START_HW),
        F.col("it.starts.is_stated").alias(START_IS_STATED),
    )


def _next(so_far: Column, leadership: Column) -> Column:
    """Return the vector after `leadership`, its start appended to `starts`."""
    leader = leadership[N.LEADER_SLOT]
    start = _start(F.get(so_far["own"], leader), leadership)
    ended = F.struct(
        F.greatest(start["hw"], leadership[N.RISEN_TO]).alias("hw"),
        (start["is_stated"] & (start["hw"] > leadership[N.RISEN_TO])).alias("is_stated"),
    )

    def after(own: Column, slot: Column) -> Column:
        heard = F.get(leadership["heard"], slot)
        told = F.struct(heard.alias("hw"), F.lit(False).alias("is_stated"))
        return F.when(slot == leader, ended).when(heard.isNotNull(), told).otherwise(own)

    return F.struct(
        F.transform(so_far["own"], after).alias("own"),
        F.concat(so_far["starts"], F.array(start)).alias("starts"),
    )


def _start(own: Column, leadership: Column) -> Column:
    """Return the leadership's start: reloaded, carried over, or else what its line states; never above its LEO."""
    carried = F.when(leadership[LOADED_HW].isNull(), own["hw"])
    stated = F.coalesce(leadership[LOADED_HW], leadership[STATED_HW])
    begin = leadership[N.EPOCH_START]
    value = F.coalesce(carried, stated, F.when(begin == 0, F.lit(0)), F.lit(UNKNOWN_OFFSET))
    return F.struct(
        F.when(begin >= 0, F.least(value, begin)).otherwise(value).cast("bigint").alias("hw"),
        F.when(begin == 0, F.lit(False)).otherwise(carried.isNull() | own["is_stated"]).alias("is_stated"),
    )
