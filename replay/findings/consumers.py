"""Consumers that were given records which later vanished; known by their client ids."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.finding import finding, text
from replay.findings.losses import LOSS, is_replaced
from replay.findings.lost_ranges import PREVIOUS_EPOCH, STARTS
from replay.readable import READABLE
from replay.windows import FIRST
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_BOUND, UNKNOWN_OFFSET
from schemas.kinds import IncidentKind, Severity

_READ_TO, _MAY_HAVE_READ_TO = "read_to", "may_have_read_to"
"""bigint: up to where a fetch shows that its client had read, or may have."""
_IS_SURE = "is_sure"
_CAME_TO = "came_to"
"""bigint: a position of which no line tells how its client came there."""


def reads_of_lost_records(landed: Mapping[str, DataFrame], lost: DataFrame) -> DataFrame:
    """One row per range gone and client that had read of it from an earlier leader, or may have.

    What it surely read is critical; what it may have read, and no line tells whether it did, a warning.
    """
    consumed = _reads(landed[T.FETCH_EVENTS.name], lost).withColumnRenamed(C.LEADER_EPOCH, "epoch")
    # A position in the range is one in the records that are gone only while their leaders led.
    is_restart = F.col("epoch") == F.col(C.LEADER_EPOCH)
    is_before = (F.col("epoch") <= F.col(PREVIOUS_EPOCH)) & ~(is_restart & (F.col(C.EVENT_TIME) >= F.col(C.STARTED_AT)))
    reaches = F.col(_MAY_HAVE_READ_TO) > F.col(C.FROM_OFFSET)
    is_sure = (F.col(_READ_TO) > F.col(C.FROM_OFFSET)) & (F.col(C.FETCH_OFFSET) < F.col(C.TO_OFFSET))
    ranges = lost.select(*LOSS, C.CAPTURE_ID, C.LEADER_ID, C.STARTED_AT, PREVIOUS_EPOCH, STARTS)
    rows = (
        consumed.join(F.broadcast(ranges), C.on_partition())
        .where(is_before & ~is_replaced("epoch", C.FROM_OFFSET) & reaches)
        .groupBy(*LOSS, C.CAPTURE_ID, C.LEADER_ID, C.CLIENT_ID)
        .agg(
            F.min(C.EVENT_TIME).alias(C.STARTED_AT),
            F.max(C.EVENT_TIME).alias(C.ENDED_AT),
            F.bool_or(is_sure).alias(_IS_SURE),
            F.min(F.when(is_sure, F.col(C.FETCH_OFFSET))).alias("sure_from"),
            F.least(F.max(F.when(is_sure, F.col(_READ_TO))), C.TO_OFFSET).alias(_READ_TO),
            F.least(F.max(_MAY_HAVE_READ_TO), C.TO_OFFSET).alias(_MAY_HAVE_READ_TO),
            F.min_by(_CAME_TO, F.when(F.col(_CAME_TO).isNotNull(), F.col(C.EVENT_TIME))).alias(_CAME_TO),
        )
    )
    return _findings(rows)


def _reads(fetched: DataFrame, lost: DataFrame) -> DataFrame:
    """One row per successful fetch of a consumer, of partitions that lost records: what it had read, or may have.

    Of the records in a response as much was read as the client's next position says. Where none follows it may be all
    that a consumer is given; a position under a later leader may have been set back to where the logs part (KIP-320),
    and bounds nothing. Who is first seen at a position may have read all below it, or have begun there, as at the end
    of the log; so may who is farther on than it was given.
    """
    in_order = Window.partitionBy(*C.PARTITION_KEY, C.CLIENT_ID).orderBy(
        C.LEADER_EPOCH, C.EVENT_TIME, C.CAPTURE_ID, C.SOURCE_FILE, C.SOURCE_LINE
    )
    of_losses = F.broadcast(lost.select(*C.PARTITION_KEY).distinct())
    consumed = fetched.where(F.col(C.REPLICA_ID) < 0).join(of_losses, C.on_partition(), "left_semi")
    bound, asked, goes_on_at = F.expr(READABLE), F.col(C.FETCH_OFFSET), F.col("then")[C.FETCH_OFFSET]
    is_given = (F.col(C.RECORDS_SIZE) > 0) & (bound > asked)
    # A response that tells no bound bounds nothing.
    end = F.when(bound < 0, NO_BOUND).otherwise(bound)
    reach = F.when(is_given, bound).otherwise(asked)
    known = consumed.withColumns(
        {
            "then": F.lead(F.struct(C.LEADER_EPOCH, C.FETCH_OFFSET)).over(in_order),
            "known_to": F.max(reach).over(in_order.rowsBetween(FIRST, -1)),
        }
    )
    goes_on = F.coalesce((F.col(C.RECORDS_SIZE) > 0) & (goes_on_at > asked) & (goes_on_at <= end), F.lit(False))
    is_all = goes_on & (F.col("then")[C.LEADER_EPOCH] == F.col(C.LEADER_EPOCH))
    read_to = F.when(goes_on, goes_on_at).otherwise(UNKNOWN_OFFSET)
    came_to = F.when((asked > 0) & (F.col("known_to").isNull() | (asked > F.col("known_to"))), asked)
    may_be = F.greatest(F.when(is_given & ~is_all, bound).otherwise(read_to), came_to)
    return known.where(F.col(C.ERROR_CODE) == 0).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.CLIENT_ID, C.EVENT_TIME, C.FETCH_OFFSET, read_to.alias(_READ_TO),
        may_be.alias(_MAY_HAVE_READ_TO), came_to.alias(_CAME_TO),
    )  # fmt: skip


def _findings(rows: DataFrame) -> DataFrame:
    """One finding per consumer and range it read, or may have."""
    is_sure = F.col(_IS_SURE)
    until = F.when(is_sure, F.col(_READ_TO)).otherwise(F.col(_MAY_HAVE_READ_TO))
    # A read that is only possible begins with the range: a position within it, with records after, would make it sure.
    first = F.when(is_sure, F.greatest("sure_from", C.FROM_OFFSET)).otherwise(F.col(C.FROM_OFFSET))
    more = F.when(is_sure & (F.col(_MAY_HAVE_READ_TO) > until), text(" and perhaps up to {}", _MAY_HAVE_READ_TO))
    why_unsure = F.when(
        F.col(_CAME_TO) > F.col(C.FROM_OFFSET), text(": no line tells how it came to its position {}", _CAME_TO)
    ).otherwise(": it was given records, and no later position tells how many it read")
    evidence = text(
        "client {} {} [{}, {}){} before leader {} was elected in epoch {}, whose log does not hold them{}",
        C.CLIENT_ID, F.when(is_sure, "read").otherwise("may have read"), first, until, F.coalesce(more, F.lit("")),
        C.LEADER_ID, C.LEADER_EPOCH, F.when(is_sure, "").otherwise(why_unsure),
    )  # fmt: skip
    severity = F.when(is_sure, Severity.CRITICAL.value).otherwise(Severity.WARNING.value)
    return finding(rows, IncidentKind.CONSUMER_READ_LOST_RECORDS, severity, evidence, offsets=(first, until))
