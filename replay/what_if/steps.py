"""What bore on the partition's logs, as few steps as there were leaderships, restarts and stretches of fetches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.assignment import slot_of
from replay.events.leaderships import LOADED_HW, START_US, roles_with_loads
from replay.events.restarts import LOADED_LEO, restarts
from replay.findings.spans import END_LEO, START_LEO, spans
from replay.what_if.fetch_stretches import fetch_stretches
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind

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


def steps(
    landed: Mapping[str, DataFrame], leader_timeline: DataFrame, replica_timeline: DataFrame, assigned: DataFrame
) -> DataFrame:
    """One row per partition: its key, `slots` and `steps`, an array of `STEP` in order.

    A follower's times are its own clock's: compared with its leader's over the seconds that a restart takes.
    """
    roles = roles_with_loads(landed)
    follows = roles.where(F.col(C.CHANGE_KIND) == ChangeKind.BECOME_FOLLOWER.value)
    led = spans(leader_timeline)
    parts = (
        _loaded(restarts(roles, landed[T.BROKER_STATEMENTS.name])),
        _followed(follows, landed[T.LEADER_CHANGES.name]),
        _led(led),
        _reached(fetch_stretches(landed, leader_timeline, replica_timeline, follows, led)),
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


def _reached(fetched: DataFrame) -> DataFrame:
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
    return fetched.select(*C.PARTITION_KEY, _step(REACHED, C.REPLICA_ID, us, **came))
