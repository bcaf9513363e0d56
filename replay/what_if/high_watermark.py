"""The same events under another min.insync.replicas, lag time, or without a gate: the HW beside what it was."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.settings import MIN_ISR_SETTING
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_REPLICA, UNKNOWN_OFFSET
from schemas.kinds import StatementKind

_UNLINED_AT = "unlined_at"
"""timestamp: when an event happened that no line tells of; NULL of one that has a line."""
_SAME_EVENT = (*C.on_partition(C.LEADER_EPOCH, C.EVENT_TYPE, C.REPLICA_ID), *C.LINE, _UNLINED_AT)


def as_if(landed: Mapping[str, DataFrame], min_isr: int | None = None) -> dict[str, DataFrame]:
    """Return the landing tables without the brokers' own words on the HW, which bear witness to what was.

    Those are the acknowledgements of acks=all, the HW that responses tell and that of a leader's begin. With `min_isr`,
    every topic has it from the beginning on.
    """
    produced, fetched = landed[T.PRODUCE_EVENTS.name], landed[T.FETCH_EVENTS.name]
    statements = landed[T.BROKER_STATEMENTS.name]
    unsaid = F.lit(UNKNOWN_OFFSET).cast(C.RESPONSE_HIGH_WATERMARK.type)
    changed = {
        **landed,
        T.PRODUCE_EVENTS.name: produced.withColumn(C.ACKS, F.lit(None).cast(C.ACKS.type)),
        T.FETCH_EVENTS.name: fetched.withColumns(
            dict.fromkeys((C.RESPONSE_HIGH_WATERMARK, C.SESSION_HIGH_WATERMARK), unsaid)
        ),
        T.BROKER_STATEMENTS.name: statements.where(F.col(C.KIND) != StatementKind.BECAME_LEADER_HW.value),
    }
    if min_isr is not None:
        changed[T.SETTINGS.name] = _with_min_isr(landed, min_isr)
    return changed


_EVENTS = (T.LEADER_CHANGES, T.METADATA_CHANGES, T.PRODUCE_EVENTS, T.FETCH_EVENTS, T.BROKER_STATEMENTS)
"""Each tells of clusters: a capture may have any of them alone."""


def _with_min_isr(landed: Mapping[str, DataFrame], min_isr: int) -> DataFrame:
    """Return the settings with one min.insync.replicas for every cluster and topic."""
    of_each = [landed[table.name].select(C.CLUSTER_ID).distinct() for table in _EVENTS]
    clusters = reduce(DataFrame.unionByName, of_each).distinct()
    given: dict[str, Column] = {
        C.BROKER_ID: F.lit(NO_REPLICA), C.TOPIC: F.lit(""), C.NAME: F.lit(MIN_ISR_SETTING),
        C.VALUE: F.lit(str(min_isr)), C.CAPTURE_ID: F.lit(""),
    }  # fmt: skip
    unsaid: dict[str, Column] = {c: F.lit(None) for c in T.SETTINGS.columns if c not in (*given, C.CLUSTER_ID)}
    others = landed[T.SETTINGS.name].where(F.col(C.NAME) != MIN_ISR_SETTING)
    return T.SETTINGS.conform(others).unionByName(T.SETTINGS.conform(clusters.withColumns({**given, **unsaid})))


def differences(was: DataFrame, would_be: DataFrame, what_if: str) -> DataFrame:
    """One row per event after which the HW would have been another, of `schemas.tables.WHAT_IF_TIMELINE`.

    `was` and `would_be` are leader timelines of the same events. What is known between bounds is another where the
    bounds do not meet.
    """
    unlined_at = F.when(F.col(C.SOURCE_LINE).isNull(), F.col(C.EVENT_TIME))
    one, other = was.withColumn(_UNLINED_AT, unlined_at), would_be.withColumn(_UNLINED_AT, unlined_at)
    hw = F.col(C.HIGH_WATERMARK).alias(C.WHAT_IF_HIGH_WATERMARK)
    bounds = (C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH)
    other = other.select(*[F.col(c).alias(f"other_{c}") for c in (*_SAME_EVENT, *bounds)], hw)
    is_same = reduce(Column.__and__, [F.col(c).eqNullSafe(F.col(f"other_{c}")) for c in _SAME_EVENT])
    lower = F.col(f"other_{C.HIGH_WATERMARK_HIGH}") < F.col(C.HIGH_WATERMARK_LOW)
    higher = F.col(f"other_{C.HIGH_WATERMARK_LOW}") > F.col(C.HIGH_WATERMARK_HIGH)
    differ = one.join(other, is_same).where(lower | higher)
    return T.WHAT_IF_TIMELINE.conform(differ.withColumn(C.WHAT_IF, F.lit(what_if)))
