"""The HW and log start a leadership begins with: carried over from that replica's own role before, and folded.

Within a leadership everything is a window; between them goes a small vector, each replica's own HW. The fold runs as
Spark's `aggregate` over the leaderships and restarts of a partition: no driver, no UDF. Source: `Partition.makeLeader`
and `makeFollower` keep both; a restart reloads it from the checkpoint (P:488 createLog).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import slot_of
from replay.event_types import is_event
from replay.events.leaderships import LOADED_AT_US, LOADED_HW, START_US, STATED_HW
from replay.events.responses import hw_of_empty, hw_taken
from replay.states.log_starts import (
    GIVEN_UP_AT,
    LAST_LOG_START,
    LOG_STARTS,
    OF_FOLLOWERS,
    TOLD_BEFORE,
    log_start_before,
    log_starts,
)
from replay.states.settled import SETTLED_HW, SETTLED_IS_STATED, SETTLED_LOG_START, Settled, with_settled
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET

START_IS_STATED = "start_is_stated"
"""bool: the start is a broker's word: the history before is missing, or a restart reloaded a checkpoint."""

_OWN = "struct<hw:bigint,us:bigint,is_stated:boolean,log_start:bigint>"
_START = "struct<hw:bigint,is_stated:boolean,is_reloaded:boolean,log_start:bigint>"
_HEARD = "array<struct<hw:bigint,us:bigint>>"
_LOAD = 1 << 30
"""Sorts a restart after the leaderships of the epoch it found; the times tell which responses came later."""


def last_responses(states: DataFrame, slots: int) -> DataFrame:
    """One row per leadership: `risen_to` and time of its end; `heard`: by slot, HW and time of the last it took.

    And `log_starts.LOG_STARTS`: where its log started, and those of its followers.
    """
    heard = F.struct(F.coalesce(hw_of_empty(), hw_taken()).alias("hw"), F.expr(N.ORDER_US).alias("us"))
    tells = (is_event(N.RESPONSE) & F.col(N.IS_TAKEN)) | hw_of_empty().isNotNull()

    def last(slot: int) -> Column:
        own = tells & (F.col(N.SLOT) == slot)
        return F.max_by(F.when(own, heard), F.when(own, F.col(C.EVENT_SEQ)))

    return states.groupBy(*N.LEADERSHIP).agg(
        F.max(N.LEADER_SLOT).alias(N.LEADER_SLOT),
        F.max(N.RISEN_TO).alias(N.RISEN_TO),
        F.max(N.EPOCH_START).alias(N.EPOCH_START),
        F.max(F.expr(N.ORDER_US)).alias("ended_us"),
        F.array(*[last(i) for i in range(slots)]).cast(_HEARD).alias("heard"),
        *log_starts(slots),
    )


def leadership_starts(
    summaries: DataFrame,
    begun: DataFrame,
    loads: DataFrame,
    assigned: DataFrame,
    slots: int,
    settled: Settled | None = None,
) -> DataFrame:
    """One row per leadership: `start_high_watermark` (-1 unknown), whether it is a broker's word, and its log start.

    `begun` is `log_starts.with_told_log_start`. Of a leadership that is `settled` the start is its HW at that moment.
    """
    history = _history(summaries, with_settled(begun, settled), loads, assigned)
    nobody = F.array_repeat(F.lit(None).cast(_OWN), slots)
    begin = F.struct(nobody.alias("own"), F.array().cast(f"array<{_START}>").alias("starts"))
    folded = history.withColumn("folded", F.aggregate("history", begin, _next))
    each = folded.select(*C.PARTITION_KEY, F.explode(F.arrays_zip("history", F.col("folded.starts"))).alias("it"))
    numbered = each.join(F.broadcast(assigned), C.on_partition())
    return numbered.where(F.col("it.history")[N.LEADER_SLOT] >= 0).select(
        N.PARTITION_NUMBER,
        *[F.col("it.history")[c].alias(c) for c in (C.LEADER_EPOCH, N.INCARNATION, N.TENURE)],
        F.when(F.col("it.starts.is_reloaded"), F.col("it.history")[LOADED_HW]).alias(LOADED_HW),
        F.col("it.starts.hw").alias(N.START_HW),
        F.col("it.starts.is_stated").alias(START_IS_STATED),
        F.col("it.starts.log_start").alias(N.START_LOG_START),
        F.col("it.history")[GIVEN_UP_AT].alias(GIVEN_UP_AT),
    )


def _history(summaries: DataFrame, begun: DataFrame, loads: DataFrame, assigned: DataFrame) -> DataFrame:
    """One row per partition: `history`, its leaderships and its followers' restarts in order."""
    fields = (
        C.LEADER_EPOCH, N.INCARNATION, START_US, N.TENURE, N.LEADER_SLOT, N.SLOT, STATED_HW, LOADED_HW, LOADED_AT_US,
        N.RISEN_TO, N.EPOCH_START, "ended_us", "heard", SETTLED_HW, SETTLED_IS_STATED, SETTLED_LOG_START,
        *TOLD_BEFORE, *LOG_STARTS,
    )  # fmt: skip
    numbered = begun.join(F.broadcast(assigned), C.on_partition())
    led = numbered.join(summaries, [*N.LEADERSHIP]).withColumn(N.SLOT, F.lit(UNKNOWN_OFFSET))
    not_led = (
        STATED_HW, LOADED_AT_US, N.RISEN_TO, N.EPOCH_START, "ended_us", SETTLED_HW, SETTLED_LOG_START, *TOLD_BEFORE,
    )  # fmt: skip
    unsaid = {c: F.lit(None).cast("bigint") for c in not_led}
    restarted = loads.join(assigned, C.on_partition()).withColumns(
        {
            N.INCARNATION: F.lit(_LOAD),
            N.TENURE: F.lit(0),
            N.LEADER_SLOT: F.lit(UNKNOWN_OFFSET),
            N.SLOT: slot_of(F.col(C.BROKER_ID)),
            "heard": F.lit(None).cast(_HEARD),
            **{name: F.lit(None).cast(kind) for name, kind in LOG_STARTS.items()},
            SETTLED_IS_STATED: F.lit(None).cast("boolean"),
            **unsaid,
        }
    )
    both = led.select(*C.PARTITION_KEY, *fields).unionByName(restarted.select(*C.PARTITION_KEY, *fields))
    return both.groupBy(*C.PARTITION_KEY).agg(F.sort_array(F.collect_list(F.struct(*fields))).alias("history"))


def _next(so_far: Column, step: Column) -> Column:
    """Return the vector after a leadership or a restart, with the leadership's start appended to `starts`."""
    leader = step[N.LEADER_SLOT]
    start = _start(F.when(leader >= 0, F.get(so_far["own"], leader)), step)
    rises = step[N.RISEN_TO] >= start["hw"]
    ended = _own(
        F.greatest(start["hw"], step[N.RISEN_TO]),
        step["ended_us"],
        start["is_stated"] & ~F.coalesce(rises, F.lit(True)),
        F.greatest(start["log_start"], step[LAST_LOG_START]),
    )

    def after(own: Column, slot: Column) -> Column:
        heard = F.get(step["heard"], slot)
        log_start = F.coalesce(F.get(step[OF_FOLLOWERS], slot), own["log_start"])
        told = _own(heard["hw"], heard["us"], F.lit(False), log_start)
        is_later = F.coalesce(step[START_US] > own["us"], F.lit(True))
        loaded = F.when(
            (slot == step[N.SLOT]) & is_later, _own(step[LOADED_HW], step[START_US], F.lit(True), own["log_start"])
        )
        return F.when(slot == leader, ended).when(heard.isNotNull(), told).otherwise(F.coalesce(loaded, own))

    return F.struct(
        F.transform(so_far["own"], after).alias("own"), F.concat(so_far["starts"], F.array(start)).alias("starts")
    )


def _own(hw: Column, us: Column, is_stated: Column, log_start: Column) -> Column:
    return F.struct(hw.alias("hw"), us.alias("us"), is_stated.alias("is_stated"), log_start.alias("log_start"))


def _start(own: Column, leadership: Column) -> Column:
    """Return the leadership's start: carried over, reloaded, or what its line states; within its log.

    Which responses a follower took no leader's log shows: some were dropped (`AbstractFetcherThread`, 349), some were
    never logged as their leader died. Where the line of the election says another HW, it is the evidence.
    """
    carried, stated = own["hw"], leadership[STATED_HW]
    # Since it loaded its log it may have followed, of which old lines tell nothing: what it was told then is newer.
    has_followed = stated.isNull() & F.coalesce(own["us"] > leadership[LOADED_AT_US], F.lit(False))
    is_reloaded = leadership[LOADED_HW].isNotNull() & ~has_followed
    rebuilt = F.when(is_reloaded, leadership[LOADED_HW]).otherwise(carried)
    begin = leadership[N.EPOCH_START]
    value = F.coalesce(stated, rebuilt, F.when(begin == 0, F.lit(0)), F.lit(UNKNOWN_OFFSET))
    is_rebuilt = ~is_reloaded & (value == carried) & ~own["is_stated"]
    log_start = log_start_before(own["log_start"], leadership, begin)
    in_log = F.when(value >= 0, F.greatest(value, log_start)).otherwise(value)
    hw = F.when(begin >= 0, F.least(in_log, begin)).otherwise(in_log).cast("bigint")
    is_stated = F.coalesce(begin != 0, F.lit(True)) & ~F.coalesce(is_rebuilt, F.lit(False))
    return F.struct(
        F.coalesce(leadership[SETTLED_HW], hw).alias("hw"),
        F.coalesce(leadership[SETTLED_IS_STATED], is_stated).alias("is_stated"),
        is_reloaded.alias("is_reloaded"),
        F.coalesce(leadership[SETTLED_LOG_START], log_start).alias("log_start"),
    )
