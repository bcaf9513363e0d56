"""Exposure: at each moment, what only the leader held, and what its death would have lost.

The leader knows a follower's LEO by its last fetch, so what is said here is the most that could have been lost: a
follower may have taken a response it has not yet asked beyond.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.windows import begun_at, timeline
from schemas import columns as C
from schemas import view_columns as V


def exposure(leader_timeline: DataFrame) -> DataFrame:
    """One row per event at a leader, valid from `valid_from` to `valid_to` (NULL = still).

    `single_copy_records`: records that no other replica had. `could_lose`: records past the shortest other ISR member,
    which may be elected; `would_lose`: past the longest one. NULL where no such replica was heard from, `could_lose`
    also where one of several was not; with an ISR of the leader alone nobody can be elected cleanly, and the records
    wait for the leader. `record_seconds`: records with one copy times the seconds they had it.
    """
    leo = F.col(C.LOG_END_OFFSET)
    heard = F.filter(F.map_entries(C.REMOTE_LEO_MAP), lambda it: it["value"] >= 0)
    members = F.filter(heard, lambda it: F.array_contains(C.ISR, it["key"]))
    unheard = F.array_except(F.array_except(C.ISR, F.array(C.LEADER_ID)), F.map_keys(F.map_from_entries(heard)))
    single = _past(F.array_max(_leos(heard)))
    # What comes next ends a state, be its own LEO known or not.
    dated = leader_timeline.withColumn(C.VALID_FROM, begun_at()).withColumn(
        C.VALID_TO, F.lead(C.VALID_FROM).over(timeline())
    )
    lasted = (F.unix_micros(C.VALID_TO) - F.unix_micros(C.VALID_FROM)) / 1_000_000
    return dated.where(leo >= 0).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.EVENT_SEQ, C.LEADER_ID,
        C.VALID_FROM, C.VALID_TO, leo, C.HIGH_WATERMARK, C.ISR,
        single.alias(V.SINGLE_COPY_RECORDS),
        F.when(F.size(unheard) == 0, _past(F.array_min(_leos(members)))).alias(V.COULD_LOSE),
        _past(F.array_max(_leos(members))).alias(V.WOULD_LOSE),
        (single * F.greatest(lasted, F.lit(0.0))).alias(V.RECORD_SECONDS),
    )  # fmt: skip


def _leos(entries: Column) -> Column:
    """Return the LEOs of map entries; their least and greatest are NULL where there is none."""
    return F.transform(entries, lambda it: it["value"])


def _past(offset: Column) -> Column:
    """Return how many records the leader's log holds past an offset; NULL where that is unknown."""
    leo = F.col(C.LOG_END_OFFSET)
    return F.when(offset > leo, F.lit(0)).otherwise(leo - offset)
