"""The same events under another min.insync.replicas, lag time, or without a gate: the HW beside what it was."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.brokers_rules import of_each_leader
from replay.events.told import told_by_leaders
from replay.keep import Keep, as_it_is, kept_as_few
from replay.profile import Profile
from replay.replayed import happened
from replay.states.bounds import with_bounds
from replay.states.leader_rows import leader_timeline, with_high_watermark
from replay.states.log_ends import log_ends
from replay.what_if.both_rules import WAS_START, states_of_both, with_words_that_stand
from replay.what_if.starts import starts_of_both
from schemas import columns as C
from schemas import tables as T

_UNLINED_AT = "unlined_at"
"""timestamp: when an event happened that no line tells of; NULL of one that has a line."""
_NTH = "nth"
"""int: which of the events of its line it is, as of markers, by which one request ends several transactions."""
_SAME_LINE = (*C.on_partition(C.LEADER_EPOCH, C.EVENT_TYPE, C.REPLICA_ID), *C.LINE, _UNLINED_AT)
_SAME_EVENT = (*_SAME_LINE, _NTH)


def would_be(
    landed: Mapping[str, DataFrame],
    assigned: DataFrame,
    slots: int,
    spoken: Profile,
    otherwise: Profile,
    min_isr: int | Column | None = None,
    keep: Keep = as_it_is,
) -> DataFrame:
    """One row per event at a leader, as `leader_timeline` would have it under the rules `otherwise`.

    With `min_isr` every topic has it from the beginning on. `spoken` are the rules that were; all else is as
    `timelines.reconstruct` has it.
    """
    was = happened(landed, assigned, slots, spoken, keep)
    spoken, otherwise = of_each_leader(spoken), of_each_leader(otherwise)
    both = states_of_both(was.ordered, slots, spoken, otherwise, min_isr)
    states = kept_as_few(both, (*N.LEADERSHIP, *N.IN_ORDER), keep)
    starts = keep(starts_of_both(states, was, assigned, slots, keep), is_small=True)
    believed = with_words_that_stand(states, starts)
    known = with_high_watermark(believed, starts.drop(WAS_START), assigned, slots, otherwise)
    if otherwise.has_silence:
        known = keep(with_bounds(known, told_by_leaders(was.landed), log_ends(was.landed, was.begun), slots))
    # No difference is told of the LSO.
    return leader_timeline(known.withColumn(C.LAST_STABLE_OFFSET, F.col(C.HIGH_WATERMARK)), slots, otherwise)


def differences(was: DataFrame, would_be: DataFrame, what_if: str) -> DataFrame:
    """One row per event after which the HW would have been another, of `schemas.tables.WHAT_IF_TIMELINE`.

    `was` and `would_be` are leader timelines of the same events. What is known between bounds is another where the
    bounds do not meet.
    """
    unlined_at = F.when(F.col(C.SOURCE_LINE).isNull(), F.col(C.EVENT_TIME))
    nth = F.row_number().over(Window.partitionBy(*_SAME_LINE).orderBy(C.EVENT_SEQ))
    one, other = (made.withColumn(_UNLINED_AT, unlined_at).withColumn(_NTH, nth) for made in (was, would_be))
    hw = F.col(C.HIGH_WATERMARK).alias(C.WHAT_IF_HIGH_WATERMARK)
    bounds = (C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH)
    other = other.select(*[F.col(c).alias(f"other_{c}") for c in (*_SAME_EVENT, *bounds)], hw)
    is_same = reduce(Column.__and__, [F.col(c).eqNullSafe(F.col(f"other_{c}")) for c in _SAME_EVENT])
    lower = F.col(f"other_{C.HIGH_WATERMARK_HIGH}") < F.col(C.HIGH_WATERMARK_LOW)
    higher = F.col(f"other_{C.HIGH_WATERMARK_LOW}") > F.col(C.HIGH_WATERMARK_HIGH)
    differ = one.join(other, is_same).where(lower | higher)
    return T.WHAT_IF_TIMELINE.conform(differ.withColumn(C.WHAT_IF, F.lit(what_if)))
