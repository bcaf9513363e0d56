"""What a controller asked of a leader, where the leader's own line does not repeat it (clusters with ZooKeeper).

"starts at leader epoch" tells no ISR before 2.6, and no assignment before 3.3. The LEADER_AND_ISR request that made the
broker the leader tells both (`ReplicaManager.becomeLeaderOrFollower`): all replicas get the same, so the request log of
any of them will do. What the controller sends again in the same epoch, a leader ignores: its own changes of the ISR are
newer. That a broker follows, no line of its own tells before 2.6 either.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind

_REQUESTED_ISR, _REQUESTED_REPLICAS = "requested_isr", "requested_replicas"


def requests_of_controllers(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader epoch whose first request is known: `leader_id`, `requested_isr`, `requested_replicas`.

    It is if the leader told of no change of the ISR as old as the oldest request that has landed; of one that names no
    partition epoch (up to 2.3: `sources.isr_commits`) by the time.
    """
    is_request = F.col(C.CHANGE_KIND) == ChangeKind.ASSIGNED.value
    is_update = F.col(C.CHANGE_KIND) == ChangeKind.ISR_UPDATED.value
    told = landed[T.LEADER_CHANGES.name].where((is_request | is_update) & F.col(C.ISR).isNotNull())
    is_numbered = is_request | (F.col(C.PARTITION_EPOCH) >= 0)
    first = F.min_by(
        F.when(is_numbered, F.struct(is_request.alias("is_request"), C.LEADER_ID, C.ISR, C.REPLICAS, C.EVENT_TIME)),
        F.when(is_numbered, F.struct(C.PARTITION_EPOCH, is_request)),
    )
    changed = F.min(F.when(~is_numbered, F.col(C.EVENT_TIME)))
    of_epoch = told.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH).agg(first.alias("first"), changed.alias("changed"))
    oldest = of_epoch.where("first.is_request AND (changed IS NULL OR changed > first.event_time)")
    return oldest.select(
        *C.PARTITION_KEY,
        C.LEADER_EPOCH,
        F.col("first")[C.LEADER_ID].alias(C.LEADER_ID),
        F.col("first")[C.ISR].alias(_REQUESTED_ISR),
        F.col("first")[C.REPLICAS].alias(_REQUESTED_REPLICAS),
    )


def followed_meanwhile(followed: Column, since: Column) -> Column:
    """Return whether a controller told the broker of another leader in an epoch between `since` and the row's.

    `followed` is array<int>, the epochs of which it did. A follower's own line is at TRACE before 2.6: of a broker that
    led, followed and leads again only the two leaderships have landed. By epochs, not by times: a request comes before
    all that is logged of it, and before the load of the log that it is for.
    """
    return F.exists(followed, lambda epoch: (epoch > since) & (epoch < F.col(C.LEADER_EPOCH)))


def with_requested(changes: DataFrame, requests: DataFrame) -> DataFrame:
    """Return the changes, each begin of a leadership with the ISR and assignment of its request where it tells none."""
    begins = F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value
    of_leader = C.on_partition(C.LEADER_EPOCH, C.BROKER_ID)
    asked = changes.join(F.broadcast(requests.withColumnRenamed(C.LEADER_ID, C.BROKER_ID)), of_leader, "left")
    return asked.withColumns(
        {
            C.ISR: F.coalesce(C.ISR, F.when(begins, F.col(_REQUESTED_ISR))),
            C.REPLICAS: F.coalesce(C.REPLICAS, F.when(begins, F.col(_REQUESTED_REPLICAS))),
        }
    ).select(*changes.columns)
