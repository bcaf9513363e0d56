"""Fetch requests to fetches of a partition: what an incremental fetch session (KIP-227) leaves unsaid, said.

A request of a session lists only the partitions whose parameters changed, and is a fetch of every partition of the
session all the same (kafka-semantics: an empty `topics` still records each replica's LEO). Writing them all down would
be requests x partitions rows; an implied fetch asks for the same offset as the one before it and changes nothing but
*when* the replica was last heard. So of a run of implied fetches only the last is a row: it bounds the run.

A response lists only the partitions with records, an error, or another HW or log start than the session was told last
(`FetchSession.CachedPartition.maybeUpdateResponseData`). So one that omits a partition tells its HW as well.

Two windows and no join: one along a session's requests, one along what names a partition in a session.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.columns import UNKNOWN_OFFSET
from sources.fetch_names import ANSWER, ANSWERED, FORGOTTEN, LISTED, as_if_answered, as_if_listed, by_name, states_ids
from sources.fetch_requests import SESSION, TURN, fetch_requests
from sources.resolve_topics import with_topic

SPAN = "span"
"""int: session epoch that the part of a session begins with whose requests follow each other without a gap; after a gap
nothing is known of the session."""
_BY_ID = "by_id"
"""bool: the session's partitions go by topic ids (KIP-516), not by names; NULL where no new request names one. By name,
a topic that is created anew takes the place of the one before it."""


def fetch_rows(parsed: DataFrame, ids: DataFrame, landed: DataFrame | None = None) -> DataFrame:
    """Rows of `fetch_events`: partitions listed or answered, and the last fetch of each run that names them not.

    `landed` has the rows of earlier deliveries: a session that began there goes on.
    """
    requests = fetch_requests(parsed).withColumn(SPAN, F.lit(None).cast("int"))
    known = requests if landed is None else requests.unionByName(sessions_so_far(landed), allowMissingColumns=True)
    names = known.transform(_in_turn).transform(by_name)
    return with_topic(names, ids, F.col(f"turn.{C.EVENT_TIME}")).transform(_with_memory).transform(_fetches)


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
        .groupBy(C.BROKER_ID, F.col(C.SESSION_ID).cast("string").alias(SESSION), C.SESSION_EPOCH)
        .agg(
            F.first(C.SESSION_UNBROKEN_SINCE).alias(SPAN),
            F.first(F.struct(*TURN)).alias("turn"),
            as_if_listed().alias("listed"),
            as_if_answered().alias("answered"),
        )
        .withColumn("is_new", F.lit(False))
    )


def _in_turn(requests: DataFrame) -> DataFrame:
    """Each request with its span, the one before it in there, and the last one of it.

    A span of an earlier delivery's is known as it landed.
    """
    session = Window.partitionBy(C.BROKER_ID, SESSION).orderBy(C.SESSION_EPOCH)
    so_far = session.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    epoch, before, after = F.col(C.SESSION_EPOCH), F.lag("turn").over(session), F.lead(C.SESSION_EPOCH).over(session)
    whole = session.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    by_id = F.bool_or(F.when(F.col("is_new"), states_ids())).over(whole)
    is_end = F.coalesce(after > epoch + 1, F.lit(True))
    told = requests.withColumns({"before": before, "is_end": is_end, _BY_ID: by_id})
    begins = F.coalesce(F.col("before")[C.SESSION_EPOCH] < epoch - 1, F.lit(True))
    ends = told.withColumns(
        {SPAN: F.when(begins, F.coalesce(SPAN, epoch)), "end": F.when(F.col("is_end"), F.col("turn"))}
    )
    in_session = f"PARTITION BY {C.BROKER_ID}, {SESSION} ORDER BY {C.SESSION_EPOCH}"
    return ends.withColumns(
        {
            SPAN: F.last(SPAN, ignorenulls=True).over(so_far),
            "previous": F.when(begins, F.lit(None)).otherwise(F.col("before")),
            "final": F.coalesce("end", F.expr(f"lead(end) IGNORE NULLS OVER ({in_session})")),
        }
    ).drop("before", "is_end", "end")


def _with_memory(names: DataFrame) -> DataFrame:
    """Of each request and partition the last name, with the params in force and the end of the run it begins."""
    apart = F.when(F.coalesce(_BY_ID, F.lit(True)), F.col(C.TOPIC_ID))
    partition = Window.partitionBy(C.BROKER_ID, SESSION, SPAN, apart, C.TOPIC, C.PARTITION)
    in_order = partition.orderBy(C.SESSION_EPOCH, "named_by")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    next_epoch = F.lead(C.SESSION_EPOCH).over(in_order)
    is_listed = F.col("named_by") == LISTED
    return (
        names.withColumns(
            {
                "memory": F.last("params", ignorenulls=True).over(so_far),
                "listed_epoch": F.last(F.when(is_listed, F.col(C.SESSION_EPOCH)), ignorenulls=True).over(so_far),
                "told": F.last(_told(), ignorenulls=True).over(so_far),
                "run_end": F.when(next_epoch.isNull(), F.col("final")).otherwise(F.lead("previous").over(in_order)),
                "is_last_name": next_epoch.isNull() | (next_epoch > F.col(C.SESSION_EPOCH)),
            }
        )
        .where("is_last_name")
        .where((F.col("named_by") != FORGOTTEN) & F.col(f"memory.{C.FETCH_OFFSET}").isNotNull())
    )


def _told() -> Column:
    """The HW that the session remembers from here on: none after an error, nor of a partition that it forgets."""
    named_by, answer = F.col("named_by"), F.col("answer")
    return F.when(named_by == FORGOTTEN, F.lit(UNKNOWN_OFFSET)).when(
        named_by == ANSWERED,
        F.when(answer[C.ERROR_CODE] == 0, answer[C.RESPONSE_HIGH_WATERMARK]).otherwise(UNKNOWN_OFFSET),
    )


def _fetches(names: DataFrame) -> DataFrame:
    """The fetch that names the partition and, where others follow that do not, the last of them.

    A response that omits the partition reports no error, and no change of HW.
    """
    goes_on = F.col(f"run_end.{C.SESSION_EPOCH}") > F.col(C.SESSION_EPOCH)
    which = F.array(F.when(F.col("is_new"), F.lit(True)), F.when(goes_on, F.lit(False)))
    fetches = names.select("*", F.explode(which).alias("names_it")).where(F.col("names_it").isNotNull())
    is_unlisted = F.coalesce(F.col(C.SESSION_EPOCH) != F.col("listed_epoch"), F.lit(True))
    said = {c: F.when(F.col("names_it"), F.col("answer")[c]) for c in ANSWER}
    return (
        fetches.withColumn("turn", F.when(F.col("names_it"), F.col("turn")).otherwise(F.col("run_end")))
        .select(
            C.BROKER_ID, C.TOPIC_ID, C.TOPIC, C.PARTITION, "memory.*",
            *[F.col("turn")[c].alias(c) for c in TURN],
            F.when(F.col(f"turn.{C.SESSION_ID}") == 0, -1).otherwise(F.col(SPAN)).alias(C.SESSION_UNBROKEN_SINCE),
            *[F.coalesce(said[c], F.lit(0 if c == C.ERROR_CODE else -1)).cast(c.type).alias(c) for c in ANSWER],
            F.coalesce(F.col("told"), F.lit(UNKNOWN_OFFSET)).alias(C.SESSION_HIGH_WATERMARK),
            (~F.col("names_it") | is_unlisted).alias(C.IS_IMPLIED),
        )
        .withColumn(C.LEADER_EPOCH, _leader_epoch())
        .select(*T.FETCH_EVENTS.parsed)
    )  # fmt: skip


def _leader_epoch() -> Column:
    """A broker that answers without an error is in the epoch the request names."""
    is_stated = (F.col(C.ERROR_CODE) == 0) & (F.col(C.CURRENT_LEADER_EPOCH) >= 0)
    return F.when(is_stated, F.col(C.CURRENT_LEADER_EPOCH)).otherwise(C.UNKNOWN_EPOCH)
