"""Leaderships that requests alone show: no log tells how the epoch began, for it began before the capture did.

A follower's fetch that a broker answered without an error proves that it led the epoch of the fetch
(`Partition.localLogWithEpochOrThrow`, P:514). Its LEO then is where the first append of the epoch begins, or where a
fetch found nothing more, whichever is told first. Its HW nobody knows, nor its ISR, or who had left that a moment ago,
though the metadata log may have the ISR with which the epoch began.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.events.untold import with_untold_leaderships
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind, StatementKind

_LED = (*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID)


def with_shown_leaderships(landed: Mapping[str, DataFrame]) -> Mapping[str, DataFrame]:
    """Return the tables, `leader_changes` and `broker_statements` with a begin of each leadership no line tells."""
    changes, statements = landed[T.LEADER_CHANGES.name], landed[T.BROKER_STATEMENTS.name]
    told = changes.where(F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value)
    begins = _shown(landed).join(F.broadcast(told), C.on_partition(C.LEADER_EPOCH), "left_anti")
    led = begins.withColumns({C.CHANGE_KIND: F.lit(ChangeKind.BECOME_LEADER.value), C.LEADER_ID: F.col(C.BROKER_ID)})
    return {
        **landed,
        T.LEADER_CHANGES.name: changes.unionByName(_conformed(T.LEADER_CHANGES, led)),
        T.BROKER_STATEMENTS.name: statements.unionByName(_conformed(T.BROKER_STATEMENTS, _stated(begins))),
    }


def untold_isrs(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader epoch that followers' fetches show, and of which no line tells the ISR, or that it began."""
    key: list[str] = C.on_partition(C.LEADER_EPOCH)
    changes = with_untold_leaderships(landed)[T.LEADER_CHANGES.name]
    with_isr = [rows.where(F.col(C.ISR).isNotNull()) for rows in (changes, landed[T.METADATA_CHANGES.name])]
    begun = changes.where(F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value)
    told = with_isr[0].select(*key).unionByName(with_isr[1].select(*key)).distinct()
    whole = told.join(begun.select(*key).distinct(), key, "left_semi")
    led = landed[T.FETCH_EVENTS.name].where(_is_accepted()).select(*key).distinct()
    return led.join(F.broadcast(whole), key, "left_anti")


def _is_accepted() -> Column:
    return (F.col(C.REPLICA_ID) >= 0) & (F.col(C.ERROR_CODE) == 0) & (F.col(C.LEADER_EPOCH) >= 0)


def _shown(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader and epoch that followers' fetches show: when first, the LEO it then had, and the line."""
    fetches, appends = landed[T.FETCH_EVENTS.name], landed[T.PRODUCE_EVENTS.name]
    at_once = ~F.col(C.IS_PARKED) & (F.col(C.RESPONSE_HIGH_WATERMARK) >= 0)
    nothing = F.lit(None).cast("bigint")
    answered = fetches.where(_is_accepted()).select(
        *_LED, C.EVENT_TIME, *C.LINE, nothing.alias(C.BASE_OFFSET), nothing.alias(C.LAST_OFFSET), C.FETCH_OFFSET,
        # Nothing came, and the logs do not part: the fetch was at the leader's LEO.
        F.when((F.col(C.RECORDS_SIZE) == 0) & (F.col(C.DIVERGING_EPOCH) < 0), F.col(C.FETCH_OFFSET)).alias("end"),
        F.when(at_once, F.col(C.RESPONSE_HIGH_WATERMARK)).alias("hw"),
    )  # fmt: skip
    appended = appends.where((F.col(C.LEADER_EPOCH) >= 0) & (F.col(C.BASE_OFFSET) >= 0)).select(
        *_LED, C.EVENT_TIME, *C.LINE, C.BASE_OFFSET, C.LAST_OFFSET, nothing.alias(C.FETCH_OFFSET),
        nothing.alias("end"), nothing.alias("hw"),
    )  # fmt: skip
    place = F.struct(C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE)
    first = {name: F.when(F.col(of).isNotNull(), place) for name, of in _FIRST.items()}
    return (
        answered.unionByName(appended)
        .groupBy(*_LED)
        .agg(
            F.min(C.EVENT_TIME).alias(C.EVENT_TIME),
            *[F.min_by(c, place).alias(c) for c in C.LINE],
            *[F.min_by(of, first[name]).alias(of) for name, of in _FIRST.items()],
            *[F.min(at).alias(name) for name, at in first.items()],
            F.min_by(C.LAST_OFFSET, first["appended"]).alias(C.LAST_OFFSET),
            F.max(C.FETCH_OFFSET).alias("heard"),
        )
        .where(F.col("heard").isNotNull())
        .withColumn("leo", _first_end())
    )


_AT_ONCE_US = 5_000_000
"""What is no farther apart is of one state of the log, unless something tells otherwise."""
_FIRST = {"appended": C.BASE_OFFSET, "ended": "end", "stated": "hw", "asked": C.FETCH_OFFSET}
"""What tells of the LEO for the first time, by the name of its place."""


def _first_end() -> Column:
    """Return the LEO that is told first: an append's base offset, or where a fetch found nothing; NULL nobody tells.

    What is told long after the first request says nothing of the LEO by then: the log has grown.
    """
    base, appended = F.col(C.BASE_OFFSET), F.col("appended")
    is_first = F.col("ended").isNull() | (appended < F.col("ended"))
    # A retried batch repeats an old offset: below the HW, or below what a follower had, that is not the end of the log.
    beyond = F.col(C.FETCH_OFFSET) > F.greatest(base, C.LAST_OFFSET) + 1
    had_more = beyond & (_us("asked") - _us("appended") <= _AT_ONCE_US)
    is_old = (F.col("hw") > base) & ((F.col("stated") < appended) | had_more)
    is_new = ~F.coalesce(is_old, F.lit(False))
    ended = F.when(_us("ended") - F.unix_micros(C.EVENT_TIME) <= _AT_ONCE_US, F.col("end"))
    return F.when(is_first & is_new, base).otherwise(F.coalesce(ended, F.when(is_new, base)))


def _us(place: str) -> Column:
    return F.unix_micros(F.col(place)[C.EVENT_TIME])


def _stated(begins: DataFrame) -> DataFrame:
    """One row per begin whose LEO requests tell."""
    return begins.where(F.col("leo").isNotNull()).withColumns(
        {C.KIND: F.lit(StatementKind.BECAME_LEADER_LEO.value), C.OFFSET: F.col("leo")}
    )


def _conformed(table: T.Table, frame: DataFrame) -> DataFrame:
    """Return the frame with the table's columns, NULL where it has none."""
    known = set(frame.columns)
    columns = [F.col(c) if c in known else F.lit(None).cast(c.type).alias(c) for c in table.columns]
    return table.conform(frame.select(*columns))
