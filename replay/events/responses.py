"""Responses as events: a follower's own LEO and HW change when it takes a response, not when it asks.

They tell nothing of the leader, so that the order is decided without them: two events of five are theirs.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import event, is_event
from replay.events.leaderships import START_US
from schemas import columns as C
from schemas.kinds import EventType


def with_refused_apart(ordered: DataFrame) -> DataFrame:
    """Return the events, the fetches that were refused as `REFUSED`: the leader records nothing of them.

    Of a refused one that was heeded the response alone is left (`AbstractFetcherThread.processFetchRequest`: up to
    3.4.0 `processPartitionData` came first, and only then a look at the diverging epoch). What a process asked that had
    ended when the leadership began is left out: since then the replica has loaded its log.
    """
    refused = F.coalesce(is_event(EventType.FETCH) & ~F.col(N.IS_ACCEPTED), F.lit(False))
    told = F.when(refused & F.col(N.IS_HEEDED), event(N.RESPONSE)).when(refused, event(N.REFUSED))
    loaded = F.exists(N.LOADED_US, lambda us: us.between(F.col(N.EVENT_US), F.col(START_US)))
    is_ended = refused & (F.col(N.EVENT_US) < F.col(START_US)) & F.coalesce(loaded, F.lit(False))
    of_living = ordered.where(~is_ended)
    return of_living.withColumn(N.EVENT, F.coalesce(told, N.EVENT)).drop(N.IS_ACCEPTED, N.IS_HEEDED)


def is_answered() -> Column:
    """Return whether the event is a fetch whose response told its follower of the partition.

    Refused and diverging fetches are not, but for those in purgatory: they were accepted at first. A response that
    omits the partition changes nothing at the follower.
    """
    told = F.col(N.IS_ACCEPTED) & (F.col(C.RECORDS_SIZE) >= 0) & (F.col(C.ERROR_CODE) == 0)
    return is_event(EventType.FETCH) & (told | F.col(N.IS_HEEDED))


def taken_ns(asked_ns: Column, built_us: Column, next_fetch_us: Column) -> Column:
    """Return when a response was taken: before the replica asks again; that may be at another leader, by its clock.

    Of a time that both fetches have it comes between them: its place in their stream is.
    """
    return F.greatest(asked_ns, F.least(built_us, next_fetch_us) * N.NS_PER_US)


def with_responses(decided: DataFrame) -> DataFrame:
    """Return the events, and one row more, `RESPONSE`, per response that was taken."""
    both = F.array(event(EventType.FETCH), event(N.RESPONSE))
    is_answered_fetch = is_event(EventType.FETCH) & F.col(N.RESPONSE_NS).isNotNull()
    steps = F.when(is_answered_fetch, both).otherwise(F.array(F.col(N.EVENT)))
    rows = decided.withColumn("step", F.explode(steps))
    response = is_event(N.RESPONSE, of=F.col("step"))
    return rows.withColumns(
        {
            N.EVENT: F.col("step"),
            N.ORDER_NS: F.when(response, F.greatest(N.ORDER_NS, N.RESPONSE_NS)).otherwise(F.col(N.ORDER_NS)),
            N.STREAM_POS: F.col(N.STREAM_POS) * 2 + F.when(response, 1).otherwise(0),
        }
    ).drop("step", N.RESPONSE_NS)


def hw_taken() -> Column:
    """Return the HW that a response leaves its follower with: within its log (UL:540 updateHighWatermark)."""
    told = F.col(C.RESPONSE_HIGH_WATERMARK)
    up_to_leo = F.when(F.col(N.FOLLOWER_LEO) >= 0, F.least(told, F.col(N.FOLLOWER_LEO))).otherwise(told)
    return F.greatest(up_to_leo, N.OWN_LOG_START)


def hw_of_empty() -> Column:
    """Return the HW that a fetch tells of a log without a record, new or given up: its start is its end; else NULL."""
    is_empty = F.col(C.FETCH_OFFSET) == F.col(N.OWN_LOG_START)
    return F.when(~is_event(N.RESPONSE) & is_empty, F.col(C.FETCH_OFFSET))
