"""Contradictions of a capture: what cannot all be true, told with its lines instead of one of them picked silently."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.findings.finding import finding, members, text
from replay.findings.session_gaps import session_gaps
from replay.statements import is_of
from replay.windows import FIRST, NOW
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind, IncidentKind, Method, Severity
from schemas.kinds import StatementKind as S

_IN_SERVER_LOG = (
    S.PROCESS_STARTING, S.PROCESS_STARTED, S.PROCESS_STOPPING, S.LOADED_HW, S.LOADED_LEO, S.LOADED_LOG_START,
    S.TRUNCATED_TO, S.TRUNCATED_WITHOUT_EFFECT, S.TRUNCATION_TARGET, S.TRUNCATED_FULLY_AT, S.LOG_START_MOVED,
    S.SEGMENT_ROLLED, S.SHRINKING_LEO, S.FETCHER_START, S.LOG_DELETED,
)  # fmt: skip
"""What a broker says in the file that a truncation would be in; roles are in state-change.log, and may be alone."""


def contradictions(landed: Mapping[str, DataFrame], took_part: DataFrame, truncations: DataFrame) -> list[DataFrame]:
    """The findings, a frame each; `took_part` is `contacts.contacts`."""
    return [
        two_leaders(landed),
        strange_isr_members(landed),
        offsets_gone_back(landed, took_part, truncations),
        session_gaps(landed[T.FETCH_EVENTS.name]),
    ]


def two_leaders(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader epoch of which lines name more than one leader."""
    told = landed[T.LEADER_CHANGES.name].where((F.col(C.LEADER_ID) >= 0) & (F.col(C.LEADER_EPOCH) >= 0))
    line = F.concat_ws(":", C.SOURCE_FILE, F.col(C.SOURCE_LINE).cast("string"))
    per_leader = told.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID).agg(
        F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
        F.min(C.EVENT_TIME).alias("first"),
        F.max(C.EVENT_TIME).alias("last"),
        F.min(line).alias("line"),
    )
    words = F.sort_array(F.collect_list(text("{} ({})", C.LEADER_ID, "line")))
    rows = (
        per_leader.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH)
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.min("first").alias(C.STARTED_AT),
            F.max("last").alias(C.ENDED_AT),
            words.alias("leaders"),
        )
        .where(F.size("leaders") > 1)
    )
    evidence = text(
        "lines name {} leaders of epoch {}: {}", F.size("leaders"), C.LEADER_EPOCH, F.array_join("leaders", ", ")
    )
    return finding(rows, IncidentKind.TWO_LEADERS_IN_ONE_EPOCH, Severity.CRITICAL, evidence)


def strange_isr_members(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader epoch and replica in an ISR, though a line of the same broker before assigns it not.

    A controller with ZooKeeper drops a replica first from the assignment and then from the ISR: for the epoch between
    its own request names a member that is no replica any more (`KafkaController.onPartitionReassignment`).
    """
    changes = landed[T.LEADER_CHANGES.name]
    nobody = F.expr(C.NOBODY)
    moving = F.array_union(F.coalesce(C.ADDING_REPLICAS, nobody), F.coalesce(C.REMOVING_REPLICAS, nobody))
    by_broker = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE)
    leaving = F.when(F.col(C.CHANGE_KIND) == ChangeKind.ASSIGNED.value, F.coalesce(C.ISR, nobody)).otherwise(nobody)
    assigned = F.when(F.size(C.REPLICAS) > 0, F.array_union(F.array_union(C.REPLICAS, moving), leaving))
    known = changes.withColumn("assigned", F.last(assigned, ignorenulls=True).over(by_broker.rowsBetween(FIRST, NOW)))
    strange = known.where(F.col(C.ISR).isNotNull() & F.col("assigned").isNotNull())
    rows = (
        strange.withColumn("who", F.explode(F.array_except(C.ISR, "assigned")))
        .groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, "who")
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.min(C.EVENT_TIME).alias(C.STARTED_AT),
            F.max(C.EVENT_TIME).alias(C.ENDED_AT),
            F.min_by(F.struct(C.ISR, "assigned", C.SOURCE_FILE, C.SOURCE_LINE), C.EVENT_TIME).alias("line"),
        )
    )
    evidence = text(
        "replica {} is in the ISR {} but not among the replicas {} ({}:{})",
        "who", members("line.isr"), members("line.assigned"), "line.source_file", "line.source_line",
    )  # fmt: skip
    kind = IncidentKind.ISR_MEMBER_IS_NO_REPLICA
    return finding(rows, kind, Severity.WARNING, evidence, replica_id=F.col("who"))


def offsets_gone_back(landed: Mapping[str, DataFrame], took_part: DataFrame, truncations: DataFrame) -> DataFrame:
    """One row per fall of a follower's LEO that no "Truncating to" line and no restart explains.

    Only where the replica's own log of that time is in the capture: it would say so (`UnifiedLog.truncateTo`, INFO).
    """
    unsaid = truncations.where(~F.col(C.IS_STATED) & (F.col(C.METHOD) != Method.RESTART.value))
    # By the leader's clock it fell, by its own the replica writes.
    is_told = (F.col("role_in") >= F.col(C.LEADER_EPOCH)) & (
        F.col("logged_from") <= F.col(C.EVENT_TIME) + F.expr(N.CLOCKS_APART)
    )
    rows = (
        unsaid.join(_last_roles(landed), C.on_partition(C.REPLICA_ID))
        .join(_server_logs(landed), [str(C.CLUSTER_ID), str(C.REPLICA_ID)])
        .where(is_told)
        .join(
            took_part.select(*C.on_partition(C.REPLICA_ID, C.LEADER_EPOCH)),
            C.on_partition(C.REPLICA_ID, C.LEADER_EPOCH),
            "left_semi",
        )
        .withColumns({C.STARTED_AT: F.col(C.EVENT_TIME), C.ENDED_AT: F.lit(None)})
    )
    evidence = text(
        "replica {} fetched at {} in epoch {} after its LEO had been {}; its log tells of no truncation and no restart",
        C.REPLICA_ID, C.TO_OFFSET, C.LEADER_EPOCH, C.FROM_OFFSET,
    )  # fmt: skip
    offsets = (F.col(C.TO_OFFSET), F.col(C.FROM_OFFSET))
    kind = IncidentKind.OFFSET_WENT_BACK
    return finding(rows, kind, Severity.WARNING, evidence, replica_id=F.col(C.REPLICA_ID), offsets=offsets)


def _last_roles(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per replica that says which role it took: `role_in`, the last leader epoch of which it does."""
    roles = (ChangeKind.BECOME_FOLLOWER.value, ChangeKind.BECOME_LEADER.value)
    told = landed[T.LEADER_CHANGES.name].where(F.col(C.CHANGE_KIND).isin(*roles))
    return told.groupBy(*C.PARTITION_KEY, F.col(C.BROKER_ID).alias(C.REPLICA_ID)).agg(
        F.max(C.LEADER_EPOCH).alias("role_in")
    )


def _server_logs(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker of whose server.log the capture has lines: `logged_from`, when the first of them is."""
    told = landed[T.BROKER_STATEMENTS.name].where(is_of(*_IN_SERVER_LOG))
    return told.groupBy(C.CLUSTER_ID, F.col(C.BROKER_ID).alias(C.REPLICA_ID)).agg(
        F.min(C.EVENT_TIME).alias("logged_from")
    )
