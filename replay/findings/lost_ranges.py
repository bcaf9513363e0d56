"""Lost ranges: what the log of a later elected leader does not hold, though an earlier leader's log did.

The log of a partition is its leader's. At each leadership the records from where the new leader's log parts from its
predecessor's up to the predecessor's LEO are gone, whatever anybody acknowledged.

Retention and DeleteRecords move the log start and compaction leaves gaps: no LEO goes back. A re-created topic has
another topic id, so another partition key.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.cutters import SEEN_IN
from replay.findings.leaders_logs import SPLIT_AT, splits
from replay.findings.spans import END_LEO, NUMBER, REQUESTS, SPAN, START_LEO
from replay.windows import FIRST
from schemas import columns as C
from schemas.kinds import Method

PREVIOUS_LEADER, PREVIOUS_EPOCH = "previous_leader_id", "previous_leader_epoch"
PREVIOUS_REQUESTS = "previous_requests"
"""bigint: how many requests to the previous leader are in the capture."""
HAD_UP_TO = "had_up_to"
"""bigint: exclusive end of what the previous leader's log held."""
STARTS = "starts"
"""array<struct<leader_epoch,start_log_end_offset>>: where the logs of earlier leaderships began to grow."""
HIGHEST_HW, HIGHEST_HW_HIGH = "highest_hw", "highest_hw_high"
"""bigint: the bounds of the highest HW that any leadership before had reached."""
_TOLD = "told"
"""bigint: leaderships so far whose begin a line tells."""


def lost_ranges(led: DataFrame, took_part: DataFrame, truncations: DataFrame) -> DataFrame:
    """One row per leadership that has less than its predecessor had: from `split_at` to `had_up_to`, as above.

    `led` is `spans.spans`, `took_part` `contacts.contacts`, `truncations` have `cutters.SEEN_IN`.
    """
    split = _with_previous(led).join(splits(led, took_part), [*map(str, SPAN)])
    return _with_end(split, truncations)


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
            HIGHEST_HW: F.max(C.HIGH_WATERMARK).over(before),
            HIGHEST_HW_HIGH: F.max(F.coalesce(highest, C.HIGH_WATERMARK_HIGH)).over(before),
        }
    )
    since = F.filter("had", lambda it: it[_TOLD] == F.col(_TOLD) - 1)
    previous = known.withColumn("had", F.array_max(since)).where(F.col("had").isNotNull())
    return previous.withColumns(
        {
            PREVIOUS_LEADER: F.col("had")[C.LEADER_ID],
            PREVIOUS_EPOCH: F.col("had")[C.LEADER_EPOCH],
            HAD_UP_TO: F.col("had")[END_LEO],
            PREVIOUS_REQUESTS: F.col("had")[REQUESTS],
            "previous_log_start": F.col("had")[C.LOG_START_OFFSET],
        }
    ).drop("had", _TOLD)


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
