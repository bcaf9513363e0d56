"""A FETCH line to one fetch request: the request's own columns, and every partition that it or its response names."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources import request_log
from sources.request_fields import replica_id
from sources.request_schema import FETCH

SESSION = "session"
"""Fetch session (KIP-227) the request was handled in; a request outside any is a session of its own."""

PARKED_US = 500
"""A fetch with so much remote time was parked (DelayedFetch): one with less may have been, too."""

IS_THROTTLED = "is_throttled"
"""boolean: a consumer over its quota is answered without looking (`FetchContext.getThrottledResponse`)."""

TURN = (
    C.SOURCE_FILE, C.SOURCE_LINE, C.EVENT_TIME, C.RESPONSE_TIME, C.LOCAL_TIME_US, C.REPLICA_ID, C.REPLICA_EPOCH,
    C.CLIENT_ID, C.SESSION_ID, C.SESSION_EPOCH, C.ISOLATION_LEVEL, C.IS_PARKED, IS_THROTTLED,
)  # fmt: skip
"""What is of the request and not of a partition."""


def fetch_requests(parsed: DataFrame) -> DataFrame:
    """One row a FETCH line: broker, session, `turn` (the request's own columns), and what names partitions in it.

    `listed`, `forgotten` and `answered` are the arrays of topics of the request and of its response, as parsed.
    """
    request, response = F.col("request"), F.col("response")
    return (
        request_log.landed(parsed, FETCH)
        .withColumns(_turn(request, response))
        .withColumn(C.SESSION_ID, _session_id(request, response))
        .withColumn(SESSION, _session())
        .select(
            C.BROKER_ID,
            SESSION,
            C.SESSION_EPOCH,
            F.struct(*TURN).alias("turn"),
            request["forgottenTopicsData"].alias("forgotten"),
            request["topics"].alias("listed"),
            response["responses"].alias("answered"),
            F.lit(True).alias("is_new"),
        )
    )


def unknown(column: Column, data_type: str) -> Column:
    """The column, -1 where it is absent."""
    return F.coalesce(column, F.lit(-1)).cast(data_type)


def _turn(request: Column, response: Column) -> dict[str, Column]:
    return {
        C.EVENT_TIME: request_log.event_time(),
        C.RESPONSE_TIME: request_log.response_time(),
        C.REPLICA_ID: unknown(replica_id(request), "int"),
        C.REPLICA_EPOCH: unknown(request["replicaState"]["replicaEpoch"], "bigint"),
        C.SESSION_EPOCH: unknown(request["sessionEpoch"], "int"),
        C.ISOLATION_LEVEL: F.coalesce(request["isolationLevel"], F.lit(0)),
        C.IS_PARKED: F.col("remote_time_us") >= PARKED_US,
        IS_THROTTLED: F.coalesce(response["throttleTimeMs"] > 0, F.lit(False)),
    }


def _session_id(request: Column, response: Column) -> Column:
    """A full fetch (epoch 0) is the first of the session its response names, whatever session it came from."""
    epoch = F.col(C.SESSION_EPOCH)
    session_id = F.when(epoch > 0, request["sessionId"]).when(epoch == 0, response["sessionId"])
    return F.coalesce(session_id, F.lit(0))


def _session() -> Column:
    alone = F.concat_ws(":", C.SOURCE_FILE, C.SOURCE_LINE)
    return F.when(F.col(C.SESSION_ID) == 0, alone).otherwise(F.col(C.SESSION_ID).cast("string"))
