"""A log as an expression: the leader epochs it consists of, and its LEO; what two logs share, and what a cut leaves.

A log is `LOG`. A run is the first offset of a leader epoch's records, as in a leader-epoch-checkpoint; same offset and
same epoch is the same record (log matching), so that two logs are compared run by run.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

RUNS = "array<struct<epoch:int,start:bigint>>"
LOG = f"struct<runs:{RUNS},leo:bigint,hw:bigint>"
"""Its runs in order, its LEO, and the HW its replica knows."""


def log(runs: Column, leo: Column, hw: Column) -> Column:
    """Return a log."""
    return F.struct(runs.alias("runs"), leo.alias("leo"), hw.alias("hw")).cast(LOG)


def let(value: Column, body: Callable[[Column], Column]) -> Column:
    """Return `body` of `value`, which is worked out once: a lambda's variable is the only name an expression has."""
    return F.get(F.transform(F.array(value), body), F.lit(0))


def run(epoch: Column, start: Column) -> Column:
    """Return an array of one run."""
    return F.array(F.struct(epoch.cast("int").alias("epoch"), start.cast("bigint").alias("start"))).cast(RUNS)


def no_runs() -> Column:
    """Return an array of no run."""
    return F.array().cast(RUNS)


def shared(one: Column, other: Column) -> Column:
    """Return the end of the records two logs have in common."""
    differ = F.zip_with(
        one["runs"], other["runs"], lambda a, b: F.when(~a.eqNullSafe(b), F.least(a["start"], b["start"]))
    )
    return F.least(F.array_min(differ), one["leo"], other["leo"])


def apart(one: Column, other: Column) -> Column:
    """Return the range at the end of both logs, as far as both go, that holds other records: NULL where they end alike.

    What lies before records in common is no part of it: there the logs parted once, and have come together since.
    """
    end = F.least(one["leo"], other["leo"])
    starts = F.filter(F.array_union(one["runs"]["start"], other["runs"]["start"]), lambda it: it < end)
    alike = F.array_max(F.filter(starts, lambda it: _epoch_at(one, it).eqNullSafe(_epoch_at(other, it))))
    since = F.array_min(F.filter(starts, lambda it: it > F.coalesce(alike, F.lit(-1))))
    return F.when(since.isNotNull(), F.struct(since.alias("start"), end.alias("end")))


def cut(whole: Column, end: Column) -> Column:
    """Return the log truncated to `end`; all of it where that lies beyond."""
    kept = F.filter(whole["runs"], lambda it: it["start"] < end)
    return log(kept, F.least(whole["leo"], end), F.least(whole["hw"], end))


def grown(own: Column, epoch: Column, records: Column) -> Column:
    """Return the log after its leader appended records, or none, in an epoch.

    A leader enters its epoch before it appends anything; an entry without records gives way to the next one. One that
    restarts and keeps its epoch has entered it (`LeaderEpochFileCache.assign`, LEFC:103-162).
    """
    before = F.filter(own["runs"], lambda it: (it["start"] < own["leo"]) & (it["epoch"] <= epoch))
    has_entered = F.exists(before, lambda it: it["epoch"] == epoch)
    runs = F.when(has_entered, before).otherwise(F.concat(before, run(epoch, own["leo"])))
    return log(runs, own["leo"] + records, own["hw"])


def fetched(own: Column, leader: Column, end: Column) -> Column:
    """Return the log after fetches up to `end` from its LEO on, whatever lies below: nothing is compared."""
    # OFFSET_OUT_OF_RANGE: truncated to the leader's LEO (`AbstractFetcherThread.fetchOffsetAndTruncate`).
    return let(cut(own, leader["leo"]), lambda base: _continued(base, leader, end))


def _epoch_at(of: Column, offset: Column) -> Column:
    begun = F.filter(of["runs"], lambda it: it["start"] <= offset)
    return F.get(begun, F.size(begun) - 1)["epoch"]


def _continued(base: Column, leader: Column, end: Column) -> Column:
    epoch = _epoch_at(leader, base["leo"])
    own_epoch = F.get(base["runs"], F.size(base["runs"]) - 1)["epoch"]
    is_other = (base["leo"] < end) & ~epoch.eqNullSafe(own_epoch)
    first = F.when(is_other, run(epoch, base["leo"])).otherwise(no_runs())
    rest = F.filter(leader["runs"], lambda it: (it["start"] > base["leo"]) & (it["start"] < end))
    return log(F.concat(base["runs"], first, rest), F.greatest(base["leo"], end), base["hw"])
