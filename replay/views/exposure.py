"""Exposure: at each moment, what only the leader held, and what its death would have lost.

The leader knows a follower's LEO by its last fetch, so what is said here is the most that could have been lost: a
follower may have taken a response it has not yet asked beyond.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.findings.request_logs import HEARD_UNTIL, heard_until
from replay.views.states import leader_states
from schemas import columns as C
from schemas import view_columns as V


def exposure(
    leader_timeline: DataFrame,
    leader_changes: DataFrame,
    metadata_changes: DataFrame,
    broker_statements: DataFrame,
    produce_events: DataFrame,
    fetch_events: DataFrame,
) -> DataFrame:
    """One row per event at a leader whose LEO is known, in force from `valid_from` to `valid_to` as in `leader_states`.

    `single_copy_records`: records that no other replica had, of a partition with one replica its whole log.
    `could_lose`: records past the shortest other ISR member, which may be elected; `would_lose`: past the longest one.
    NULL where no such replica was heard from, `could_lose` also where one of several was not; with an ISR of the leader
    alone the records wait for the leader. Deleted records count nowhere. `record_seconds`: records with one copy times
    the seconds they had it, of a row still in force up to the last request in its leader's log, NULL without one since.
    """
    # What comes next ends a state, be its own LEO known or not.
    led = leader_states(leader_timeline, leader_changes, metadata_changes, broker_statements)
    led = led.where(F.col(C.LOG_END_OFFSET) >= 0)
    heard_of = F.broadcast(heard_until(produce_events, fetch_events))
    heard = F.filter(F.map_entries(C.REMOTE_LEO_MAP), lambda it: it["value"] >= 0)
    members = F.filter(heard, lambda it: F.array_contains(C.ISR, it["key"]))
    unheard = F.array_except(F.array_except(C.ISR, F.array(C.LEADER_ID)), F.map_keys(F.map_from_entries(heard)))
    single = _past(F.when(_is_only_replica(), F.lit(0)).otherwise(F.array_max(_leos(heard))))
    return led.join(heard_of, [str(C.CLUSTER_ID), str(C.LEADER_ID)], "left").select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.EVENT_SEQ, C.LEADER_ID,
        C.VALID_FROM, C.VALID_TO, C.LOG_END_OFFSET, C.HIGH_WATERMARK, C.ISR,
        single.alias(V.SINGLE_COPY_RECORDS),
        F.when(F.size(unheard) == 0, _past(F.array_min(_leos(members)))).alias(V.COULD_LOSE),
        _past(F.array_max(_leos(members))).alias(V.WOULD_LOSE),
        (single * _seconds()).alias(V.RECORD_SECONDS),
    )  # fmt: skip


def _is_only_replica() -> Column:
    """Return whether no other replica is assigned; an ISR with others in it says that the assignment is unknown."""
    return (F.size(C.REMOTE_LEO_MAP) == 0) & (F.col(C.ISR) == F.array(C.LEADER_ID))


def _leos(entries: Column) -> Column:
    """Return the LEOs of map entries; their least and greatest are NULL where there is none."""
    return F.transform(entries, lambda it: it["value"])


def _past(offset: Column) -> Column:
    """Return how many records the leader's log still holds past an offset; NULL where that is unknown."""
    leo = F.col(C.LOG_END_OFFSET)
    # Asked for first: `greatest` and `least` pass over a NULL.
    return F.when(offset.isNotNull(), leo - F.least(F.greatest(offset, C.LOG_START_OFFSET), leo))


def _seconds() -> Column:
    """Return for how long a row was in force; NULL where it still is and its leader logged no request since."""
    since = F.when(F.col(HEARD_UNTIL) >= F.col(C.VALID_FROM), F.col(HEARD_UNTIL))
    until = F.coalesce(C.VALID_TO, since)
    return (F.unix_micros(until) - F.unix_micros(C.VALID_FROM)) / 1_000_000
