"""The loss ledger: ranges that the log of a later elected leader does not hold, by whether they had been committed.

They were below the highest HW any leader of this topic id had reached before, and were not at and above it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.findings.leaders_logs import SPLIT_AT
from replay.findings.lost_ranges import (
    HAD_UP_TO,
    HIGHEST_HW,
    HIGHEST_HW_HIGH,
    PREVIOUS_EPOCH,
    PREVIOUS_REQUESTS,
    STARTS,
    lost_ranges,
)
from replay.findings.silent_epochs import silent_epochs
from replay.findings.spans import SPAN, START_LEO
from schemas import columns as C
from schemas.kinds import IncidentKind as Kind

LOSS = (*SPAN, C.FROM_OFFSET, C.TO_OFFSET)


def is_replaced(epoch: str, offset: str) -> Column:
    """Return whether a leadership in `STARTS` after `epoch` began at or below `offset`: its log has other records."""
    return F.exists(STARTS, lambda it: (it[C.LEADER_EPOCH] > F.col(epoch)) & (it[START_LEO] <= F.col(offset)))


def losses(
    landed: Mapping[str, DataFrame],
    led: DataFrame,
    took_part: DataFrame,
    truncations: DataFrame,
) -> DataFrame:
    """One row per range gone and class: `LOSS`, kind, `why_unknown` and what is known of both leaderships.

    `led` is `spans.spans`, `took_part` `contacts.contacts`, `truncations` have `cutters.SEEN_IN`.
    """
    gone = lost_ranges(led, took_part, truncations)
    return _classed(_with_reason(gone, silent_epochs(landed, led)))


def _with_reason(gone: DataFrame, silent: DataFrame) -> DataFrame:
    """Return the ranges with `why_unknown`: why the HW may have been higher than known; NULL where it was not."""
    missed = F.filter(
        "silents",
        lambda it: (it[C.LEADER_EPOCH] < F.col(C.LEADER_EPOCH)) & (it[C.LEADER_EPOCH] > F.col(PREVIOUS_EPOCH)),
    )
    per_partition = silent.groupBy(*C.PARTITION_KEY).agg(F.collect_list("silent").alias("silents"))
    known = gone.join(per_partition, C.on_partition(), "left").withColumn("silent", F.array_max(missed))
    epoch = F.col(f"silent.{C.LEADER_EPOCH}")
    leader = F.col(f"silent.{C.LEADER_ID}").cast("string")
    unheard = F.concat(
        F.lit("leader "), leader, F.lit(" of epoch "), epoch.cast("string"), F.lit(" left no file in the capture")
    )
    no_requests = F.concat(
        F.lit("no request to the leader of epoch "), F.col(PREVIOUS_EPOCH).cast("string"), F.lit(" is in the capture")
    )
    why = F.when(epoch.isNotNull(), unheard).when(F.col(PREVIOUS_REQUESTS) == 0, no_requests)
    return known.withColumn("why_unknown", why)


def _classed(gone: DataFrame) -> DataFrame:
    """One row per range and class: below every HW reached, between the bounds of the highest, above it."""
    start, end = F.col(SPLIT_AT), F.col(HAD_UP_TO)
    low = F.coalesce(F.col(HIGHEST_HW), F.lit(-1))
    # The gap in the capture widens the upper bound to everything that is gone.
    high = F.when(F.col("why_unknown").isNotNull(), end).otherwise(F.greatest(low, F.col(HIGHEST_HW_HIGH)))

    def part(kind: Kind, first: Column, last: Column) -> Column:
        return F.struct(F.lit(str(kind.value)).alias(C.KIND), first.alias(C.FROM_OFFSET), last.alias(C.TO_OFFSET))

    def clamp(offset: Column) -> Column:
        return F.greatest(start, F.least(offset, end))

    parts = F.array(
        part(Kind.COMMITTED_RECORDS_LOST, start, clamp(low)),
        part(Kind.RECORDS_LOST_UNKNOWN_IF_COMMITTED, clamp(low), clamp(high)),
        part(Kind.UNCOMMITTED_RECORDS_LOST, clamp(high), end),
    )
    bounded = F.lit("the highest HW before is known between bounds only")
    rows = gone.withColumn("part", F.explode(parts)).select("*", "part.*").where(C.FROM_OFFSET + " < " + C.TO_OFFSET)
    return rows.withColumn("why_unknown", F.coalesce("why_unknown", bounded)).withColumnsRenamed(
        {HIGHEST_HW: C.PARTITION_HIGH_WATERMARK_BEFORE}
    )
