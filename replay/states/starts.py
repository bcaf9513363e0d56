"""The HW and log start a leadership begins with: carried over from that replica's own role before, and folded.

Within a leadership everything is a window; between them goes a small vector, each replica's own HW. The fold runs as
Spark's `aggregate` over the leaderships and restarts of a partition (`start_fold`): no driver, no UDF.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import slot_of
from replay.event_types import is_event, is_of_leader
from replay.events.leaderships import LOADED_AT_US, LOADED_HW, START_US, STATED_HW
from replay.events.responses import hw_of_empty, hw_taken
from replay.states.log_starts import GIVEN_UP_AT, LOG_STARTS, TOLD_BEFORE, log_starts
from replay.states.settled import SETTLED_HW, SETTLED_IS_STATED, SETTLED_LOG_START, Settled, with_settled
from replay.states.start_fold import ENDED_US, HEARD, OWN, START, next_state
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET

START_IS_STATED = "start_is_stated"
"""bool: the start is a broker's word: the history before is missing, or a restart reloaded a checkpoint."""

_HEARD = "array<struct<hw:bigint,us:bigint>>"
NOTHING_BESIDES: Mapping[str, str] = MappingProxyType({})
_LOAD = 1 << 30
"""Sorts a restart after the leaderships of the epoch it found; the times tell which responses came later."""


def last_responses(states: DataFrame, slots: int) -> DataFrame:
    """One row per leadership: `risen_to` and time of its end; `heard`: by slot, HW and time of the last it took.

    And `log_starts.LOG_STARTS`: where its log started, and those of its followers.
    """
    heard = F.struct(F.coalesce(hw_of_empty(), hw_taken()).alias("hw"), F.expr(N.ORDER_US).alias("us"))
    return states.groupBy(*N.LEADERSHIP).agg(
        F.max(N.LEADER_SLOT).alias(N.LEADER_SLOT),
        F.max(N.RISEN_TO).alias(N.RISEN_TO),
        F.max(N.EPOCH_START).alias(N.EPOCH_START),
        F.max(F.when(is_of_leader(), F.expr(N.ORDER_US))).alias(ENDED_US),
        F.array(*[last_heard(i, heard) for i in range(slots)]).cast(_HEARD).alias(HEARD),
        *log_starts(slots),
    )


def last_heard(slot: int, value: Column) -> Column:
    """Return the `value` of the last event that tells the replica in `slot` a HW, an aggregate; NULL if none does."""
    tells = (is_event(N.RESPONSE) & F.col(N.IS_TAKEN)) | hw_of_empty().isNotNull()
    own = tells & (F.col(N.SLOT) == slot)
    return F.max_by(F.when(own, value), F.when(own, F.col(C.EVENT_SEQ)))


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
    in_order = history(summaries, with_settled(begun, settled), loads, assigned)
    folded = in_order.withColumn("folded", F.aggregate("history", nothing_known(slots), next_state))
    return starts_of(folded, "folded.starts", assigned)


def nothing_known(slots: int) -> Column:
    """Return what the fold begins with: nothing is known of any replica, and there were no leaderships."""
    nobody = F.array_repeat(F.lit(None).cast(OWN), slots)
    return F.struct(nobody.alias("own"), F.array().cast(f"array<{START}>").alias("starts"))


def starts_of(folded: DataFrame, starts: str, assigned: DataFrame) -> DataFrame:
    """One row per leadership, as `leadership_starts`, of `history` and of the column `starts` that was folded of it."""
    each = folded.select(*C.PARTITION_KEY, F.explode(F.arrays_zip("history", F.col(starts))).alias("it"))
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


def history(
    summaries: DataFrame,
    begun: DataFrame,
    loads: DataFrame,
    assigned: DataFrame,
    besides: Mapping[str, str] = NOTHING_BESIDES,
) -> DataFrame:
    """One row per partition: `history`, its leaderships and its followers' restarts in order.

    `besides` are the types of columns of `summaries` that its leaderships have too.
    """
    fields = (
        C.LEADER_EPOCH, N.INCARNATION, START_US, N.TENURE, N.LEADER_SLOT, N.SLOT, STATED_HW, LOADED_HW, LOADED_AT_US,
        N.RISEN_TO, N.EPOCH_START, ENDED_US, HEARD, SETTLED_HW, SETTLED_IS_STATED, SETTLED_LOG_START,
        *TOLD_BEFORE, *LOG_STARTS, *besides,
    )  # fmt: skip
    numbered = begun.join(F.broadcast(assigned), C.on_partition())
    led = numbered.join(summaries, [*N.LEADERSHIP]).withColumn(N.SLOT, F.lit(UNKNOWN_OFFSET))
    not_led = (
        STATED_HW, LOADED_AT_US, N.RISEN_TO, N.EPOCH_START, ENDED_US, SETTLED_HW, SETTLED_LOG_START, *TOLD_BEFORE,
    )  # fmt: skip
    unsaid = {c: F.lit(None).cast("bigint") for c in not_led}
    restarted = loads.join(assigned, C.on_partition()).withColumns(
        {
            N.INCARNATION: F.lit(_LOAD),
            N.TENURE: F.lit(0),
            N.LEADER_SLOT: F.lit(UNKNOWN_OFFSET),
            N.SLOT: slot_of(F.col(C.BROKER_ID)),
            HEARD: F.lit(None).cast(_HEARD),
            **{name: F.lit(None).cast(kind) for name, kind in {**LOG_STARTS, **besides}.items()},
            SETTLED_IS_STATED: F.lit(None).cast("boolean"),
            **unsaid,
        }
    )
    both = led.select(*C.PARTITION_KEY, *fields).unionByName(restarted.select(*C.PARTITION_KEY, *fields))
    return both.groupBy(*C.PARTITION_KEY).agg(F.sort_array(F.collect_list(F.struct(*fields))).alias("history"))
