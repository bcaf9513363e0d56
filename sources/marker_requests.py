"""A WRITE_TXN_MARKERS line to the transaction markers that it had a leader append, one a partition and transaction."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import AppendSource
from sources import request_log
from sources.request_schema import WRITE_TXN_MARKERS


def marker_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `produce_events`, without offsets: the response has none (`between_appends` finds them).

    A marker is a batch of one record. With an error it may be there all the same, as an append may.
    """
    requests = request_log.landed(parsed, WRITE_TXN_MARKERS).select(
        C.SOURCE_FILE, C.SOURCE_LINE, C.BROKER_ID, C.CLIENT_ID, C.LOCAL_TIME_US,
        request_log.event_time().alias(C.EVENT_TIME),
        request_log.response_time().alias(C.RESPONSE_TIME),
        _named("request").alias("asked"),
        F.explode(_named("response")).alias("answer"),
    )  # fmt: skip
    asked = F.filter("asked", lambda marker: marker["producerId"] == F.col("answer")["producerId"])
    result = F.when(F.get(asked, F.lit(0))["transactionResult"], "COMMIT").otherwise("ABORT")
    topics = requests.select(
        *[c for c in requests.columns if c not in ("asked", "answer")],
        F.col("answer")["producerId"].alias(C.PRODUCER_ID),
        result.alias(C.TRANSACTION_RESULT),
        F.explode(F.col("answer")["topics"]).alias("of"),
    )
    return (
        topics.select("*", F.explode(F.col("of")["partitions"]).alias("one"))
        .withColumns(
            {
                C.TOPIC: F.coalesce(F.col("of")["name"], F.col("of")["topic"]),
                C.PARTITION: F.coalesce(F.col("one")["partitionIndex"], F.col("one")["partition"]),
                C.ERROR_CODE: F.col("one")["errorCode"],
                **_untold(),
            }
        )
        .select(*T.PRODUCE_EVENTS.parsed)
    )


def _named(part: str) -> Column:
    """The markers of a request or its response; up to 2.5 they have another name."""
    return F.coalesce(F.col(part)["markers"], F.col(part)["transactionMarkers"])


def _untold() -> dict[str, Column]:
    """What every marker is, and what its line does not say. No producer asked for it: it has no acks."""
    unknown = F.lit(C.UNKNOWN_OFFSET).cast("bigint")
    return {
        C.TOPIC_ID: F.lit(""),
        C.LEADER_EPOCH: F.lit(C.UNKNOWN_EPOCH),
        C.BASE_OFFSET: unknown,
        C.LAST_OFFSET: unknown,
        C.ACKS: F.lit(None).cast("int"),
        C.IS_TRANSACTIONAL: F.lit(True),
        C.IS_CONTROL: F.lit(True),
        C.APPEND_SOURCE: F.lit(AppendSource.REQUEST.value),
    }
