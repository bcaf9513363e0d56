"""Changes of leader, ISR and assignment as a broker applied them, by state-change.log and server.log."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind
from sources import outcomes
from sources.worded import WORDING, number, numbers, text

BY_THE_LEADER = (
    ChangeKind.BECOME_LEADER, ChangeKind.LEADER_METADATA, ChangeKind.ISR_UPDATED, ChangeKind.ISR_SHRINK_PROPOSED,
    ChangeKind.ISR_EXPAND_PROPOSED, ChangeKind.ISR_CHANGE_REJECTED,
)  # fmt: skip
"""Changes that only the leader writes of: the broker is the leader, whether the line says so or not."""

RECOVERING = ("1", "RECOVERING")
"""`LeaderRecoveryState` after an unclean election, as a number up to 4.1 and as a word from 4.2."""


def leader_change_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `leader_changes`. Where a line does not tell, the leader epoch is -1, a follower's leader NULL."""
    return (
        outcomes.having(parsed, outcomes.LANDED)
        .withColumn(C.CHANGE_KIND, F.col(WORDING)["change"])
        .where(F.col(C.CHANGE_KIND).isNotNull())
        .withColumns({
            C.TOPIC: text("topic"),
            C.TOPIC_ID: F.coalesce(text("topic_id"), F.lit("")),
            C.PARTITION: number("partition").cast("int"),
            C.LEADER_EPOCH: _epoch("leader_epoch"),
            C.PARTITION_EPOCH: _epoch("partition_epoch"),
            C.LEADER_ID: _leader_id(),
            C.ISR: F.array_sort(numbers("isr")),
            C.REPLICAS: numbers("replicas"),
            C.ADDING_REPLICAS: numbers("adding_replicas"),
            C.REMOVING_REPLICAS: numbers("removing_replicas"),
            C.IS_UNCLEAN: text("recovery_state").isin(*RECOVERING),
        })
        .select(*T.LEADER_CHANGES.parsed)
    )  # fmt: skip


def _epoch(field: str) -> Column:
    return F.coalesce(number(field), F.lit(C.UNKNOWN_EPOCH)).cast("int")


def _leader_id() -> Column:
    is_leader = F.col(C.CHANGE_KIND).isin([kind.value for kind in BY_THE_LEADER]) & (F.col(C.BROKER_ID) >= 0)
    # -2 is the leader of a topic that is being deleted: none.
    told = F.when(number("leader_id").isNotNull(), F.greatest(number("leader_id"), F.lit(C.NO_REPLICA)))
    return F.coalesce(F.when(is_leader, F.col(C.BROKER_ID)), told.cast("int"))
