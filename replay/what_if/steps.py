"""What bore on the partition's logs, as few steps as there were leaderships, restarts and stretches of fetches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.assignment import slot_of
from replay.events.leaderships import LOADED_HW, START_US, roles_with_loads
from replay.events.restarts import LOADED_LEO, restarts
from replay.findings.spans import END_LEO, NUMBER, START_LEO, spans
from replay.statements import is_of
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind, EventType, StatementKind

LOADED, FOLLOWS, LEADS, REACHED = range(4)
"""A process loaded its log; it became a follower; a leader began; a follower had fetched so far."""

STEP = (
    "struct<epoch:int,us:bigint,kind:int,slot:int,"
    "start:bigint,leo:bigint,hw:bigint,behind:bigint,since:bigint,log_start:bigint>"
)
"""`start` and `leo`: a leader's LEO at its begin and end, a loaded log's, a follower's; `behind`: the leader's end.

`since`: when a follower had cut its log, or first fetched. `log_start`: to where the leader had deleted its log."""

_NAMES_LEADER = tuple(
    str(kind.value) for kind in (ChangeKind.BECOME_FOLLOWER, ChangeKind.FOLLOWER_METADATA, ChangeKind.ASSIGNED)
)
_OF_REPLICA = C.on_partition(C.LEADER_EPOCH, C.REPLICA_ID)
_STRETCH, _AT = "stretch", "at"


def steps(
    landed: Mapping[str, DataFrame], leader_timeline: DataFrame, replica_timeline: DataFrame, assigned: DataFrame
) -> DataFrame:
    """One row per partition: its key, `slots` and `steps`, an array of `STEP` in order.

    A follower's times are its own clock's: compared with its leader's over the seconds that a restart takes.
    """
    roles = roles_with_loads(landed)
    follows = roles.where(F.col(C.CHANGE_KIND) == ChangeKind.BECOME_FOLLOWER.value)
    led = spans(leader_timeline)
    processes = _processes(led)
    stretches = _with_last_responses(_stretches(landed, leader_timeline, replica_timeline, follows, processes), led)
    parts = (
        _loaded(restarts(roles, landed[T.BROKER_STATEMENTS.name])),
        _followed(follows, landed[T.LEADER_CHANGES.name]),
        _led(led),
        _reached(stretches.join(processes, C.on_partition(C.LEADER_EPOCH))),
    )
    placed = reduce(DataFrame.unionByName, parts).join(assigned, C.on_partition())
    slotted = F.col("step").withField("slot", slot_of(F.col("step.slot"))).cast(STEP)
    return placed.groupBy(*C.PARTITION_KEY).agg(
        F.first("slots").alias("slots"), F.sort_array(F.collect_list(slotted)).alias("steps")
    )


def _step(kind: int, who: str, us: Column, **values: Column) -> Column:
    """Return the row as a step of a replica, whose id stands for its slot for now."""
    nothing = F.lit(None).cast("bigint")
    fields = {
        "epoch": F.col(C.LEADER_EPOCH), "us": us, "kind": F.lit(kind), "slot": F.col(who),
        **{name: values.get(name, nothing) for name in ("start", "leo", "hw", "behind", "since", "log_start")},
    }  # fmt: skip
    return F.struct(*[value.alias(name) for name, value in fields.items()]).alias("step")


def _loaded(restarted: DataFrame) -> DataFrame:
    """One step per restart of a process that found the partition in its log."""
    return restarted.select(
        *C.PARTITION_KEY,
        _step(LOADED, C.BROKER_ID, F.col(START_US), leo=F.col(LOADED_LEO), hw=F.col(LOADED_HW)),
    )


def _followed(follows: DataFrame, changes: DataFrame) -> DataFrame:
    """One step per role of a follower, but in an epoch in which nobody leads: there is no fetcher, and nothing is cut.

    `ReplicaManager.makeFollowers` takes the partitions whose new leader is alive.
    """
    of_nobody = changes.where(F.col(C.LEADER_ID) < 0).where(F.col(C.CHANGE_KIND).isin(*_NAMES_LEADER))
    led = follows.join(of_nobody.select(*C.PARTITION_KEY, C.LEADER_EPOCH), C.on_partition(C.LEADER_EPOCH), "left_anti")
    return led.select(*C.PARTITION_KEY, _step(FOLLOWS, C.BROKER_ID, F.col(START_US), hw=F.col("loaded")))


def _led(led: DataFrame) -> DataFrame:
    """One step per leadership whose begin a line tells."""
    came = {
        "start": F.col(START_LEO), "leo": F.col(END_LEO), "hw": F.col(C.HIGH_WATERMARK),
        "log_start": F.col(C.LOG_START_OFFSET),
    }  # fmt: skip
    step = _step(LEADS, C.LEADER_ID, F.unix_micros(C.STARTED_AT), **came)
    return led.where(F.col(START_LEO).isNotNull()).select(*C.PARTITION_KEY, step)


def _reached(stretches: DataFrame) -> DataFrame:
    """One step per stretch of a follower's fetches between its changes of role: how far it came, and the HW it knew.

    `leo` and `behind` are NULL where it is known to have cut its log and nothing more.
    """
    begun = F.filter("processes", lambda it: it["us"] <= F.col("us"))
    process = F.coalesce(F.get(begun, F.size(begun) - 1), F.get("processes", F.lit(0)))
    came = {
        "leo": F.col("leo"), "hw": F.col("hw"), "behind": process["end"] - F.col("leo"),
        "since": F.least("cut", "first"),
    }  # fmt: skip
    # A cut is of the replica's clock: none was before there was a leader to ask.
    us = F.greatest(F.col("us"), process["us"])
    return stretches.select(*C.PARTITION_KEY, _step(REACHED, C.REPLICA_ID, us, **came))


def _processes(led: DataFrame) -> DataFrame:
    """One row per leader epoch: `processes`, in order when each began that led in it (`us`), and its LEO at the `end`.

    One that restarts and keeps its epoch may have lost its tail.
    """
    process = F.struct(F.unix_micros(C.STARTED_AT).alias("us"), F.col(END_LEO).alias("end"))
    return led.groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH).agg(F.sort_array(F.collect_list(process)).alias("processes"))


def _stretches(
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
