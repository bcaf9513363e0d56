"""Which elections were unclean by the controller's word: leaderRecoveryState of metadata's records (KIP-704).

RECOVERING lasts until the leader's next AlterPartition, over clean elections too, and an unclean election of a
partition that is still RECOVERING does not say it again (PartitionChangeBuilder): the ISR before an election decides.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.windows import FIRST
from schemas import columns as C

IS_ELECTED_UNCLEANLY = "is_elected_uncleanly"
"""boolean: by the record of the election and the one before it; NULL without one before."""
IS_RECOVERING = "is_recovering"
"""boolean: something that was said in the epoch says RECOVERING; the election may have been an earlier one."""


def said_unclean(metadata: DataFrame, changes: DataFrame) -> DataFrame:
    """One row per leader epoch of which metadata or a line tells the state: the two columns above."""
    flags = [rows.select(*C.EPOCH_KEY, C.IS_UNCLEAN) for rows in (metadata, changes)]
    told = flags[0].unionByName(flags[1]).where(F.col(C.IS_UNCLEAN).isNotNull())
    by_epoch = told.groupBy(*C.EPOCH_KEY).agg(F.bool_or(C.IS_UNCLEAN).alias(IS_RECOVERING))
    by_record = _by_records(metadata).select(*C.EPOCH_KEY, IS_ELECTED_UNCLEANLY)
    return by_epoch.join(by_record, C.on_partition(C.LEADER_EPOCH), "left")


def uncleanly_elected(metadata: DataFrame) -> DataFrame:
    """One row per leader epoch of which the records say that its election was unclean: leader, started_at, capture."""
    return _by_records(metadata).where(IS_ELECTED_UNCLEANLY)


def _by_records(metadata: DataFrame) -> DataFrame:
    """One row per epoch with a leader, by the first record of it that names the leader."""
    # Dumps of several deliveries have the same record.
    record = F.max(F.struct(C.IS_UNCLEAN, C.ISR, C.LEADER_ID, C.EVENT_TIME, C.CAPTURE_ID)).alias("record")
    records = metadata.where(F.col(C.LEADER_EPOCH) >= 0).groupBy(*C.EPOCH_KEY, C.PARTITION_EPOCH).agg(record)
    judged = records.select(*C.EPOCH_KEY, C.PARTITION_EPOCH, "record.*").withColumn(IS_ELECTED_UNCLEANLY, _is_unclean())
    told = F.struct(
        C.PARTITION_EPOCH, IS_ELECTED_UNCLEANLY, C.LEADER_ID, F.col(C.EVENT_TIME).alias(C.STARTED_AT), C.CAPTURE_ID
    )
    first = judged.where(F.col(C.LEADER_ID) >= 0).groupBy(*C.EPOCH_KEY).agg(F.min(told).alias("first"))
    return first.select(*C.EPOCH_KEY, "first.*").drop(C.PARTITION_EPOCH)


def _is_unclean() -> Column:
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, C.PARTITION_EPOCH)
    was_recovering = F.coalesce(F.lag(C.IS_UNCLEAN).over(in_order), F.lit(False))
    # With eligible leader replicas (KIP-966) the ISR may become empty: its last members are then the eligible ones.
    members = F.last(F.when(F.size(C.ISR) > 0, F.col(C.ISR)), ignorenulls=True).over(in_order.rowsBetween(FIRST, -1))
    is_new = ~was_recovering | ~holds(members, C.LEADER_ID)
    is_outside = ~holds(F.lag(C.ISR).over(in_order), C.LEADER_ID)
    has_before = F.lag(C.LEADER_EPOCH).over(in_order).isNotNull()
    return F.when(has_before, F.col(C.IS_UNCLEAN) & is_outside & is_new)


def holds(isr: Column | str, replica: str) -> Column:
    """Whether the ISR is known to have the replica in it."""
    return F.coalesce(F.array_contains(isr, F.col(replica)), F.lit(False))
