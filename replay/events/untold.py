"""Leaderships that no broker's log tells of: state-change.log is missing, or was cut.

The metadata log has every leader, ISR and assignment the controller committed. Its time is the controller's; the leader
applied it some milliseconds later. Without it followers' lines name the leader, and times are theirs. Both are used for
the epochs of leaders alone of whom no line on any role has landed, or none at all since before the epoch
(`unlogged_epochs`): a log that is merely cut, or a leader that was elected and never knew it, is not made up.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.events.early_ends import WROTE_UNTIL_US, early_ends
from replay.events.unlogged_epochs import epochs_after_lines
from replay.keep import Keep, as_it_is
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind

ADDED = "untold_leaderships"
"""Beside the landing tables: what was added to `leader_changes`."""
_UNTOLD = (C.ISR, C.ADDING_REPLICAS, C.REMOVING_REPLICAS, C.IS_UNCLEAN)


def with_untold_leaderships(landed: Mapping[str, DataFrame], keep: Keep = as_it_is) -> Mapping[str, DataFrame]:
    """Return the tables with `leader_changes` made whole by `metadata_changes`, or by what followers' lines name.

    The rows that were made are `ADDED`: where those are, nothing is missing any more.
    """
    if ADDED in landed:
        return landed
    changes, metadata = landed[T.LEADER_CHANGES.name], landed[T.METADATA_CHANGES.name]
    early = early_ends(landed)
    after = epochs_after_lines(landed, early)
    by_others = _named_by_others(changes, metadata, after, early)
    made = keep(_untold(metadata, changes, after).unionByName(by_others), is_small=True)
    return {**landed, T.LEADER_CHANGES.name: changes.unionByName(made), ADDED: made}


def _untold(metadata: DataFrame, changes: DataFrame, after: DataFrame) -> DataFrame:
    """One row per replica and record of an epoch whose leader wrote nothing, as the replica applied it.

    The first record of an epoch begins it, at its followers too: a leader in between makes the next one a new leader.
    A later one is newer metadata of the same epoch.
    """
    roles = changes.where(F.col(C.CHANGE_KIND).isin(ChangeKind.BECOME_LEADER.value, ChangeKind.BECOME_FOLLOWER.value))
    in_epoch = Window.partitionBy(*C.PARTITION_KEY, C.LEADER_EPOCH).orderBy(C.PARTITION_EPOCH, C.METADATA_OFFSET)
    led = _of_those_without(roles, metadata.where(F.col(C.LEADER_ID) >= 0), after)
    begins, leads = F.col("place") == 1, F.col(C.BROKER_ID) == F.col(C.LEADER_ID)
    kind = (
        F.when(begins & leads, ChangeKind.BECOME_LEADER.value)
        .when(begins, ChangeKind.BECOME_FOLLOWER.value)
        .when(leads, ChangeKind.LEADER_METADATA.value)
        .otherwise(ChangeKind.FOLLOWER_METADATA.value)
    )
    placed = led.withColumn("place", F.row_number().over(in_epoch))
    each = placed.withColumn(C.BROKER_ID, F.explode(C.REPLICAS))
    return T.LEADER_CHANGES.conform(each.withColumn(C.CHANGE_KIND, kind))


def _named_by_others(changes: DataFrame, metadata: DataFrame, after: DataFrame, early: DataFrame) -> DataFrame:
    """One row per replica and epoch of which no record tells, and whose leader wrote no line: followers' lines name it.

    It begins with the first of them. What its ISR comes to nobody tells. Nor does anybody tell that such a leader
    follows, which it does in every other epoch: else it would lead on.
    """
    named = changes.where((F.col(C.LEADER_ID) >= 0) & (F.col(C.LEADER_EPOCH) >= 0))
    untold = named.join(metadata, C.on_partition(C.LEADER_EPOCH), "left_anti")
    first = F.struct(C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE)
    is_request = F.col(C.CHANGE_KIND) == ChangeKind.ASSIGNED.value
    asked = F.struct(C.PARTITION_EPOCH, C.EVENT_TIME, C.REPLICAS)
    epochs = untold.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID).agg(
        F.min_by(C.CAPTURE_ID, first).alias(C.CAPTURE_ID),
        F.min(first).alias("first"),
        F.min(F.when(is_request, asked)).alias("asked"),
    )
    silent = _of_those_without(changes, epochs, after)
    led = silent.withColumns({C.BROKER_ID: F.col(C.LEADER_ID), C.CHANGE_KIND: F.lit(ChangeKind.BECOME_LEADER.value)})
    others = silent.select(*C.PARTITION_KEY, F.col(C.LEADER_ID).alias(C.BROKER_ID)).distinct()
    each_other = epochs.join(F.broadcast(others), C.on_partition()).where(F.col(C.LEADER_ID) != F.col(C.BROKER_ID))
    wrote = early.select(C.CLUSTER_ID, C.BROKER_ID, WROTE_UNTIL_US)
    told_until = each_other.join(F.broadcast(wrote), [str(C.CLUSTER_ID), str(C.BROKER_ID)], "left")
    is_since = F.unix_micros(F.col("first")[C.EVENT_TIME]) > F.coalesce(WROTE_UNTIL_US, F.lit(0))
    followed = told_until.where(is_since).drop(WROTE_UNTIL_US)
    follows = followed.withColumn(C.CHANGE_KIND, F.lit(ChangeKind.BECOME_FOLLOWER.value))
    each = led.unionByName(follows).select("*", "first.*")
    told = each.withColumns({C.PARTITION_EPOCH: F.lit(C.UNKNOWN_EPOCH), C.REPLICAS: F.col("asked")[C.REPLICAS]})
    return T.LEADER_CHANGES.conform(told.withColumns({c: F.lit(None) for c in _UNTOLD}))


def _of_those_without(lines: DataFrame, epochs: DataFrame, after: DataFrame) -> DataFrame:
    """The rows of `epochs` whose leader none of these lines is of, or no line at all that is later (`after`)."""
    wrote = lines.select(C.CLUSTER_ID, F.col(C.BROKER_ID).alias(C.LEADER_ID)).distinct()
    never = epochs.join(F.broadcast(wrote), [str(C.CLUSTER_ID), str(C.LEADER_ID)], "left_anti")
    return never.unionByName(epochs.join(F.broadcast(after), C.on_partition(C.LEADER_EPOCH), "left_semi"))
