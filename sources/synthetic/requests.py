"""Requests of a scenario: appends and followers' fetches, as a request log tells of them.

Nothing is worked on for any time (`local_time_us` 0), so that every order is the clock's; a follower truncates by fetch
divergence, as Kafka 4.1 does.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.columns import UNKNOWN_EPOCH, UNKNOWN_OFFSET
from schemas.kinds import AppendSource
from sources.synthetic import names as N
from sources.synthetic.clock import turn_us
from sources.synthetic.epochs import broker_file, of_partition
from sources.synthetic.forms import Forms, at
from sources.synthetic.rounds import broker_at, high_watermark

RECORD_BYTES = 100
PER_ROUND = 8
"""Lines of a file that a round of a partition may fill, and sessions that an epoch may have."""


def _line(forms: Forms, turn: Column | int) -> Column:
    per_epoch = forms.of_shape(lambda shape: shape.rounds + 1)
    return (F.col(N.E).cast("bigint") * per_epoch + F.col(N.M)) * PER_ROUND + turn + 1


def appends(lived: DataFrame, forms: Forms) -> DataFrame:
    """One row per append that a later leader's log still holds."""
    active = forms.of_shape(lambda shape: shape.rounds - shape.quiet)
    acks = at(forms.scenario.acks, F.pmod(F.col(N.M), F.lit(len(forms.scenario.acks))))
    # With acks=all the answer waits for the slowest in the ISR, and for the ISR to be rid of one that is away.
    away, gone, out, now = map(F.col, (N.AWAY, N.GONE, N.OUT, N.M))
    waits = (away > 0) & now.between(gone - 1, out - 1)
    committed = F.when(waits, out).otherwise(now) + (max(forms.scenario.lags) + 2)
    answered = F.when(acks == -1, turn_us(forms, 0, committed)).otherwise(turn_us(forms, 0.25))
    rows = of_partition(lived.where(F.col(N.M) < active)).withColumns(
        {
            C.EVENT_TIME: F.timestamp_micros(turn_us(forms, 0)),
            C.RESPONSE_TIME: F.timestamp_micros(answered),
            C.BASE_OFFSET: F.col(N.LEO_BEFORE),
            C.LAST_OFFSET: F.col(N.LEO) - 1,
            C.ACKS: acks,
            C.SOURCE_LINE: _line(forms, 0),
        }
    )
    return _produced(rows, forms)


def lost_appends(ended: DataFrame, forms: Forms) -> DataFrame:
    """One row per append that its leader alone had: acknowledged at once, as acks=1 is."""
    rows = of_partition(ended.where(F.col(N.LOSES) > 0)).withColumns(
        {
            C.EVENT_TIME: F.timestamp_micros(turn_us(forms, forms.scenario.replicas)),
            C.RESPONSE_TIME: F.timestamp_micros(turn_us(forms, forms.scenario.replicas + 0.25)),
            C.BASE_OFFSET: F.col(N.LEO),
            C.LAST_OFFSET: F.col(N.LEO) + F.col(N.LOSES) - 1,
            C.ACKS: F.lit(1),
            C.SOURCE_LINE: _line(forms, forms.scenario.replicas),
        }
    )
    return _produced(rows, forms)


def _produced(rows: DataFrame, forms: Forms) -> DataFrame:
    """Return appends with what is the same of all, of `produce_events` but for the delivery."""
    broker = broker_at(forms, 0)
    usual = rows.withColumns(
        {
            C.BROKER_ID: broker,
            C.LOCAL_TIME_US: F.lit(0),
            C.ERROR_CODE: F.lit(0),
            C.CLIENT_ID: F.lit("producer"),
            C.IS_TRANSACTIONAL: F.lit(False),
            C.IS_CONTROL: F.lit(False),
            C.PRODUCER_ID: F.lit(-1),
            C.TRANSACTION_RESULT: F.lit(None),
            C.APPEND_SOURCE: F.lit(AppendSource.REQUEST.value),
            C.SOURCE_FILE: broker_file(broker, "kafka-request.log"),
        }
    )
    return usual.select(*T.PRODUCE_EVENTS.parsed)


def each_fetch(lived: DataFrame, forms: Forms) -> DataFrame:
    """One row per follower and round in which it fetches: `turn`, `asks`, `gets`, `known` before, the HW around it."""
    fetches = [
        F.when(
            F.col(f"asks_{i}").isNotNull(),
            F.struct(
                F.lit(i).alias(N.TURN), F.col(f"asks_{i}").alias("asks"), F.col(f"gets_{i}").alias("gets"),
                F.col(f"was_known_{i}").alias("was_known"),
                high_watermark(forms, i - 1).alias("hw_before"), high_watermark(forms, i).alias("hw"),
            ),
        )
        for i in forms.followers
    ]  # fmt: skip
    each = lived.withColumn("of", F.explode(F.array(*fetches))).where("of IS NOT NULL")
    return each.select("*", "of.*").drop("of")


def _lost_before(forms: Forms) -> Column:
    """Return how many records the leader before had alone."""
    return at([0, *(epoch.loses for epoch in forms.scenario.epochs)], F.col(N.E))


_TOLD_ALIKE = (C.RESPONSE_HIGH_WATERMARK, C.SESSION_HIGH_WATERMARK, C.RESPONSE_LAST_STABLE_OFFSET)
"""Each response names its partition, and there are no transactions."""


def fetches(lived: DataFrame, forms: Forms) -> DataFrame:
    """One row per follower's fetch: accepted, or told that its log diverges."""
    fetched = each_fetch(lived, forms).withColumn("diverges", F.lit(False))
    returns = fetched.where((F.col(N.AWAY) == F.col(N.TURN)) & (F.col(N.GONE) == 0) & (F.col(N.M) == F.col(N.BACK)))
    diverging = returns.withColumns({"diverges": F.lit(True), "asks": F.col("asks") + _lost_before(forms)})
    rows = of_partition(fetched.unionByName(diverging))
    diverges, turn = F.col("diverges"), F.col(N.TURN)
    asks, told = F.col("asks"), F.when(~diverges, F.col("hw_before")).otherwise(UNKNOWN_OFFSET)
    comes = F.when(diverges, 0).otherwise((F.col("gets") - asks) * RECORD_BYTES)
    away, gone, back, now = map(F.col, (N.AWAY, N.GONE, N.BACK, N.M))
    missed = F.when((away == turn) & (now >= back), back - gone - (gone == 0).cast("int")).otherwise(0)
    per_epoch = (F.col(N.P) * len(forms.scenario.epochs) + F.col(N.E)) * PER_ROUND
    return rows.withColumn(C.BROKER_ID, broker_at(forms, 0)).withColumns(
        {
            C.EVENT_TIME: F.timestamp_micros(turn_us(forms, turn - F.when(diverges, 0.5).otherwise(0))),
            C.RESPONSE_TIME: F.timestamp_micros(turn_us(forms, turn + F.when(diverges, -0.25).otherwise(0.25))),
            C.LOCAL_TIME_US: F.lit(0),
            C.REPLICA_ID: broker_at(forms, turn),
            C.REPLICA_EPOCH: F.lit(-1),
            C.CLIENT_ID: F.lit("follower"),
            C.FETCH_OFFSET: asks,
            C.CURRENT_LEADER_EPOCH: F.col(N.E),
            C.LAST_FETCHED_EPOCH: F.when(~diverges & (F.col("asks") > F.col(N.BEGIN)), F.col(N.E)).otherwise(
                F.col(N.E) - 1
            ),
            C.LOG_START_OFFSET: F.lit(0),
            C.SESSION_ID: per_epoch + turn,
            C.SESSION_EPOCH: F.col(N.M) + 1 - missed - F.when(diverges, 1).otherwise(0),
            C.SESSION_UNBROKEN_SINCE: F.lit(0),
            C.ISOLATION_LEVEL: F.lit(0),
            C.ERROR_CODE: F.lit(0),
            **dict.fromkeys((C.IS_PARKED, C.IS_IMPLIED), F.lit(False)),
            C.RECORDS_SIZE: comes,
            **dict.fromkeys(_TOLD_ALIKE, told),
            C.RESPONSE_LOG_START_OFFSET: F.when(~diverges, 0).otherwise(UNKNOWN_OFFSET),
            C.DIVERGING_EPOCH: F.when(diverges, F.col(N.E) - 1).otherwise(UNKNOWN_EPOCH),
            C.DIVERGING_END_OFFSET: F.when(diverges, F.col(N.BEGIN)).otherwise(UNKNOWN_OFFSET),
            C.SOURCE_FILE: broker_file(F.col(C.BROKER_ID), "kafka-request.log"),
            C.SOURCE_LINE: _line(forms, F.when(diverges, forms.scenario.replicas + 1).otherwise(turn)),
        }
    )
