"""What a replica had when it took its next role: its own line says how long its log was, and so what it had taken.

Of the last response before that no later fetch tells: the replica may lead from there, or ask another leader for less,
once it has truncated. Source: `Partition.makeLeader` and `makeFollower`, "starts at leader epoch E from offset O".
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.assignment import SLOTS
from replay.event_types import is_event
from replay.statements import ROLE_HWS, ROLE_LEOS, is_of
from replay.windows import FIRST, NOW, following
from schemas import columns as C
from schemas.kinds import EventType
from schemas.kinds import StatementKind as S

NEXT_ROLES = "next_roles"
"""map<int,struct<epoch,us,leo,leads,hw>>: by replica, the first role it took in a later epoch, by its own clock.

A log that is deleted ends the role before it as a role in the epoch after would, with an LEO that is NULL; so does a
leadership of which no line states the LEO."""
REACHED = "reached"
"""map<int,bigint>: by replica, the LEO with which it took that role; NULL but where a leader's process ended."""


def next_roles(begun: DataFrame, unstated: DataFrame, assigned: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per partition and leader epoch: `next_roles`; `begun` is `leaderships.leaderships`.

    `unstated` has one row per leadership of which no line states the LEO: epoch, `broker_id` and `us`.
    """
    taken = _roles(statements).unionByName(_deletions(statements)).unionByName(_led(unstated))
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


def _led(unstated: DataFrame) -> DataFrame:
    """One row per leadership of which no line states the LEO: the log grew there, however long it was before."""
    role = _untold_role(F.col(C.LEADER_EPOCH), F.col("us"), leads=True)
    return unstated.select(*C.PARTITION_KEY, C.LEADER_EPOCH, C.BROKER_ID, role.alias("role"))


def _deletions(statements: DataFrame) -> DataFrame:
    """One row per log that a broker deleted: in the epoch after the last that it was in (`LogManager.asyncDelete`).

    That is the epoch of its last role, or what the line landed with: before 2.6 no line tells of a follower's role.
    """
    by_broker = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE)
    epoch = F.nullif(F.col(C.LEADER_EPOCH), F.lit(C.UNKNOWN_EPOCH))
    last = F.max(epoch).over(by_broker.rowsBetween(FIRST, NOW))
    deleted = (
        statements.where(is_of(*ROLE_LEOS, S.LOG_DELETED))
        .withColumn("after", last + 1)
        .where(is_of(S.LOG_DELETED) & F.col("after").isNotNull())
    )
    role = _untold_role(F.col("after"), F.unix_micros(C.EVENT_TIME), leads=False)
    return deleted.select(*C.PARTITION_KEY, F.col("after").alias(C.LEADER_EPOCH), C.BROKER_ID, role.alias("role"))


def _untold_role(epoch: Column, us: Column, *, leads: bool) -> Column:
    """Return a role of which no line states LEO or HW."""
    untold = F.lit(None).cast("bigint")
    return F.struct(
        epoch.alias("epoch"), us.alias("us"), untold.alias("leo"), F.lit(leads).alias("leads"), untold.alias("hw")
    )


def next_role() -> Column:
    """Return `next_role` of an event: the role that its fetcher took next, and whether it lacked this response's HW."""
    role = F.try_element_at(F.col(NEXT_ROLES), F.col(C.REPLICA_ID))
    given = F.least(C.RESPONSE_HIGH_WATERMARK, C.FETCH_OFFSET)
    return role.withField("lacks_hw", F.coalesce(role["hw"] < given, F.lit(False))).dropFields("hw")


def end_told_later() -> Column:
    """Return the LEO that the event's leader had when it took its next role; NULL where nothing tells."""
    return F.try_element_at(F.col(NEXT_ROLES), F.col(C.BROKER_ID))["leo"]


def reached() -> Column:
    """Return `reached` of an event: the lambda is behind a condition that is seldom true."""
    ended = is_event(EventType.RESTART)
    return F.when(ended, F.transform_values(NEXT_ROLES, lambda _, role: role["leo"]))
