"""Gaps in fetch sessions (KIP-227): requests missing from the capture, after which their partitions are unknown."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.finding import finding, text
from schemas import columns as C
from schemas.kinds import IncidentKind, Severity

_SESSION = (C.CLUSTER_ID, C.BROKER_ID, C.REPLICA_ID, C.SESSION_ID)


def session_gaps(fetches: DataFrame) -> DataFrame:
    """One row per gap in the numbers of a follower's fetch session; of the session, thus of no partition.

    Of a run of fetches that do not name a partition only the last has a row, so that numbers without a row are no gap
    by themselves. But the last request before a gap has a row of every partition, and the first after it names what it
    asks for: a partition named after the jump whose last row is right before it had fetches in between that are lost.
    Or it was forgotten in between: then the runs of others go through all those numbers. Where every partition had
    failed, all were forgotten, by one request; a single one that is lost is not told from that.
    """
    in_order = Window.partitionBy(*_SESSION).orderBy(C.SESSION_EPOCH)
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    epoch, before = F.col(C.SESSION_EPOCH), F.col("before")
    known = _requests(fetches).withColumns(
        {
            "before": F.lag(C.SESSION_EPOCH).over(in_order),
            C.STARTED_AT: F.lag(C.ENDED_AT).over(in_order),
            "is_run_through": F.coalesce(F.max("runs_until").over(earlier) >= epoch, F.lit(False)),
            "had_failed": F.lag("has_failed").over(in_order),
        }
    )
    is_lost = (epoch > before + 1) & (F.col("row_before") == before)
    is_all_forgotten = F.col("had_failed") & (epoch == before + 2)
    gaps = known.where(is_lost & ~F.col("is_run_through") & ~is_all_forgotten).withColumns(
        {
            C.TOPIC: F.lit(""),
            C.TOPIC_ID: F.lit(""),
            C.PARTITION: F.lit(-1),
            C.LEADER_EPOCH: F.lit(-1),
        }
    )
    evidence = text(
        "fetch session {} of replica {} at broker {}: request {} follows {}",
        C.SESSION_ID, C.REPLICA_ID, C.BROKER_ID, C.SESSION_EPOCH, "before",
    )  # fmt: skip
    return finding(gaps, IncidentKind.FETCH_SESSION_GAP, Severity.WARNING, evidence, replica_id=F.col(C.REPLICA_ID))


def _requests(fetches: DataFrame) -> DataFrame:
    """One row per request of a session after its first, and what its partitions' rows before and after it tell.

    Its number, `row_before`: the greatest of a row before it, `runs_until`: the greatest up to which a run goes that
    begins with it, `has_failed`: whether every partition that it has a row of was answered with an error.
    """
    in_session = _of_sessions_with_missing_numbers(
        fetches.where((F.col(C.SESSION_ID) > 0) & (F.col(C.SESSION_EPOCH) > 0) & (F.col(C.REPLICA_ID) >= 0))
    )
    of_partition = Window.partitionBy(*_SESSION, C.TOPIC, C.TOPIC_ID, C.PARTITION).orderBy(C.SESSION_EPOCH)
    is_unnamed = F.col(C.IS_IMPLIED) & (F.col(C.ERROR_CODE) == 0) & (F.col(C.RESPONSE_HIGH_WATERMARK) < 0)
    around = in_session.withColumn("ends_run_at", F.when(is_unnamed, F.col(C.SESSION_EPOCH))).withColumns(
        {
            "row_before": F.lag(C.SESSION_EPOCH).over(of_partition),
            "runs_until": F.lead("ends_run_at").over(of_partition),
        }
    )
    return around.groupBy(*_SESSION, C.SESSION_EPOCH).agg(
        F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
        F.min(C.EVENT_TIME).alias(C.ENDED_AT),
        F.max("row_before").alias("row_before"),
        F.max("runs_until").alias("runs_until"),
        F.bool_and(F.col(C.ERROR_CODE) > 0).alias("has_failed"),
    )


def _of_sessions_with_missing_numbers(in_session: DataFrame) -> DataFrame:
    """Return the rows of the sessions that have a gap at all: only these need to be put in order.

    Numbers are counted as bits of one word for 64 of them: a row of each number would be as many as there are fetches.
    """
    epoch = F.col(C.SESSION_EPOCH)
    bit = F.expr(f"shiftleft(1L, cast({C.SESSION_EPOCH} & 63 AS int))")
    words = in_session.groupBy(*_SESSION, F.shiftright(epoch, 6).alias("word")).agg(
        F.bit_count(F.bit_or(bit)).alias("numbers"), F.min(epoch).alias("first"), F.max(epoch).alias("last")
    )
    lasted = F.max("last") - F.min("first") + 1
    missing = words.groupBy(*_SESSION).agg((lasted > F.sum("numbers")).alias("is_missing")).where("is_missing")
    return in_session.join(F.broadcast(missing.drop("is_missing")), [*map(str, _SESSION)], "left_semi")
