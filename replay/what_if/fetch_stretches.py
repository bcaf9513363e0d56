"""How far followers came: their fetches, in stretches between changes of role and restarts of who led."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.events.leaderships import START_US
from replay.findings.spans import END_LEO, NUMBER, START_LEO
from replay.statements import is_of
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import EventType, StatementKind

_OF_REPLICA = C.on_partition(C.LEADER_EPOCH, C.REPLICA_ID)
_STRETCH, _AT = "stretch", "at"


def fetch_stretches(
    landed: Mapping[str, DataFrame],
    leader_timeline: DataFrame,
    replica_timeline: DataFrame,
    follows: DataFrame,
    led: DataFrame,
) -> DataFrame:
    """One row per stretch of a follower's fetches: the last `leo`, `hw`; the `first` and last (`us`); when it `cut`.

    And the `processes` of its leader epoch. One that a leadership of its replica follows came as far as the LEO that
    one began with: no fetch tells what the last response brought. `follows` are the roles of followers.
    """
    processes = _processes(led)
    told = _told(landed, leader_timeline, replica_timeline, follows, processes)
    return _with_last_responses(told, led).join(processes, C.on_partition(C.LEADER_EPOCH))


def _processes(led: DataFrame) -> DataFrame:
    """One row per leader epoch: `processes`, in order when each began that led in it (`us`), and its LEO at the `end`.

    One that restarts and keeps its epoch may have lost its tail. `led` is `spans.spans`.
    """
    process = F.struct(F.unix_micros(C.STARTED_AT).alias("us"), F.col(END_LEO).alias("end"))
    return led.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH).agg(F.sort_array(F.collect_list(process)).alias("processes"))


def _told(
    landed: Mapping[str, DataFrame],
    leader_timeline: DataFrame,
    replica_timeline: DataFrame,
    follows: DataFrame,
    processes: DataFrame,
) -> DataFrame:
    """One row per stretch of a follower's fetches: the last `leo`, `hw`; the `first` and last (`us`); when it `cut`.

    A fetch that diverged is in no timeline: when the log was cut its broker's line tells better than the next one, and
    is all that tells where the replica leads, or its leader is gone, before the next one.
    """
    of_stretch = [*_OF_REPLICA, _STRETCH]
    changes = follows.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH, F.col(C.BROKER_ID).alias(C.REPLICA_ID)).agg(
        F.collect_list(START_US).alias("changed")
    )
    anew = F.transform(F.slice("processes", 2, F.size("processes")), lambda it: it["us"])
    begun_anew = processes.select(*C.PARTITION_KEY, C.LEADER_EPOCH, anew.alias("begun_anew"))
    in_stretches = partial(_in_stretches, changes=changes, begun_anew=begun_anew)
    lines = landed[T.BROKER_STATEMENTS.name].where(is_of(StatementKind.TRUNCATED_TO))
    cuts = lines.select(*C.PARTITION_KEY, C.LEADER_EPOCH, F.col(C.BROKER_ID).alias(C.REPLICA_ID), C.EVENT_TIME)
    told = replica_timeline.where(F.col(C.HIGH_WATERMARK) >= 0)
    fetched = in_stretches(_fetches(leader_timeline), C.EVENT_TIME).groupBy(*of_stretch).agg(
        F.max_by("leo", C.EVENT_SEQ).alias("leo"), F.max(_AT).alias("last"), F.min(_AT).alias("first")
    )  # fmt: skip
    last_hw = F.max_by(C.HIGH_WATERMARK, C.EVENT_SEQ).alias("hw")
    knew = in_stretches(told, C.VALID_FROM).groupBy(*of_stretch).agg(last_hw)
    cut = in_stretches(cuts, C.EVENT_TIME).groupBy(*of_stretch).agg(F.min(_AT).alias("cut"))
    known = fetched.join(cut, of_stretch, "full").join(knew, of_stretch, "left")
    return known.withColumn("us", F.coalesce("last", "cut"))


def _fetches(leader_timeline: DataFrame) -> DataFrame:
    """One row per fetch of a follower, or witness of one: the LEO it tells of, `leo`."""
    asked = leader_timeline.where(F.col(C.EVENT_TYPE) == EventType.FETCH.value).select(
        *_OF_REPLICA, C.EVENT_SEQ, C.EVENT_TIME, F.element_at(C.REMOTE_LEO_MAP, F.col(C.REPLICA_ID)).alias("leo")
    )
    remote = F.explode(C.REMOTE_LEO_MAP).alias(C.REPLICA_ID, "leo")
    proven = leader_timeline.where(F.col(C.EVENT_TYPE) == EventType.WITNESS.value).select(
        *C.PARTITION_KEY, C.LEADER_EPOCH, C.EVENT_SEQ, C.EVENT_TIME, remote
    )
    return asked.unionByName(proven).where("leo >= 0")


def _in_stretches(rows: DataFrame, time: str, changes: DataFrame, begun_anew: DataFrame) -> DataFrame:
    """Return the rows of replicas with `stretch`, how often roles had changed in the epoch by then, and `at`.

    `changes` has, by epoch and replica, when its own did: `changed`; `begun_anew`, by epoch, when the leader's process
    started again.
    """

    def by_then(times: str) -> Column:
        before = F.filter(times, lambda us: us <= F.unix_micros(time))
        return F.size(F.coalesce(before, F.array().cast("array<bigint>")))

    known = rows.join(F.broadcast(changes), _OF_REPLICA, "left").join(
        F.broadcast(begun_anew), C.on_partition(C.LEADER_EPOCH), "left"
    )
    return known.withColumns({_STRETCH: by_then("changed") + by_then("begun_anew"), _AT: F.unix_micros(time)})


def _with_last_responses(came_to: DataFrame, led: DataFrame) -> DataFrame:
    """Return the stretches, each that a leadership of its replica follows as long as the LEO that one began with.

    No fetch tells what the last response brought; the line of the election does.
    """
    began = led.select(
        *C.PARTITION_KEY,
        C.LEADER_EPOCH,
        F.col(C.LEADER_ID).alias(C.REPLICA_ID),
        F.col(NUMBER).alias(_STRETCH),
        F.col(START_LEO).alias("began_at"),
    )
    in_order = Window.partitionBy(*C.PARTITION_KEY, C.REPLICA_ID).orderBy(C.LEADER_EPOCH, _STRETCH)
    both = came_to.unionByName(began, allowMissingColumns=True)
    # `greatest` leaves out the NULL of a stretch that another one follows.
    longer = both.withColumn("leo", F.greatest(F.col("leo"), F.lead("began_at").over(in_order)))
    return longer.where("us IS NOT NULL").drop("began_at")
