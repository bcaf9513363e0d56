"""Processes that ended: what was known of them last is told, however much later, by the load of their log.

A follower that ended may not have taken its last response. And of a leader that ended the load tells that it did: the
end of its leadership (`RESTART`) has the time of the load, and comes in the order of events before all that the next
leader did meanwhile. No moment from that one's election to the load cuts that order in two.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.events.ends import ends
from replay.events.leaderships import START_US, leaderships, roles_with_loads
from replay.events.untold import with_untold_leaderships
from replay.names import INCARNATION
from replay.statements import ROLE_LEOS, is_of
from replay.windows import LAST
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import EventType, StatementKind

_ON_PAIR = [str(column) for column in C.REPLICA_KEY]
_LOADED_AT, _ASKED_IN = "loaded_at", "asked_in"


def before_loads(
    landed: Mapping[str, DataFrame], new: Mapping[str, DataFrame], leader_timeline: DataFrame
) -> DataFrame:
    """One row per replica that has loaded its log again: its last fetch, whose response it may have lost with that.

    Unless a role that it took before says what it had by then. `landed` are all rows, `new` those that are news.
    """
    statements = landed[T.BROKER_STATEMENTS.name]
    loads = new[T.BROKER_STATEMENTS.name].where(is_of(StatementKind.LOADED_HW))
    loaded = _of_replicas(loads).groupBy(*_ON_PAIR).agg(F.min(C.EVENT_TIME).alias(_LOADED_AT))
    fetches = leader_timeline.where(F.col(C.EVENT_TYPE) == EventType.FETCH.value)
    # Joined before it is grouped: where no replica has loaded its log, nothing is read.
    of_loaded = fetches.join(F.broadcast(loaded), _ON_PAIR)
    last = of_loaded.groupBy(*_ON_PAIR, _LOADED_AT).agg(
        F.max(C.EVENT_TIME).alias("at"), F.max(C.LEADER_EPOCH).alias(_ASKED_IN)
    )
    roles = _of_replicas(statements.where(is_of(*ROLE_LEOS)))
    is_told = (F.col(C.LEADER_EPOCH) > F.col(_ASKED_IN)) & (F.col(C.EVENT_TIME) < F.col(_LOADED_AT))
    told = roles.join(F.broadcast(last), _ON_PAIR).where(is_told).select(*_ON_PAIR).distinct()
    return last.join(F.broadcast(told), _ON_PAIR, "left_anti").select(C.CLUSTER_ID, "at")


def _of_replicas(statements: DataFrame) -> DataFrame:
    """One row per statement of a replica on itself: the replica, leader epoch and time."""
    whose = F.col(C.BROKER_ID).alias(C.REPLICA_ID)
    return statements.select(*C.PARTITION_KEY, whose, C.LEADER_EPOCH, C.EVENT_TIME)


def before_interruptions(moments: DataFrame, landed: Mapping[str, DataFrame], until_us: str) -> DataFrame:
    """Return the moments (one row per cluster) of which those between an election and such a load are before both.

    `until_us` is the moment, a column.
    """
    each = _interruptions(landed).groupBy(C.CLUSTER_ID)
    # The latest first: who is put before an election may be between another one and its load, but an earlier one.
    from_the_end = F.sort_array(F.collect_list(F.struct("loaded_us", "elected_us")), asc=False)
    known = moments.join(each.agg(from_the_end.alias("each")), [str(C.CLUSTER_ID)], "left")

    def outside(moment: Column, it: Column) -> Column:
        is_within = (it["elected_us"] <= moment) & (moment < it["loaded_us"])
        return F.when(is_within, it["elected_us"] - 1).otherwise(moment)

    moved = F.aggregate("each", F.col(until_us), outside)
    return known.withColumn(until_us, F.coalesce(moved, until_us)).drop("each")


def _interruptions(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader whose process ended, and was followed by another leader before it loaded its log.

    `elected_us` is when the next leader began, `loaded_us` when the log was loaded; bigint, microseconds.
    """
    roles = roles_with_loads(with_untold_leaderships(landed))
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, INCARNATION)
    later = F.min(START_US).over(in_order.rowsBetween(1, LAST)).alias("elected_us")
    led = leaderships(roles).select(*C.EPOCH_KEY, F.col(C.LEADER_ID).alias(C.BROKER_ID), later)
    ended = ends(roles).select(*C.EPOCH_KEY, C.BROKER_ID, F.col(START_US).alias("loaded_us"))
    both = led.join(ended, [*map(str, C.EPOCH_KEY), C.BROKER_ID])
    return both.where("elected_us < loaded_us").select(C.CLUSTER_ID, "elected_us", "loaded_us")
