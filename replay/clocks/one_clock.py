"""All times on one clock, for the rules that look at two brokers' at once; and back on those that logs were written by.

Which clock is ahead by how much is `ahead.Ahead`; where it is empty nothing is done.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.clocks.ahead import Ahead
from replay.timelines import Timelines
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_REPLICA, Field
from schemas.kinds import ChangeKind

_OF_BROKERS = (T.PRODUCE_EVENTS, T.FETCH_EVENTS, T.LEADER_CHANGES, T.BROKER_STATEMENTS, T.SETTINGS)
_OF_CONTROLLERS = (T.METADATA_CHANGES, T.BROKER_REGISTRATIONS)
"""Landing tables whose times are one broker's, or the controllers'; those of producers and of files stay as told."""
_LED_BY = "led_by"
_OF_EPOCH = C.on_partition(C.LEADER_EPOCH)


def on_one_clock(landed: Mapping[str, DataFrame], ahead: Ahead) -> Mapping[str, DataFrame]:
    """Return the landing tables with every broker's times on the clock that most brokers' agree with."""
    if not ahead:
        return landed
    by_broker, by_controllers = (-_us(ahead, whose) for whose in (F.col(C.BROKER_ID), F.lit(NO_REPLICA)))
    us = dict.fromkeys(_OF_BROKERS, by_broker) | dict.fromkeys(_OF_CONTROLLERS, by_controllers)
    moved = {table.name: _moved(landed[table.name], _times(table), by) for table, by in us.items()}
    return {**landed, **moved}


def timelines_on_one_clock(timelines: Timelines, landed: Mapping[str, DataFrame], ahead: Ahead) -> Timelines:
    """Return timelines as `on_own_clocks` has them with all times on one clock again."""
    return _all_moved(timelines, landed, ahead, back=False) if ahead else timelines


def on_own_clocks(timelines: Timelines, landed: Mapping[str, DataFrame], ahead: Ahead) -> Timelines:
    """Return timelines of one clock as they are told: on that of the epoch's leader, a stated cut on its replica's.

    `landed` tells who led, on whatever clock.
    """
    return _all_moved(timelines, landed, ahead, back=True) if ahead else timelines


def on_leaders_clocks(
    rows: DataFrame, times: tuple[Field, ...], landed: Mapping[str, DataFrame], ahead: Ahead
) -> DataFrame:
    """Return rows of one clock, such as incidents, with these times on that of the leader in whose epoch they are."""
    return _by_leaders(rows, times, _us(ahead, F.col(_LED_BY)), landed) if ahead else rows


def _all_moved(timelines: Timelines, landed: Mapping[str, DataFrame], ahead: Ahead, *, back: bool) -> Timelines:
    """Return timelines with all times later by what the clocks they are of are ahead, or not `back`: earlier."""

    def us(whose: Column) -> Column:
        """By how much the times of this broker move."""
        return _us(ahead, whose) if back else -_us(ahead, whose)

    states, cuts, led_by = timelines.replica_timeline, timelines.truncations, F.col(_LED_BY)
    by_whom = F.when(F.col(C.IS_STATED), F.col(C.REPLICA_ID)).otherwise(led_by)
    return Timelines(
        leader_timeline=_moved(timelines.leader_timeline, (C.EVENT_TIME,), us(F.col(C.LEADER_ID))),
        replica_timeline=_by_leaders(states, (C.VALID_FROM, C.VALID_TO), us(led_by), landed),
        truncations=_by_leaders(cuts, (C.EVENT_TIME,), us(by_whom), landed),
    )


def _by_leaders(rows: DataFrame, times: tuple[Field, ...], us: Column, landed: Mapping[str, DataFrame]) -> DataFrame:
    """Return rows with these times later by `us`, which may name `led_by`, the leader of their epoch."""
    told = rows.join(F.broadcast(_leaders(landed)), _OF_EPOCH, "left")
    return _moved(told, times, us).select(*rows.columns)


def _leaders(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader epoch: `led_by`, as its leader's own line tells, or another's, or the metadata log."""
    changes, records = landed[T.LEADER_CHANGES.name], landed[T.METADATA_CHANGES.name]
    leads = F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value
    own = changes.where(leads).select(*_OF_EPOCH, F.lit(0).alias("rank"), F.col(C.BROKER_ID).alias(_LED_BY))
    named = [rows.where(F.col(C.LEADER_ID) >= 0).select(*_OF_EPOCH, C.LEADER_ID) for rows in (changes, records)]
    of_others = named[0].unionByName(named[1]).select(*_OF_EPOCH, F.lit(1).alias("rank"), F.col(C.LEADER_ID))
    first = F.min(F.struct("rank", _LED_BY))[_LED_BY].alias(_LED_BY)
    return own.unionByName(of_others.withColumnRenamed(C.LEADER_ID, _LED_BY)).groupBy(*_OF_EPOCH).agg(first)


def _times(table: T.Table) -> tuple[Field, ...]:
    """Return the columns of a table that are times."""
    return tuple(column for column in table.columns if column.type == C.TIME)


def _moved(rows: DataFrame, times: tuple[Field, ...], us: Column) -> DataFrame:
    """Return rows with these times later by `us`; the same columns in the same order."""
    return rows.withColumns({time: F.timestamp_micros(F.unix_micros(time) + us) for time in times})


def _us(ahead: Ahead, broker: Column) -> Column:
    """Return by how much the clock of a broker is ahead, in microseconds; 0 of one that is not apart, or unknown."""
    us = F.lit(0).cast("bigint")
    for (cluster, one), by in ahead.items():
        us = F.when((F.col(C.CLUSTER_ID) == cluster) & (broker == one), F.lit(by).cast("bigint")).otherwise(us)
    return us
