"""How far back news reach: up to which moment the timelines that stand can not change by what has landed since.

A row is settled by what follows it: a response by its replica's next fetch, an order by the next response that tells
the HW, an acks=all append by the HW that passes it. So the end of what was known then is never settled, nor is what
followed the last word of a replica that is heard from again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.going_on.late_roles import ends_told_of
from replay.going_on.restarted import before_interruptions, before_loads
from replay.profile import Profile
from replay.timelines import Timelines
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind, Exactness, Role

UNTIL_US, FIRST_US = "until_us", "first_us"
"""bigint: the moment, and the first of the news, microseconds since the epoch."""
_APART_US = 5_000_000
"""What belongs together is never farther apart: a fetch is parked for half a second, a clock is off by milliseconds."""
_TIMED = (
    T.PRODUCE_EVENTS, T.FETCH_EVENTS, T.LEADER_CHANGES, T.BROKER_STATEMENTS, T.METADATA_CHANGES, T.BROKER_REGISTRATIONS,
)  # fmt: skip
_PAIR = C.REPLICA_KEY
_ON_PAIR = [str(column) for column in _PAIR]
_ON_BROKER = [str(column) for column in C.BROKER_KEY]
_IS_BOUNDED = f"{C.EXACTNESS} = '{Exactness.BOUNDED.value}'"
"""SQL: nobody can tell the state to the step."""
_LATELY = "INTERVAL 10 SECONDS"
"""SQL: a follower that is alive fetches every half second."""


def reach_us(profile: Profile, apart_us: int = _APART_US) -> Column:
    """Return how long what happens may bear on what happens later, and news on what was before, in microseconds.

    Who was caught up within the lag time may hold the HW, if some replica is ever outside its ISR (R:62).
    """
    lag_us = F.lit(profile.lag_time_ms).cast("bigint") * 1000
    return F.lit(apart_us) + (lag_us if profile.has_outsiders else F.lit(0))


def first_news(new: Mapping[str, DataFrame]) -> DataFrame:
    """One row: `first_us`, when the first of the news was, of whatever cluster; NULL if there are none."""
    return _times(new).agg(F.unix_micros(F.min("at")).alias(FIRST_US))


def settled_until(
    landed: Mapping[str, DataFrame],
    new: Mapping[str, DataFrame],
    stands: Timelines,
    profile: Profile,
    first_us: int | Column | None,
) -> DataFrame:
    """One row per cluster with news: `until_us`, the last moment that they leave alone.

    `new` are the rows of the landing tables, `landed`, that have landed since the timelines `stands` were made;
    `first_us` is `first_news`, best as a number: then files are skipped by it.
    """
    lately = F.timestamp_micros(F.lit(first_us).cast("bigint")) - F.expr(_LATELY)
    limits = (
        _times(new),
        _first_setting(new[T.SETTINGS.name]),
        _ends_of_leaders(landed, new, stands.leader_timeline, lately),
        _open_ends(new, stands.replica_timeline, lately),
        before_loads(landed, new, stands.leader_timeline),
        ends_told_of(landed, new),
    )
    united = reduce(DataFrame.unionByName, limits)
    earliest = united.groupBy(C.CLUSTER_ID).agg(F.min("at").alias("at"))
    moments = earliest.select(C.CLUSTER_ID, (F.unix_micros("at") - reach_us(profile)).alias(UNTIL_US))
    return before_interruptions(moments, landed, UNTIL_US)


def _times(new: Mapping[str, DataFrame]) -> DataFrame:
    """One row per row that has a time: that."""
    times = [new[table.name].select(C.CLUSTER_ID, F.col(C.EVENT_TIME).alias("at")) for table in _TIMED]
    return reduce(DataFrame.unionByName, times)


def _first_setting(new: DataFrame) -> DataFrame:
    """One row per setting: since when it has been in force, at the latest; one without a time always was."""
    return new.select(C.CLUSTER_ID, F.coalesce(C.EVENT_TIME, F.timestamp_micros(F.lit(0))).alias("at"))


def _of_late_first(
    find: Callable[[DataFrame, DataFrame], DataFrame], rows: DataFrame, is_of_late: Column, of: DataFrame, on: list[str]
) -> DataFrame:
    """Return what `find` finds for each row of `of`: in the rows of late, and where nothing is found there in all.

    To group all rows is dear; most ends are of late, in files of their own.
    """
    recent = find(rows.where(is_of_late), of)
    silent = of.join(F.broadcast(recent), on, "left_anti")
    return recent.unionByName(find(rows, silent))


def _ends_of_leaders(
    landed: Mapping[str, DataFrame], new: Mapping[str, DataFrame], leader_timeline: DataFrame, lately: Column
) -> DataFrame:
    """One row per leader that is heard from again: when the last event at its broker was, as far as was known."""
    heard = [new[table.name].select(*C.BROKER_KEY).distinct() for table in (T.PRODUCE_EVENTS, T.FETCH_EVENTS)]
    led = leader_timeline.withColumnRenamed(C.LEADER_ID, C.BROKER_ID)
    of_late = F.col(C.EVENT_TIME) > lately
    again = reduce(DataFrame.unionByName, heard).distinct().join(_stepped_down(landed, new), _ON_BROKER, "left_anti")
    return _of_late_first(_last_led, led, of_late, again, _ON_BROKER).select(C.CLUSTER_ID, "at")


def _stepped_down(landed: Mapping[str, DataFrame], new: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker that, before the news, had been told to follow wherever it had led: that is over."""
    is_role = F.col(C.CHANGE_KIND).isin(ChangeKind.BECOME_LEADER.value, ChangeKind.BECOME_FOLLOWER.value)
    told = (*C.PARTITION_KEY, C.BROKER_ID, C.LEADER_EPOCH, C.EVENT_TIME, C.CHANGE_KIND)
    roles, news = (rows[T.LEADER_CHANGES.name].where(is_role).select(*told) for rows in (landed, new))
    last = F.max_by(C.CHANGE_KIND, F.struct(C.EVENT_TIME, C.LEADER_EPOCH))
    known = roles.join(news, [*map(str, told)], "left_anti").groupBy(*C.PARTITION_KEY, C.BROKER_ID)
    leads = F.bool_or(F.col("last") == ChangeKind.BECOME_LEADER.value).alias("leads")
    return known.agg(last.alias("last")).groupBy(*C.BROKER_KEY).agg(leads).where("NOT leads").select(*C.BROKER_KEY)


def _last_led(events: DataFrame, of: DataFrame) -> DataFrame:
    """One row per broker in `of` with events: when its last one was."""
    known = events.join(F.broadcast(of), _ON_BROKER, "left_semi")
    return known.groupBy(*C.BROKER_KEY).agg(F.max(C.EVENT_TIME).alias("at"))


def _open_ends(new: Mapping[str, DataFrame], replica_timeline: DataFrame, lately: Column) -> DataFrame:
    """One row per follower that is heard from again and whose last response may not have arrived: since when that is.

    Its next fetch, or the line of its next role, tells.
    """
    fetched = new[T.FETCH_EVENTS.name].select(*_PAIR)
    roles = new[T.LEADER_CHANGES.name].select(*C.PARTITION_KEY, F.col(C.BROKER_ID).alias(C.REPLICA_ID))
    still = F.col(C.VALID_TO).isNull() & F.expr(_IS_BOUNDED) & (F.col(C.ROLE) == Role.FOLLOWER.value)
    again = F.broadcast(fetched.unionByName(roles).distinct())
    opened = replica_timeline.where(still).select(*_PAIR).join(again, _ON_PAIR, "left_semi").distinct()
    of_late = (F.col(C.VALID_TO) > lately) & ~F.expr(_IS_BOUNDED)
    return _of_late_first(_last_known, replica_timeline, of_late, opened, _ON_PAIR).select(C.CLUSTER_ID, "at")


def _last_known(states: DataFrame, of: DataFrame) -> DataFrame:
    """One row per replica in `of` with states: until when its last exact one held, or since when it is known."""
    return (
        states.join(F.broadcast(of), _ON_PAIR, "left_semi")
        .groupBy(*_PAIR)
        .agg(F.coalesce(F.max(F.when(~F.expr(_IS_BOUNDED), F.col(C.VALID_TO))), F.min(C.VALID_FROM)).alias("at"))
    )
