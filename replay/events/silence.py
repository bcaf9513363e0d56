"""Silence: times of which a broker's request log tells nothing, because it has none, or it was cut or rotated away.

A broker that leads is asked all the time: each follower fetches at least every replica.fetch.wait.max.ms. Where no
request of anybody is logged for a minute, the log is not there; where somebody must have asked, a few seconds tell it.
What a leader did meanwhile is known only where a line of server.log or state-change.log states it (`told`), and
between bounds in between (`replay.states.bounds`).
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.events.ended_logs import ends_in_silence
from replay.events.heard import ASKED_WITHIN_US, AT_US, HEARD_UNTIL_US, SILENT_US, heard, in_silence
from replay.windows import FIRST, carried
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import AppendSource, ChangeKind

_PATIENCE_US = "patience_us"
_GAP, _NEVER_US = "gap", -1
LINE_OF_LEADER = (*C.PARTITION_KEY, C.BROKER_ID, *C.LINE, C.EVENT_TIME)
"""A leader's line, and the partition it tells of."""


def silent_changes(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per change that a leader applied in silence."""
    changes = landed[T.LEADER_CHANGES.name].withColumn(AT_US, F.unix_micros(C.EVENT_TIME))
    is_role = F.col(C.CHANGE_KIND).isin(ChangeKind.BECOME_LEADER.value, ChangeKind.BECOME_FOLLOWER.value)
    in_reverse = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(
        F.desc(C.EVENT_TIME), F.desc(C.SOURCE_FILE), F.desc(C.SOURCE_LINE)
    )
    next_role_us = carried(F.when(is_role, F.col(AT_US)), in_reverse.rowsBetween(FIRST, -1))
    # A restarted process takes up its old leadership and steps down again before anybody asks it.
    stays = F.coalesce(next_role_us - F.col(AT_US) > ASKED_WITHIN_US, F.lit(True))
    is_asked = stays & F.coalesce(F.size(C.ISR) > 1, F.lit(False))
    leads = F.col(C.LEADER_ID) == F.col(C.BROKER_ID)
    of_leaders = changes.withColumn(_PATIENCE_US, F.when(is_asked, ASKED_WITHIN_US).otherwise(SILENT_US)).where(
        leads & (F.col(C.CHANGE_KIND) != ChangeKind.ASSIGNED.value)
    )
    return in_silence(of_leaders, heard(landed), F.col(_PATIENCE_US)).drop(_PATIENCE_US)


def silent_batches(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per append that only a dump tells of, in silence: its request is missing, and the fetches beside it.

    Where one moment between two stretches of requests is silence the log is not there, however near they are.
    """
    appends = landed[T.PRODUCE_EVENTS.name].where(F.col(C.APPEND_SOURCE) != AppendSource.REQUEST.value)
    timed = appends.withColumn(AT_US, F.unix_micros(C.EVENT_TIME))
    # Markers of transactions and what coordinators write come without a request of a client.
    is_asked = ~F.col(C.IS_CONTROL) & ~F.startswith(C.TOPIC, F.lit("__"))
    patience_us = F.when(is_asked, ASKED_WITHIN_US).otherwise(SILENT_US)
    since = F.coalesce(HEARD_UNTIL_US, F.lit(_NEVER_US))
    gap = (C.CLUSTER_ID, C.BROKER_ID, since.alias(_GAP))
    by_itself = in_silence(timed, heard(landed), patience_us).select(*gap)
    lost = by_itself.unionByName(silent_changes(landed).select(*gap)).unionByName(ends_in_silence(landed).select(*gap))
    between = in_silence(timed, heard(landed), F.lit(0)).withColumn(_GAP, since)
    return between.join(F.broadcast(lost.distinct()), [C.CLUSTER_ID, C.BROKER_ID, _GAP], "left_semi").drop(_GAP)


def silent_moments(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per change or append of a leader in silence: its line, leader epoch, `at_us` and `heard_until_us`."""
    columns = (*LINE_OF_LEADER, C.LEADER_EPOCH, AT_US, HEARD_UNTIL_US)
    return silent_changes(landed).select(*columns).unionByName(silent_batches(landed).select(*columns))


def unheard_moments(landed: Mapping[str, DataFrame]) -> DataFrame:
    """The same, and one row per leader epoch that outlived its leader's request log (`ended_logs`)."""
    within = silent_moments(landed)
    return within.unionByName(ends_in_silence(landed).select(*within.columns))


def with_heard_batches(landed: Mapping[str, DataFrame]) -> Mapping[str, DataFrame]:
    """Return the tables without the appends in silence.

    Between logged appends a batch's time is held by theirs; in silence it is the producer's word alone.
    """
    silent = silent_batches(landed).select(*C.LINE)
    others = landed[T.PRODUCE_EVENTS.name].join(silent, [str(c) for c in C.LINE], "left_anti")
    return {**landed, T.PRODUCE_EVENTS.name: others}
