"""A follower's state by its own lines alone, for leader epochs of which no request is logged.

"Follower … starts at leader epoch" states its LEO and HW, "Truncating to offset" its LEO, "Log loaded" both: a row at
each such point, and one from there to the next, between bounds. The replica's own clock orders them.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.events.leaderships import STATED_HW
from replay.states.told_points import own_lines, points
from replay.windows import FIRST, LAST, NOW
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_BOUND, UNKNOWN_OFFSET
from schemas.kinds import Exactness, Role

_AFTER_US = 1


def told_replicas(landed: Mapping[str, DataFrame], begun: DataFrame) -> DataFrame:
    """One row per state of a follower that its own lines tell or bound, as `replica_rows.replica_states` has them.

    A leader's HW in an epoch is at least what it began with: so is a follower's there, or what it had itself.
    """
    started = begun.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH).agg(F.min(STATED_HW).alias("leader_hw"))
    told = points(landed[T.BROKER_STATEMENTS.name]).join(F.broadcast(started), C.on_partition(C.LEADER_EPOCH), "left")
    so_far = own_lines().rowsBetween(FIRST, NOW)
    of_epoch = Window.partitionBy(*C.REPLICA_KEY, C.LEADER_EPOCH).rowsBetween(FIRST, LAST)
    last_leo, last_hw = F.last("leo", ignorenulls=True).over(so_far), F.last("hw", ignorenulls=True).over(so_far)
    following = F.lead(F.struct("leo", "is_cut", N.IS_RESTART, F.lit(True).alias("is_there"))).over(own_lines())
    known = told.withColumns(
        {
            "base_leo": F.coalesce(last_leo, F.lit(UNKNOWN_OFFSET)),
            "base_hw": F.coalesce(last_hw, F.lit(UNKNOWN_OFFSET)),
            "leads": F.bool_or("leads").over(of_epoch),  # of its own leadership the leader's rows tell
            "then": following,
        }
    )
    steps = F.array(_at_the_point(), _from_there_on())
    states = known.where("NOT leads").withColumn("of", F.explode(steps)).select("*", "of.*")
    in_order = Window.partitionBy(*C.REPLICA_KEY, C.LEADER_EPOCH).orderBy("at", C.SOURCE_FILE, C.SOURCE_LINE)
    numbered = states.withColumn(C.EVENT_SEQ, F.row_number().over(in_order).cast("bigint"))
    return numbered.select(
        *C.REPLICA_KEY, C.CAPTURE_ID, C.LEADER_EPOCH, C.EVENT_SEQ, (F.col(C.EVENT_SEQ) == 1).alias(N.BEGINS_EPOCH),
        (F.col(N.IS_RESTART) & (F.col("at") == F.col("us"))).alias(N.IS_RESTART),
        F.timestamp_micros("at").alias(C.VALID_FROM),
        F.lit(Role.FOLLOWER.value).alias(C.ROLE),
        F.col(C.LOG_END_OFFSET_LOW).alias(C.LOG_END_OFFSET),
        F.lit(UNKNOWN_OFFSET).cast("bigint").alias(C.REMOTE_LEO),
        F.col(C.HIGH_WATERMARK_LOW).alias(C.HIGH_WATERMARK),
        F.lit(None).cast("boolean").alias(C.IN_ISR),
        C.EXACTNESS, C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH, C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH,
    )  # fmt: skip


def _state(at: Column, leo_low: Column, leo_high: Column, hw_low: Column, hw_high: Column) -> Column:
    is_known = (leo_low == leo_high) & (hw_low == hw_high)
    values = {
        "at": at, C.LOG_END_OFFSET_LOW: leo_low, C.LOG_END_OFFSET_HIGH: leo_high,
        C.HIGH_WATERMARK_LOW: F.least(hw_low, hw_high), C.HIGH_WATERMARK_HIGH: hw_high,
    }  # fmt: skip
    exactness = F.when(is_known, Exactness.STATED.value).otherwise(Exactness.BOUNDED.value)
    longs = [value.cast("bigint").alias(name) for name, value in values.items()]
    return F.struct(*longs, exactness.alias(C.EXACTNESS))


def _lowest_hw() -> Column:
    """Return what the follower's HW did not fall below in this epoch; -1 where its leader's begin is not told."""
    floor = F.coalesce("leader_hw", F.lit(UNKNOWN_OFFSET))
    return F.least(F.col("base_hw"), floor, F.coalesce("lowest", F.col("base_hw")))


def _at_the_point() -> Column:
    """Return the state that the line states; of a truncation the HW is at most the LEO."""
    leo = F.coalesce("leo", "base_leo")
    unsaid = F.when(leo < 0, NO_BOUND).otherwise(leo)
    hw_low = F.coalesce("hw", _lowest_hw())
    hw_high = F.coalesce("hw", F.when(leo >= 0, leo), F.lit(NO_BOUND))
    return _state(F.col("us"), leo, F.when(F.col("leo").isNull(), NO_BOUND).otherwise(unsaid), hw_low, hw_high)


def _from_there_on() -> Column:
    """Return the state up to the replica's next line: its LEO grows, unless that line says it was cut."""
    leo, then = F.coalesce("leo", "base_leo"), F.col("then")
    low = F.when(then["is_cut"], F.least(leo, then["leo"])).otherwise(leo)
    lives = (leo >= 0) & then["is_there"] & ~then["is_cut"] & ~then[N.IS_RESTART] & then["leo"].isNotNull()
    high = F.when(lives, F.greatest(leo, then["leo"])).otherwise(NO_BOUND)
    return _state(F.col("us") + _AFTER_US, low, F.coalesce(high, F.lit(NO_BOUND)), _lowest_hw(), high)


def with_told_replicas(states: DataFrame, told: DataFrame, known: DataFrame) -> DataFrame:
    """Return the states of replicas, with `told` for the leader epochs of which no request is logged."""
    heard = known.where(~F.col(N.IS_UNHEARD)).select(*C.PARTITION_KEY, C.LEADER_EPOCH).distinct()
    unheard = told.join(F.broadcast(heard), C.on_partition(C.LEADER_EPOCH), "left_anti")
    return states.unionByName(unheard.drop(*C.PARTITION_KEY), allowMissingColumns=True)
