"""What a leader's own lines state of its HW, LEO and remote LEOs while its request log is silent, as events.

A `TOLD` event is one line's word; the HW and LEO hold at that moment. A `SILENCE` event is the moment from which on no
line tells: right after the begin of a leadership, after a line's word, after the last request of a log that was cut.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.events.heard import AT_US, HEARD_UNTIL_US, heard, in_silence
from replay.events.leaderships import START_US
from replay.events.silence import LINE_OF_LEADER, unheard_moments
from replay.statements import ROLE_HWS, ROLE_LEOS, is_of, said
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind as S

_LEO, _HW = "told_log_end_offset", "told_high_watermark"


def told_by_leaders(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per line of a leader in silence that states its LEO or HW: epoch, `at_us`, LEO, HW (NULL: unsaid).

    "Shrinking ISR" and "Skipped the become-leader" state the moment before the change they tell of. The role a leader
    takes next states where its last leadership ended, if its process still lives: its log does not change by that.
    """
    statements = landed[T.BROKER_STATEMENTS.name]
    told = _stated(statements).unionByName(_ends(statements))
    return in_silence(told, heard(landed)).drop(HEARD_UNTIL_US)


def _at() -> Column:
    # Before whatever the line's own change does at its time, with room for the silence after it.
    return (F.unix_micros(C.EVENT_TIME) - 2).alias(AT_US)


def _stated(statements: DataFrame) -> DataFrame:
    """One row per "Shrinking ISR", "Skipped the become-leader" and "Rolled new log segment" line."""
    kinds = (S.SHRINKING_HW, S.SHRINKING_LEO, S.SHRINKING_REMOTE_LEO, S.LEADER_METADATA_HW, S.SEGMENT_ROLLED)
    remote = F.when(is_of(S.SHRINKING_REMOTE_LEO), F.struct(F.col(C.REPLICA_ID).alias("of"), C.OFFSET))
    told = (
        statements.where(is_of(*kinds) & (F.col(C.LEADER_EPOCH) >= 0))
        .groupBy(*LINE_OF_LEADER, C.LEADER_EPOCH)
        .agg(
            said(S.SHRINKING_LEO, S.SEGMENT_ROLLED).alias(_LEO),
            said(S.SHRINKING_HW, S.LEADER_METADATA_HW).alias(_HW),
            F.map_from_entries(F.collect_set(remote)).cast(C.OFFSET_BY_REPLICA).alias(N.TOLD_REMOTE),
        )
    )
    return told.withColumn(AT_US, _at())


def _ends(statements: DataFrame) -> DataFrame:
    """One row per leadership that its process outlived, as the line of its next role states the log."""
    roles = statements.where(is_of(*ROLE_LEOS, *ROLE_HWS, S.LOADED_HW))
    taken = roles.groupBy(*LINE_OF_LEADER, C.LEADER_EPOCH, is_of(S.LOADED_HW).alias("is_load")).agg(
        F.bool_or(is_of(S.BECAME_LEADER_LEO)).alias("leads"), said(*ROLE_LEOS).alias(_LEO), said(*ROLE_HWS).alias(_HW)
    )
    own = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(
        C.EVENT_TIME, F.desc("is_load"), C.LEADER_EPOCH, C.SOURCE_FILE, C.SOURCE_LINE
    )
    before = F.lag(F.struct("leads", F.col(C.LEADER_EPOCH).alias("epoch"), "is_load")).over(own)
    was_leader = F.col("was.leads") & ~F.col("was.is_load") & (F.col("was.epoch") < F.col(C.LEADER_EPOCH))
    ended = taken.withColumn("was", before).where(~F.col("is_load") & was_leader & F.col(_HW).isNotNull())
    nobody = F.create_map().cast(C.OFFSET_BY_REPLICA).alias(N.TOLD_REMOTE)
    return ended.select(*LINE_OF_LEADER, F.col("was.epoch").alias(C.LEADER_EPOCH), _LEO, _HW, nobody, _at())


def told_events(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per `TOLD`, with the columns an event takes them from."""
    return told_by_leaders(landed).select(
        *LINE_OF_LEADER, C.LEADER_EPOCH, F.col(AT_US).alias(N.EVENT_US),
        (F.col(_LEO) - 1).alias(C.LAST_OFFSET), F.col(_HW).alias(C.RESPONSE_HIGH_WATERMARK),
    )  # fmt: skip


def silences(landed: Mapping[str, DataFrame], begun: DataFrame) -> DataFrame:
    """One row per moment from which on nothing is told of a leadership, so of no line; `begun` is `leaderships`."""
    columns = (*LINE_OF_LEADER, C.LEADER_EPOCH, AT_US)
    told = told_by_leaders(landed).select(*columns)
    moments = unheard_moments(landed).where(F.col(C.LEADER_EPOCH) >= 0)
    began = begun.select(*C.PARTITION_KEY, C.LEADER_EPOCH, F.col(C.LEADER_ID).alias(C.BROKER_ID), START_US)
    of_leadership = moments.join(began, C.on_partition(C.LEADER_EPOCH, C.BROKER_ID)).where(
        F.col(START_US) <= F.col(AT_US)
    )
    since = F.greatest(F.col(START_US), F.col(HEARD_UNTIL_US))
    first = of_leadership.groupBy(*[c for c in columns if c != AT_US]).agg(F.max(since).alias(AT_US))
    return (
        told.unionByName(first)
        .groupBy(*C.PARTITION_KEY, C.BROKER_ID, C.LEADER_EPOCH, (F.col(AT_US) + 1).alias(N.EVENT_US))
        .agg(F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID))
    )
