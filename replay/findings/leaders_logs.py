"""Leaders' logs: which leader epochs the log holds that a leadership began with, and from where it is another's.

It is what a leader-epoch cache holds, rebuilt from who took part in which epoch.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.findings.spans import NUMBER, SPAN, START_LEO
from schemas import columns as C

SPLIT_AT = "split_at"
"""bigint: end of the records that the new leader's log and its predecessor's have in common."""
_FOLLOWED = "followed"
"""struct<epoch,leo>: in which epoch before the leader had last taken part, and the LEO that it came to."""
_LOG, _FROM = "log", "from_offset"
"""array<struct<leader_epoch,number,from_offset>>: where each leadership begins in it."""
_NEXT_BEFORE = 1 << 30
"""An epoch after all: the leadership right before is meant."""
_LOGS = (
    f"array<struct<{C.LEADER_EPOCH}:int,{NUMBER}:int,{SPLIT_AT}:bigint,"
    f"{_LOG}:array<struct<{C.LEADER_EPOCH}:int,{NUMBER}:int,{_FROM}:bigint>>>>"
)


def splits(led: DataFrame, took_part: DataFrame) -> DataFrame:
    """One row per leadership whose begin a line tells: `SPAN`, and `split_at`, from the one before of which one does.

    `led` is `spans.spans`, `took_part` `contacts.contacts`. A leader that took part in the epoch before holds a prefix
    of that log. One that was away since an older epoch holds that epoch's tail in place of what later leaders appended
    (an unclean election), if its log was as long already when it went away; and so may its predecessor have been.
    """
    begun = _with_followed(led.where(F.col(START_LEO).isNotNull()), took_part)
    each = F.struct(C.LEADER_EPOCH, NUMBER, START_LEO, _FOLLOWED)
    in_order = begun.groupBy(*C.PARTITION_KEY).agg(F.sort_array(F.collect_list(each)).alias("begun"))
    logs = F.aggregate("begun", F.array().cast(_LOGS), lambda logs, it: F.concat(logs, F.array(_begun(logs, it))))
    found = in_order.select(*C.PARTITION_KEY, F.explode(logs).alias("found"))
    return found.select(
        *C.PARTITION_KEY, *[F.col("found")[name].alias(name) for name in (C.LEADER_EPOCH, NUMBER, SPLIT_AT)]
    )


def _with_followed(led: DataFrame, took_part: DataFrame) -> DataFrame:
    """Return the leaderships with `_FOLLOWED`; NULL of a leader that is not seen before."""
    seen = F.struct(F.col(C.LEADER_EPOCH).alias("epoch"), F.col(C.LOG_END_OFFSET).alias("leo"))
    of_replica = took_part.groupBy(*C.PARTITION_KEY, F.col(C.REPLICA_ID).alias(C.LEADER_ID)).agg(
        F.collect_list(seen).alias("seen")
    )
    earlier = F.filter("seen", lambda it: it["epoch"] < F.col(C.LEADER_EPOCH))
    known = led.join(of_replica, C.on_partition(C.LEADER_ID), "left")
    return known.select(*SPAN, START_LEO, F.array_max(earlier).alias(_FOLLOWED))


def _begun(logs: Column, it: Column) -> Column:
    """Return the log of a leadership, and where it parts from that of the last one in `logs`."""
    start, followed = it[START_LEO], it[_FOLLOWED]
    is_old = followed["leo"] >= start
    parent_epoch = F.when(it[NUMBER] > 1, it[C.LEADER_EPOCH]).when(is_old, followed["epoch"]).otherwise(_NEXT_BEFORE)
    parent = F.try_element_at(F.filter(logs, lambda one: one[C.LEADER_EPOCH] <= parent_epoch), F.lit(-1))
    kept = F.filter(parent[_LOG], lambda part: part[_FROM] < start)
    own = F.array(F.struct(it[C.LEADER_EPOCH].alias(C.LEADER_EPOCH), it[NUMBER].alias(NUMBER), start.alias(_FROM)))
    log, nothing = F.concat(F.coalesce(kept, F.slice(own, 1, 0)), own), F.slice(own, 1, 0)
    theirs = F.coalesce(F.try_element_at(logs, F.lit(-1))[_LOG], nothing)
    differ = F.concat(F.array_except(log, theirs), F.array_except(theirs, log))
    split_at = F.array_min(F.transform(differ, lambda part: part[_FROM]))
    return F.struct(
        it[C.LEADER_EPOCH].alias(C.LEADER_EPOCH), it[NUMBER].alias(NUMBER), split_at.alias(SPLIT_AT), log.alias(_LOG)
    )
