"""The loss ledger: ranges that the log of a later elected leader does not hold, though an earlier leader's log did.

The log of a partition is its leader's. At each leadership the records from where the new leader's log parts from its
predecessor's up to the predecessor's LEO are gone, whatever anybody acknowledged. They were committed below the
highest HW any leader of this topic id had reached before, and were not at and above it.

Retention and DeleteRecords move the log start and compaction leaves gaps: no LEO goes back. A re-created topic has
another topic id, so another partition key.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.cutters import SEEN_IN
from replay.findings.spans import END_LEO, NUMBER, REQUESTS, SPAN, START_LEO
from replay.windows import FIRST
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import IncidentKind as Kind
from schemas.kinds import Method

LOSS = (*SPAN, C.FROM_OFFSET, C.TO_OFFSET)
PREVIOUS_LEADER, PREVIOUS_EPOCH = "previous_leader_id", "previous_leader_epoch"
HAD_UP_TO = "had_up_to"
"""bigint: exclusive end of what the previous leader's log held."""
SPLIT_AT = "split_at"
"""bigint: end of the records the new leader's log and its predecessor's have in common."""
STARTS = "starts"
"""array<struct<leader_epoch,start_log_end_offset>>: where the logs of earlier leaderships began to grow."""
_HW, _HW_HIGH = "highest_hw", "highest_hw_high"
_TOLD = "told"
"""bigint: leaderships so far whose begin a line tells."""


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
    split = _with_split(_with_previous(led), took_part)
    gone = _with_end(split, truncations)
    return _classed(_with_reason(gone, silent_epochs(landed, led)))


def _with_previous(led: DataFrame) -> DataFrame:
    """Return the leaderships that have one before them, with what that and all before it had reached.

    Of leaderships in between whose begin no line tells nobody knows what they had lost: the one before that had the
    longest log of them is compared with.
    """
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, NUMBER)
    before = in_order.rowsBetween(FIRST, -1)
    began = F.struct(C.LEADER_EPOCH, START_LEO)
    had = F.struct(END_LEO, C.LEADER_EPOCH, NUMBER, C.LEADER_ID, REQUESTS, C.LOG_START_OFFSET, _TOLD)
    # Where no HW is known at all, all that the log held may have been committed.
    highest = F.when(F.col(C.HIGH_WATERMARK) < 0, F.greatest(C.HIGH_WATERMARK_HIGH, END_LEO))
    told = led.withColumn(_TOLD, F.count(START_LEO).over(in_order.rowsBetween(FIRST, Window.currentRow)))
    known = told.withColumns(
        {
            "had": F.collect_list(had).over(before),
            STARTS: F.filter(F.collect_list(began).over(before), lambda it: it[START_LEO].isNotNull()),
            _HW: F.max(C.HIGH_WATERMARK).over(before),
            _HW_HIGH: F.max(F.coalesce(highest, C.HIGH_WATERMARK_HIGH)).over(before),
        }
    ).where(F.col(START_LEO).isNotNull())
    since = F.filter("had", lambda it: it[_TOLD] == F.col(_TOLD) - 1)
    previous = known.withColumn("had", F.array_max(since)).where(F.col("had").isNotNull())
    return previous.withColumns(
        {
            PREVIOUS_LEADER: F.col("had")[C.LEADER_ID],
            PREVIOUS_EPOCH: F.col("had")[C.LEADER_EPOCH],
            HAD_UP_TO: F.col("had")[END_LEO],
            "previous_requests": F.col("had")[REQUESTS],
            "previous_log_start": F.col("had")[C.LOG_START_OFFSET],
        }
    ).drop("had", _TOLD)


def _with_split(led: DataFrame, took_part: DataFrame) -> DataFrame:
    """Return the leaderships with `split_at`.

    A leader that took part in the epoch before holds a prefix of that log: they part at its LEO. One that was away
    since an older epoch holds that epoch's tail in place of what later leaders appended (an unclean election): they
    part where the first epoch it missed began, if its log was as long already when it went away.
    """
    seen = F.struct(F.col(C.LEADER_EPOCH).alias("epoch"), F.col(C.LOG_END_OFFSET).alias("leo"))
    away = took_part.groupBy(*C.PARTITION_KEY, F.col(C.REPLICA_ID).alias(C.LEADER_ID)).agg(
        F.sort_array(F.collect_list(seen)).alias("seen")
    )
    earlier = F.filter("seen", lambda it: it["epoch"] < F.col(C.LEADER_EPOCH))
    known = led.join(away, C.on_partition(C.LEADER_ID), "left").withColumn(
        "last_seen", F.get(earlier, F.size(earlier) - 1)
    )
    missed = F.filter(STARTS, lambda it: it[C.LEADER_EPOCH] > F.col("last_seen.epoch"))
    missed_from = F.array_min(F.transform(missed, lambda it: it[START_LEO]))
    has_old_tail = (F.col(NUMBER) == 1) & (F.col("last_seen.leo") >= F.col(START_LEO))
    parted = F.when(has_old_tail, F.least(F.col(START_LEO), missed_from)).otherwise(F.col(START_LEO))
    return known.withColumn(SPLIT_AT, parted)


def _with_end(split: DataFrame, truncations: DataFrame) -> DataFrame:
    """Return the leaderships with the end of what the previous leader's log held.

    An append in flight when the broker was killed is in no request log; what that broker cut off when it came back
    tells of it, before it had fetched from anybody. A "Truncating to offset" whose LEO before is unknown removed one
    record at least.
    """
    cut = F.struct(F.col(C.LEADER_EPOCH).alias("epoch"), C.EVENT_TIME, C.FROM_OFFSET, C.TO_OFFSET, SEEN_IN)
    of_replica = (
        truncations.where(F.col(C.METHOD) != Method.RESTART.value)
        .groupBy(*C.PARTITION_KEY, F.col(C.REPLICA_ID).alias(PREVIOUS_LEADER))
        .agg(F.sort_array(F.collect_list(cut)).alias("all_cuts"))
    )
    since = F.filter(
        "all_cuts",
        lambda it: (
            (it["epoch"] >= F.col(C.LEADER_EPOCH))
            & F.coalesce(it[SEEN_IN] < F.col(C.LEADER_EPOCH), F.lit(True))
            & (it[C.TO_OFFSET] <= F.col(SPLIT_AT))
        ),
    )
    with_cut = split.join(of_replica, C.on_partition(PREVIOUS_LEADER), "left").withColumn("cut", F.get(since, F.lit(0)))
    at_least = F.when(
        (F.col(f"cut.{C.FROM_OFFSET}") < 0) & (F.col(f"cut.{C.TO_OFFSET}") == F.col(SPLIT_AT)), F.col(SPLIT_AT) + 1
    ).otherwise(F.col(f"cut.{C.FROM_OFFSET}"))
    known = with_cut.withColumn(HAD_UP_TO, F.greatest(HAD_UP_TO, at_least))
    # Below its log start the previous leader kept nothing either: retention is no loss.
    return known.withColumn(SPLIT_AT, F.greatest(SPLIT_AT, "previous_log_start")).where(
        F.col(SPLIT_AT) < F.col(HAD_UP_TO)
    )


def silent_epochs(landed: Mapping[str, DataFrame], led: DataFrame) -> DataFrame:
    """One row per leader epoch whose leader gave the capture no file: nothing is known of what it appended."""
    changes = landed[T.LEADER_CHANGES.name]
    told = changes.select(*C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID).unionByName(
        landed[T.METADATA_CHANGES.name].select(*C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID)
    )
    heard = changes.select(C.CLUSTER_ID, F.col(C.BROKER_ID).alias(C.LEADER_ID)).distinct()
    return (
        told.where((F.col(C.LEADER_ID) >= 0) & (F.col(C.LEADER_EPOCH) >= 0))
        .distinct()
        .join(led.select(*C.PARTITION_KEY, C.LEADER_EPOCH), C.on_partition(C.LEADER_EPOCH), "left_anti")
        .join(heard, [str(C.CLUSTER_ID), str(C.LEADER_ID)], "left_anti")
        .select(*C.PARTITION_KEY, F.struct(C.LEADER_EPOCH, C.LEADER_ID).alias("silent"))
    )


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
    why = F.when(epoch.isNotNull(), unheard).when(F.col("previous_requests") == 0, no_requests)
    return known.withColumn("why_unknown", why)


def _classed(gone: DataFrame) -> DataFrame:
    """One row per range and class: below every HW reached, between the bounds of the highest, above it."""
    start, end = F.col(SPLIT_AT), F.col(HAD_UP_TO)
    low = F.coalesce(F.col(_HW), F.lit(-1))
    # The gap in the capture widens the upper bound to everything that is gone.
    high = F.when(F.col("why_unknown").isNotNull(), end).otherwise(F.greatest(low, F.col(_HW_HIGH)))

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
        {_HW: C.PARTITION_HIGH_WATERMARK_BEFORE}
    )
