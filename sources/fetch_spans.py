"""The spans of fetch sessions (KIP-227): requests that follow each other without a gap.

A session's epoch is one more with every request. Where one is missing in the log, nothing is known of the session
from there on but what is named again.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from sources.fetch_names import states_ids
from sources.fetch_requests import SESSION

SPAN = "span"
"""int: session epoch that the span begins with."""
SPAN_END = "span_end"
"""int: session epoch of its last request."""
BY_ID = "by_id"
"""bool: the session's partitions go by topic ids (KIP-516), not by names; NULL where no new request names one. By name,
a topic that is created anew takes the place of the one before it."""
STRETCH = 1000
"""Session epochs that are looked up together: a name is compared with the spans that touch its stretch alone."""


def in_spans(names: DataFrame, requests: DataFrame) -> DataFrame:
    """The names with SPAN, SPAN_END and BY_ID of their requests; one outside any session is a span by itself."""
    spans = _by_stretch(_spans(requests.where(F.col(C.SESSION_ID) != 0)))
    epoch = F.col(C.SESSION_EPOCH)
    is_of_it = (
        (F.col(C.BROKER_ID) == F.col("its_broker"))
        & (F.col(SESSION) == F.col("its_session"))
        & (_stretch(epoch) == F.col("its_stretch"))
        & epoch.between(F.col("begins_with"), F.col("ends_with"))
    )
    return names.join(F.broadcast(spans), is_of_it, "left").select(
        *names.columns,
        F.coalesce("unbroken_since", epoch).alias(SPAN),
        F.coalesce("ends_with", epoch).alias(SPAN_END),
        BY_ID,
    )


def _spans(requests: DataFrame) -> DataFrame:
    """One row a span: `begins_with`, `ends_with`, BY_ID of its session, and since when it is unbroken.

    That is earlier than it begins where it goes on with what landed before; the column SPAN of that request has it.
    """
    session = Window.partitionBy(C.BROKER_ID, SESSION)
    whole = session.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    in_order = session.orderBy(C.SESSION_EPOCH)
    epoch = F.col(C.SESSION_EPOCH)
    begins = F.coalesce(F.lag(C.SESSION_EPOCH).over(in_order) < epoch - 1, F.lit(True))
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        requests.select(
            C.BROKER_ID, SESSION, C.SESSION_EPOCH, SPAN, F.when(F.col("is_new"), states_ids()).alias(BY_ID)
        )
        .withColumn("begin", F.when(begins, F.struct(epoch.alias("epoch"), F.coalesce(SPAN, epoch).alias("since"))))
        .withColumn("begin", F.last("begin", ignorenulls=True).over(so_far))
        .groupBy(C.BROKER_ID, SESSION, "begin.epoch", "begin.since")
        .agg(F.max(C.SESSION_EPOCH).alias("ends_with"), F.bool_or(BY_ID).alias(BY_ID))
        .select(
            F.col(C.BROKER_ID).alias("its_broker"), F.col(SESSION).alias("its_session"),
            F.col("epoch").alias("begins_with"), "ends_with", F.col("since").alias("unbroken_since"),
            F.bool_or(BY_ID).over(whole).alias(BY_ID),
        )
    )  # fmt: skip


def _by_stretch(spans: DataFrame) -> DataFrame:
    """One row per span and stretch of epochs that it touches."""
    touched = F.sequence(_stretch(F.col("begins_with")), _stretch(F.col("ends_with")))
    return spans.withColumn("its_stretch", F.explode(touched))


def _stretch(epoch: Column) -> Column:
    return F.floor(epoch / STRETCH)
