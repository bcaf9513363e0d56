"""Responses as events: a follower's own LEO and HW change when it takes a response, not when it asks."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.order import NS_PER_US
from schemas import columns as C
from schemas.kinds import EventType


def with_responses(ordered: DataFrame) -> DataFrame:
    """Return the events, and one row more, `RESPONSE`, per response that told its follower of the partition.

    Refused and diverging fetches had their say (the fetcher's LEO) and are left out, but for those in purgatory:
    they were accepted at first. A response that omits the partition changes nothing at the follower.
    """
    fetch = F.col(C.EVENT_TYPE) == EventType.FETCH.value
    answered = fetch & (F.col(C.RECORDS_SIZE) >= 0) & (F.col(C.ERROR_CODE) == 0)
    steps = (
        F.when(answered & F.col("is_accepted"), F.array(F.lit(EventType.FETCH.value), F.lit(N.RESPONSE)))
        .when(fetch & ~F.col("is_accepted"), F.array().cast("array<string>"))
        .otherwise(F.array(F.col(C.EVENT_TYPE)))
    )
    rows = ordered.withColumn("step", F.explode(steps))
    response = F.col("step") == N.RESPONSE
    asked = F.col(N.ORDER_NS)
    # Taken before the replica asks again; its next fetch may be at another leader, by another clock.
    built = F.least(F.col(N.RESPONSE_US), F.col(N.NEXT_FETCH_US)) * NS_PER_US
    return rows.withColumns(
        {
            C.EVENT_TYPE: F.col("step"),
            N.ORDER_NS: F.when(response, F.greatest(asked + 1, built)).otherwise(asked),
            N.STREAM_POS: F.col(N.STREAM_POS) * 2 + F.when(response, 1).otherwise(0),
        }
    ).drop("step", "is_accepted")
