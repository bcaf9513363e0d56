"""Stretches: a hot partition cut by time, so that it is more than one task; each is replayed as a partition of its own.

A stretch has its own time, some before it from which the state at its begin is found again, as `replay.going_on.tail`
has it, and some after it, which tells what its end came to. `stitched` makes one timeline of them again.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.events.batch_starts import BATCH_START, batch_starts
from replay.events.ended_logs import ENDED
from replay.going_on.standing import LED, ends_of_epochs, last_fetches, last_of, standing_appends, standing_fetches
from replay.partitions import of_partitions
from replay.statements import is_of
from replay.stretches.requests import (
    EVER_US,
    PART_ID,
    SECOND_US,
    SINCE_US,
    STRETCH,
    TO_US,
    ended_us,
    requests,
    second_of,
)
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind

FROM_US, UNTIL_US = "from_us", "until_us"
"""bigint: a stretch's own events are after `from` and up to `until`."""


def stretches(hot: DataFrame, reach_us: Column) -> DataFrame:
    """One row per stretch; `hot` has a row per hot partition: its key, and `cuts`, whole seconds in ascending order.

    `reach_us`, of a row of `hot`, is how far its stretches look around themselves.
    """
    bounds = F.concat(F.array(F.lit(-EVER_US)), F.transform("cuts", lambda s: s * SECOND_US), F.array(F.lit(EVER_US)))
    # Whole seconds, so that requests are gathered by the second to find which stand at a begin.
    reach = F.ceil(reach_us / SECOND_US) * SECOND_US
    number = F.explode(F.sequence(F.lit(0), F.size("cuts")))
    each = hot.select(*C.PARTITION_KEY, bounds.alias("bounds"), reach.alias("reach"), number.alias(STRETCH))
    own = each.withColumns(
        {
            PART_ID: F.concat_ws("#", C.TOPIC_ID, F.col(STRETCH).cast("string")),
            FROM_US: F.get("bounds", F.col(STRETCH)),
            UNTIL_US: F.get("bounds", F.col(STRETCH) + 1),
        }
    )
    around = {SINCE_US: F.col(FROM_US) - F.col("reach"), TO_US: F.col(UNTIL_US) + F.col("reach")}
    return own.withColumns(around).drop("bounds", "reach")


def split(landed: Mapping[str, DataFrame], cut: DataFrame) -> dict[str, DataFrame]:
    """Return the tables, each stretch's rows under its `part_id`; `cut` is `stretches`."""
    produced, fetched = landed[T.PRODUCE_EVENTS.name], landed[T.FETCH_EVENTS.name]
    statements = landed[T.BROKER_STATEMENTS.name]
    appends = _appends_before(produced, statements, cut)
    fetches = _fetches_before(fetched, cut)
    few = {T.LEADER_CHANGES.name, T.METADATA_CHANGES.name, ENDED} & landed.keys()
    changed = {name: _of_each(landed[name], cut) for name in few}
    return {
        **landed,
        **changed,
        T.BROKER_STATEMENTS.name: _of_each(statements, cut, _is_told()),
        T.SEGMENT_BATCHES.name: _of_each(_last_dumped(landed[T.SEGMENT_BATCHES.name]), cut),
        T.PRODUCE_EVENTS.name: requests(produced, cut, appends, (C.BASE_OFFSET,)),
        T.FETCH_EVENTS.name: requests(fetched, cut, fetches, (C.BROKER_ID, C.REPLICA_ID, C.EVENT_TIME)),
    }


def _of_each(rows: DataFrame, cut: DataFrame, which: Column | None = None) -> DataFrame:
    """Return the rows, those of a hot partition in each of its stretches for which `which` holds."""
    of_stretch = cut.select(*C.PARTITION_KEY, STRETCH, PART_ID, SINCE_US, TO_US)
    each = rows.join(F.broadcast(of_stretch), C.on_partition(), "left")
    wanted = each if which is None else each.where(F.col(STRETCH).isNull() | which)
    return wanted.withColumn(C.TOPIC_ID, F.coalesce(PART_ID, C.TOPIC_ID)).select(*rows.columns)


def _last_dumped(batches: DataFrame) -> DataFrame:
    """Return of each dumped log its last batch: where it ended is all that is asked of them (`log_ends`)."""
    log = C.on_partition(C.BROKER_ID)
    last = batches.groupBy(*log).agg(F.max(C.LAST_OFFSET).alias(C.LAST_OFFSET))
    return batches.join(last, [*log, str(C.LAST_OFFSET)], "left_semi")


def _is_told() -> Column:
    """Return whether a statement tells the stretch something: of truncations only those in its time, to be counted.

    A LEO that is stated later bounds what was before it, up to the appends that the stretch does not have.
    """
    at = F.unix_micros(C.EVENT_TIME)
    is_later, is_earlier = at >= F.col(TO_US), at < F.col(SINCE_US)
    is_cut, is_stated = is_of(StatementKind.TRUNCATED_TO), is_of(StatementKind.SHRINKING_LEO)
    return ~((is_cut & is_earlier) | ((is_cut | is_stated) & is_later))


def _before(gathered: DataFrame, cut: DataFrame) -> DataFrame:
    """Return what was gathered by the second, for each stretch that begins later."""
    begins = cut.select(*C.PARTITION_KEY, STRETCH, SINCE_US)
    return gathered.join(F.broadcast(begins), C.on_partition()).where(F.col("second") * SECOND_US < F.col(SINCE_US))


def _appends_before(produced: DataFrame, statements: DataFrame, cut: DataFrame) -> DataFrame:
    """One row per stretch and append, before it, that is an epoch's first or last, or that a log starts within."""
    hot = of_partitions(produced, cut)
    gathered = _before(ends_of_epochs(hot, _second()), cut).groupBy(*LED, STRETCH)
    ends = gathered.agg(F.min("first").alias("first"), F.max("last").alias("last"))
    within = batch_starts(statements, hot).select(*C.PARTITION_KEY, F.col(BATCH_START).alias(C.BASE_OFFSET))
    of_all = within.join(F.broadcast(cut.select(*C.PARTITION_KEY, STRETCH)), C.on_partition())
    return standing_appends(ends, STRETCH).unionByName(of_all).distinct()


def _fetches_before(fetched: DataFrame, cut: DataFrame) -> DataFrame:
    """One row per stretch and follower's last fetch before it: the last one, the last accepted, the last answered."""
    hot = of_partitions(fetched, cut)
    last = last_of(_before(last_fetches(hot, _second()), cut), STRETCH)
    return standing_fetches(last, STRETCH)


def _second() -> Column:
    """Return the second in which a request was over."""
    return second_of(ended_us()).alias("second")
