"""Contacts: in which leader epochs a replica led or fetched, and how far its log came in each, a row each."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.windows import epoch_in_order
from schemas import columns as C
from schemas.kinds import EventType, Role

HELD_UP_TO = "held_up_to"
"""bigint: the highest LEO that requests to, or of, a replica prove; NULL where none do."""
ASKED_FROM = "asked_from"
"""bigint: the lowest of them: what the replica first asked for, if it never asked for less."""
OWN_HW = "own_high_watermark"
"""bigint: the last HW that the replica itself is known to have had there, at least; -1 unknown."""
LEADS = "leads"
"""boolean: a replica led in the leader epoch, and did not only fetch."""
FIRST_AT = "first_at"
"""timestamp: when it first did, by the clock of that epoch's leader."""
_LAST = "last"
"""bigint: the remote LEO with which the epoch ended."""


def contacts(replica_timeline: DataFrame, leader_timeline: DataFrame, bounded: DataFrame) -> DataFrame:
    """One row per replica and leader epoch it led or fetched successfully in, with the LEO it came to.

    And `leads`, `held_up_to`, `asked_from`, `own_high_watermark` and `first_at`.
    Where no request is logged, the ISR tells who fetched: who joined it, and who was in it to the epoch's end. For that
    the events of the partitions are enough in which some LEO is known between bounds only: `bounded` (`suspects`). And
    its own lines do, where its log has grown: a follower's grows by what it fetches.
    """
    leads = F.col(C.ROLE) == Role.LEADER.value
    took_part = leads | (F.col(C.REMOTE_LEO) >= 0)
    leo = F.greatest(C.LOG_END_OFFSET, C.LOG_END_OFFSET_HIGH).alias(C.LOG_END_OFFSET)
    of_replica = (*C.PARTITION_KEY, C.REPLICA_ID, C.LEADER_EPOCH)
    asked = (
        C.REMOTE_LEO, C.EVENT_SEQ, F.col(C.HIGH_WATERMARK).alias(OWN_HW), leads.alias(LEADS),
        F.col(C.VALID_FROM).alias(FIRST_AT),
    )  # fmt: skip
    heard = replica_timeline.where(took_part).select(*of_replica, leo, *asked)
    in_order = epoch_in_order()
    joined = F.array_except(C.ISR, F.lag(C.ISR).over(in_order))
    is_last = F.lead(C.EVENT_SEQ).over(in_order).isNull()
    members = bounded.where(F.col(C.ISR).isNotNull()).withColumn(
        "members", F.when(is_last, F.col(C.ISR)).otherwise(joined)
    )
    unheard = F.col(C.LOG_END_OFFSET_LOW) < F.col(C.LOG_END_OFFSET_HIGH)
    told = members.where(unheard).withColumn(C.REPLICA_ID, F.explode("members"))
    unled = told.select(*of_replica, leo, F.lit(False).alias(LEADS), F.col(C.EVENT_TIME).alias(FIRST_AT))
    grown = _grown(replica_timeline.where(~took_part), told)
    known = (
        heard.unionByName(unled, allowMissingColumns=True)
        .unionByName(grown, allowMissingColumns=True)
        .groupBy(*of_replica)
        .agg(
            F.max(C.LOG_END_OFFSET).alias(C.LOG_END_OFFSET),
            F.max(C.REMOTE_LEO).alias(HELD_UP_TO),
            F.min(C.REMOTE_LEO).alias(ASKED_FROM),
            F.max_by(OWN_HW, C.EVENT_SEQ).alias(OWN_HW),
            F.bool_or(LEADS).alias(LEADS),
            F.min(FIRST_AT).alias(FIRST_AT),
            F.max_by(C.REMOTE_LEO, C.EVENT_SEQ).alias(_LAST),
        )
    )
    return _who_asked(known, leader_timeline).drop(_LAST)


def _grown(unheard: DataFrame, told: DataFrame) -> DataFrame:
    """One row per follower and leader epoch in which no fetch of it is known, and its own log surely grew.

    `unheard` are such rows of the replicas' timeline; of `told`, events between bounds, are the partitions in question.
    """
    in_question = F.broadcast(told.select(*C.PARTITION_KEY).distinct())
    ended = F.max(F.greatest(C.LOG_END_OFFSET, C.LOG_END_OFFSET_HIGH))
    own = unheard.join(in_question, C.on_partition(), "left_semi").groupBy(*C.REPLICA_KEY, C.LEADER_EPOCH)
    of_epoch = own.agg(
        F.min_by(C.LOG_END_OFFSET_HIGH, C.EVENT_SEQ).alias("began_with"),
        F.max(C.LOG_END_OFFSET_LOW).alias("came_to"),
        ended.alias(C.LOG_END_OFFSET),
        F.min(C.VALID_FROM).alias(FIRST_AT),
    )
    return of_epoch.where(F.col("came_to") > F.col("began_with")).select(
        *C.REPLICA_KEY, C.LEADER_EPOCH, C.LOG_END_OFFSET, F.lit(False).alias(LEADS), FIRST_AT
    )


def _who_asked(known: DataFrame, leader_timeline: DataFrame) -> DataFrame:
    """Return the contacts without those of whom their leader has but kept what it knew.

    A leader that leads on in a new epoch keeps its remote LEOs (`Replica.resetReplicaState`, R:121): one that stays
    what it was is that of an epoch before, unless its replica has fetched.
    """
    leaders = known.where(LEADS).groupBy(*C.EPOCH_KEY).agg(F.min(C.REPLICA_ID).alias(C.LEADER_ID))
    led = known.join(leaders, C.on_partition(C.LEADER_EPOCH), "left")
    of_leader = Window.partitionBy(*C.PARTITION_KEY, C.REPLICA_ID, C.LEADER_ID).orderBy(C.LEADER_EPOCH)
    stays = (F.col(HELD_UP_TO) == F.col(ASKED_FROM)) & (F.col(HELD_UP_TO) == F.lag(_LAST).over(of_leader))
    may_be_kept = F.col(C.LEADER_ID).isNotNull() & ~F.col(LEADS) & F.coalesce(stays, F.lit(False))
    marked = led.withColumn("may_be_kept", may_be_kept).drop(C.LEADER_ID)
    whose = C.on_partition(C.LEADER_EPOCH, C.REPLICA_ID)
    kept = marked.where("may_be_kept").select(*whose)
    fetches = leader_timeline.where(F.col(C.EVENT_TYPE) == EventType.FETCH.value).select(*whose)
    asked = fetches.join(F.broadcast(kept), whose, "left_semi").distinct().withColumn("has_asked", F.lit(True))
    found = marked.join(F.broadcast(asked), whose, "left")
    return found.where(~F.col("may_be_kept") | F.col("has_asked")).drop("may_be_kept", "has_asked")
