"""Fetch requests to fetches of a partition: what an incremental fetch session (KIP-227) leaves unsaid, said.

A request of a session lists only the partitions whose parameters changed, and is a fetch of every partition of the
session all the same (an empty `topics` still records each replica's LEO: `IncrementalFetchContext`). Writing them all
down would be requests x partitions rows; an implied fetch asks for the same offset as the one before it and changes
nothing but *when* the replica was last heard. So of a run of implied fetches only the last is a row: it bounds the run.

A response lists only the partitions with records, an error, or another HW or log start than the session was told last
(`FetchSession.CachedPartition.maybeUpdateResponseData`). So one that omits a partition tells its HW as well, unless
a quota was exceeded: then it lists none, and tells nothing (`KafkaApis.handleFetchRequest`).

One window along what names a partition in a session, and one, of two numbers a request, that finds where a session has
gaps (`sources.fetch_spans`). A broker's followers have one or two sessions: to lead windows along all that a request
has is to hold all of a log in one task.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.columns import UNKNOWN_OFFSET
from sources.fetch_names import (
    ANSWERED,
    FORGOTTEN,
    LISTED,
    NAMING,
    answer,
    as_if_answered,
    as_if_listed,
    by_name,
    params,
)
from sources.fetch_requests import IS_THROTTLED, SESSION, TURN, fetch_requests
from sources.fetch_spans import BY_ID, SPAN, SPAN_END, in_spans
from sources.resolve_topics import with_topic

REQUEST = [C.SESSION_EPOCH, SESSION, C.BROKER_ID]
"""What says which request it is; the epoch comes first where rows are sorted by it, sessions are few."""


def fetch_rows(parsed: DataFrame, ids: DataFrame, landed: DataFrame | None = None) -> DataFrame:
    """Rows of `fetch_events`: partitions listed or answered, and the last fetch of each run that names them not.

    `landed` has the rows of earlier deliveries: a session that began there goes on.
    """
    requests = fetch_requests(parsed)
    asked = requests.withColumns({c: F.col("turn")[c] for c in (C.SESSION_ID, C.EVENT_TIME)}).drop("turn")
    known = asked.withColumn(SPAN, F.lit(None).cast("int"))
    if landed is not None:
        known = known.unionByName(sessions_so_far(landed), allowMissingColumns=True)
    names = by_name(known.select(*REQUEST, C.EVENT_TIME, *NAMING.values(), "is_new"))
    in_turn = with_topic(in_spans(names, known), ids, F.col(C.EVENT_TIME))
    return _with_turns(in_turn.transform(_with_memory).transform(_fetches), requests)


def sessions_so_far(landed: DataFrame) -> DataFrame:
    """One row a fetch session: its last request, as if that and its response had named every partition of the session.

    That request has a row of each of them, for the last fetch of a run is a row.
    """
    session = Window.partitionBy(C.BROKER_ID, C.SESSION_ID).rowsBetween(
        Window.unboundedPreceding, Window.unboundedFollowing
    )
    is_last = F.col(C.SESSION_EPOCH) == F.max(C.SESSION_EPOCH).over(session)
    return (
        landed.where(F.col(C.SESSION_ID) != 0)
        .withColumn("is_last", is_last)
        .where("is_last")
        .groupBy(C.BROKER_ID, F.col(C.SESSION_ID).cast("string").alias(SESSION), C.SESSION_ID, C.SESSION_EPOCH)
        .agg(
            F.first(C.SESSION_UNBROKEN_SINCE).alias(SPAN),
            F.first(C.EVENT_TIME).alias(C.EVENT_TIME),
            as_if_listed().alias("listed"),
            as_if_answered().alias("answered"),
        )
        .withColumn("is_new", F.lit(False))
    )


def _with_memory(names: DataFrame) -> DataFrame:
    """Of each request and partition the last name, with the params in force and the end of the run it begins."""
    apart = F.when(F.coalesce(BY_ID, F.lit(True)), F.col(C.TOPIC_ID))
    partition = Window.partitionBy(C.BROKER_ID, SESSION, SPAN, apart, C.TOPIC, C.PARTITION)
    in_order = partition.orderBy(C.SESSION_EPOCH, "named_by")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    next_epoch = F.lead(C.SESSION_EPOCH).over(in_order)
    is_listed = F.col("named_by") == LISTED
    return (
        names.withColumns(
            {
                "memory": F.last("asked", ignorenulls=True).over(so_far),
                "listed_epoch": F.last(F.when(is_listed, F.col(C.SESSION_EPOCH)), ignorenulls=True).over(so_far),
                "told": F.last(_told(), ignorenulls=True).over(so_far),
                "run_end": F.coalesce(next_epoch - 1, SPAN_END),
                "is_last_name": next_epoch.isNull() | (next_epoch > F.col(C.SESSION_EPOCH)),
            }
        )
        .where("is_last_name")
        .where((F.col("named_by") != FORGOTTEN) & F.col("memory.listed.fetchOffset").isNotNull())
    )


def _told() -> Column:
    """The HW that the session remembers from here on: none after an error, nor of a partition that it forgets."""
    named_by, said = F.col("named_by"), answer(F.col("answered"))
    return F.when(named_by == FORGOTTEN, F.lit(UNKNOWN_OFFSET)).when(
        named_by == ANSWERED,
        F.when(said[C.ERROR_CODE] == 0, said[C.RESPONSE_HIGH_WATERMARK]).otherwise(UNKNOWN_OFFSET),
    )


def _fetches(names: DataFrame) -> DataFrame:
    """The fetch that names the partition and, where others follow that do not, the last of them.

    A response that omits the partition reports no error, and no change of HW.
    """
    each = F.array(
        F.when(F.col("is_new"), F.col(C.SESSION_EPOCH)),
        F.when(F.col("run_end") > F.col(C.SESSION_EPOCH), F.col("run_end")),
    )
    fetches = names.select("*", F.explode(each).alias("at")).where(F.col("at").isNotNull())
    answered = F.when(F.col("at") == F.col(C.SESSION_EPOCH), F.col("answered"))
    of_partition = params(F.col("memory.listed")) | answer(answered)
    return fetches.select(
        F.col("at").alias(C.SESSION_EPOCH), SESSION, C.BROKER_ID, C.TOPIC_ID, C.TOPIC, C.PARTITION, SPAN,
        *[column.alias(name) for name, column in of_partition.items()],
        F.coalesce(F.col("told"), F.lit(UNKNOWN_OFFSET)).alias(C.SESSION_HIGH_WATERMARK),
        F.coalesce(F.col("at") != F.col("listed_epoch"), F.lit(True)).alias(C.IS_IMPLIED),
    )  # fmt: skip


def _with_turns(fetches: DataFrame, requests: DataFrame) -> DataFrame:
    """The fetches with what their requests have of themselves; outside any session none is unbroken.

    An answer to a request over its quota says nothing of the HW, but its session remembers what it was told.
    """
    own = [F.col("turn")[c].alias(c) for c in TURN if c != C.SESSION_EPOCH]
    since = F.when(F.col(C.SESSION_ID) == 0, -1).otherwise(F.col(SPAN))
    told = F.when(F.col(IS_THROTTLED), UNKNOWN_OFFSET).otherwise(F.col(C.SESSION_HIGH_WATERMARK))
    return (
        fetches.join(requests.select(*REQUEST, *own), REQUEST)
        .withColumns({C.SESSION_UNBROKEN_SINCE: since, C.LEADER_EPOCH: _leader_epoch(), C.SESSION_HIGH_WATERMARK: told})
        .select(*T.FETCH_EVENTS.parsed)
    )


def _leader_epoch() -> Column:
    """A broker that answers without an error is in the epoch the request names."""
    is_stated = (F.col(C.ERROR_CODE) == 0) & (F.col(C.CURRENT_LEADER_EPOCH) >= 0)
    return F.when(is_stated, F.col(C.CURRENT_LEADER_EPOCH)).otherwise(C.UNKNOWN_EPOCH)
