"""What a replica had when it took its next role: its own line says how long its log was, and so what it had taken.

Of the last response before that no later fetch tells: the replica may lead from there, or ask another leader for less,
once it has truncated. Source: `Partition.makeLeader` and `makeFollower`, "starts at leader epoch E from offset O".
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import SLOTS
from replay.event_types import is_event
from replay.events.acceptance import UNKNOWN_TOPIC_OR_PARTITION
from replay.profile import Profile, Truncation
from replay.statements import ROLE_HWS, ROLE_LEOS, is_of
from replay.windows import FIRST, NOW, following
from schemas import columns as C
from schemas.kinds import EventType
from schemas.kinds import StatementKind as S

NEXT_ROLES = "next_roles"
"""map<int,struct<epoch,us,leo,leads,hw>>: by replica, the first role it took in a later epoch, by its own clock.

A log that is deleted ends the role before it as a role in the epoch after would, with an LEO that is NULL."""
REACHED = "reached"
"""map<int,bigint>: by replica, the LEO with which it took that role; NULL but where a leader's process ended."""


def next_roles(begun: DataFrame, assigned: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per partition and leader epoch: `next_roles`; `begun` is `leaderships.leaderships`."""
    taken = _roles(statements).unionByName(_deletions(statements))
    first = F.min_by("role", F.col("role.us"))
    taken = taken.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID).agg(first.alias("role"))
    epochs = begun.select(*C.PARTITION_KEY, C.LEADER_EPOCH).unionByName(taken.select(*C.PARTITION_KEY, C.LEADER_EPOCH))
    of_each = epochs.distinct().join(assigned, C.on_partition()).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, F.explode(SLOTS).alias(C.BROKER_ID)
    )  # fmt: skip
    told = of_each.join(taken, C.on_partition(C.LEADER_EPOCH, C.BROKER_ID), "left")
    later = following("role", within=(*C.PARTITION_KEY, C.BROKER_ID), in_order=(C.LEADER_EPOCH,))
    entry = F.struct(C.BROKER_ID, "later")
    return (
        told.withColumn("later", later)
        .where("later IS NOT NULL")
        .groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH)
        .agg(F.map_from_entries(F.collect_list(entry)).alias(NEXT_ROLES))
    )


def _roles(statements: DataFrame) -> DataFrame:
    """One row per partition, epoch and broker that states the LEO of its role in it: `role`."""
    role = F.struct(
        F.col(C.LEADER_EPOCH).alias("epoch"),
        F.unix_micros(C.EVENT_TIME).alias("us"),
        F.col(C.OFFSET).alias("leo"),
        is_of(S.BECAME_LEADER_LEO).alias("leads"),
    )
    first = F.min_by(role, F.when(is_of(*ROLE_LEOS), F.col(C.EVENT_TIME)))
    first_hw = F.min_by(C.OFFSET, F.when(is_of(*ROLE_HWS), F.col(C.EVENT_TIME)))
    return (
        statements.where(is_of(*ROLE_LEOS, *ROLE_HWS))
        .groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID)
        .agg(first.withField("hw", first_hw).alias("role"))
        .where("role IS NOT NULL")
    )


def _deletions(statements: DataFrame) -> DataFrame:
    """One row per log that a broker deleted: in the epoch after that of its last role (`LogManager.asyncDelete`)."""
    by_broker = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE)
    last = F.max(F.when(is_of(*ROLE_LEOS), F.col(C.LEADER_EPOCH))).over(by_broker.rowsBetween(FIRST, NOW))
    deleted = (
        statements.where(is_of(*ROLE_LEOS, S.LOG_DELETED))
        .withColumn("after", last + 1)
        .where(is_of(S.LOG_DELETED) & F.col("after").isNotNull())
    )
    role = F.struct(
        F.col("after").alias("epoch"),
        F.unix_micros(C.EVENT_TIME).alias("us"),
        F.lit(None).cast("bigint").alias("leo"),
        F.lit(False).alias("leads"),
        F.lit(None).cast("bigint").alias("hw"),
    )
    return deleted.select(*C.PARTITION_KEY, F.col("after").alias(C.LEADER_EPOCH), C.BROKER_ID, role.alias("role"))


CLOCKS_APART_US = 100_000
"""Of two brokers' clocks no order is taken; so far apart they are enough to doubt. Nor does a line come much later."""


def comes_too_late() -> Column:
    """Return whether the response to a fetch was built when its fetcher had taken its next role already.

    What was parked at a leader that was frozen is answered when it thaws; nobody waits for that any more. Two clocks
    tell it, or the line of that role: the HW it states is lower than the response would have made it. A log that is
    deleted has lost its fetcher some time before (`ReplicaManager.stopReplicas`, beside ZooKeeper an earlier request).
    """
    role = F.col(N.NEXT_ROLE)
    apart = F.when(role["leo"].isNull(), -CLOCKS_APART_US).otherwise(CLOCKS_APART_US)
    return F.coalesce(role["lacks_hw"] | (role["us"] + apart < F.col(N.RESPONSE_US)), F.lit(False))


def is_still_awaited(then: Column, profile: Profile) -> Column:
    """Return whether a follower that took a role in a later epoch took the response after that all the same.

    Its leader is the same process, and it asks for no other offset: a partition that was removed and added again while
    a fetch was pending takes its response (`AbstractFetcherThread.processFetchRequest`), unless it has to truncate
    first. `then` is its next fetch.
    """
    role, came = F.col(N.NEXT_ROLE), F.col(C.RECORDS_SIZE) > 0
    same = (role["epoch"] == then[C.LEADER_EPOCH]) & (then[N.TENURE] == F.col(N.TENURE))
    has_grown = then[C.FETCH_OFFSET] > role["leo"]
    is_ready = F.lit(profile.truncation) == Truncation.FETCH_DIVERGENCE.value
    waits = ~role["leads"] & same & (role["leo"] == F.col(C.FETCH_OFFSET)) & (has_grown | (~came & is_ready))
    return F.coalesce(waits, F.lit(False))


def is_read() -> Column:
    """Return `is_accepted` without what was parked for a partition that the leader's metadata did not have.

    Beside ZooKeeper a partition comes into the metadata after its leader was told to lead, and is gone from them before
    its log is deleted. A fetch that was read before ends with the log (`ReplicaManager.stopReplicas` completes what
    waits for it); one that was not ends with the others in it. All by one broker's clock.
    """
    role = F.try_element_at(F.col(NEXT_ROLES), F.col(C.BROKER_ID))
    ends_with_log = role["leo"].isNull() & (F.abs(role["us"] - F.col(N.RESPONSE_US)) <= CLOCKS_APART_US)
    was_read = F.col("is_accepted") & F.coalesce(ends_with_log, F.lit(False))
    is_unknown = F.col(C.ERROR_CODE) == UNKNOWN_TOPIC_OR_PARTITION
    return F.when(is_unknown, was_read).otherwise(F.col("is_accepted"))


def next_role() -> Column:
    """Return `next_role` of an event: the role that its fetcher took next, and whether it lacked this response's HW."""
    role = F.try_element_at(F.col(NEXT_ROLES), F.col(C.REPLICA_ID))
    given = F.least(C.RESPONSE_HIGH_WATERMARK, C.FETCH_OFFSET)
    return role.withField("lacks_hw", F.coalesce(role["hw"] < given, F.lit(False))).dropFields("hw")


def reached() -> Column:
    """Return `reached` of an event: the lambda is behind a condition that is seldom true."""
    ended = is_event(EventType.RESTART)
    return F.when(ended, F.transform_values(NEXT_ROLES, lambda _, role: role["leo"]))


def told_next(then: Column, profile: Profile) -> tuple[Column, Column]:
    """Return the replica's LEO that is told next after a fetch, and when: by its next fetch, or by its role if first.

    A response of the old leader may still come in after the line of a follower's role (`ReplicaManager.applyDelta`
    stops its fetcher later): its first fetch in that epoch then asks for more. Where fetches state no epoch, those of a
    follower that was told of a new one late are served in it, before it takes its role: two clocks tell that, or that
    it asks the same process for less than it had in that role. By epochs it has nothing to truncate there.
    """
    role, asked = F.col(N.NEXT_ROLE), then[C.FETCH_OFFSET]
    keeps_all = (then[N.TENURE] == F.col(N.TENURE)) & (F.lit(profile.truncation) != Truncation.HIGH_WATERMARK.value)
    by_clocks = then["us"] + CLOCKS_APART_US < role["us"]
    is_before_it = (role["epoch"] == then[C.LEADER_EPOCH]) & (by_clocks | (keeps_all & (asked < role["leo"])))
    told_late = ~F.lit(profile.fetches_state_epoch) & is_before_it
    is_first = F.coalesce((role["epoch"] <= then[C.LEADER_EPOCH]) & ~told_late, role.isNotNull())
    asked_more = F.when(~role["leads"] & (role["epoch"] == then[C.LEADER_EPOCH]), asked)
    leo = F.when(is_first, F.greatest(role["leo"], asked_more)).otherwise(asked)
    return leo, F.when(is_first, role["us"]).otherwise(then["us"])
