"""The tail of a history: of the landed rows those that what comes after a moment depends on.

Changes of leaders, ISRs and settings are few and stay; of the requests before the moment those that stand then. Appends
of transactions are no part of it: those that the LSO needs are looked for by themselves (`replay.states.unfinished`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.events.batch_starts import BATCH_START, batch_starts
from replay.going_on.standing import FETCHER, ends_of_epochs, last_fetches, standing_appends, standing_fetches
from replay.going_on.standing_lineage import ends_between_elections, standing_fetches_of_epochs
from schemas import columns as C
from schemas import tables as T


def tail_of(
    landed: Mapping[str, DataFrame], since_us: int | Column, *, has_transactions: bool = False
) -> dict[str, DataFrame]:
    """Return the tables of `landed`, of requests those that were under way at `since_us` or later, and what stood then.

    `since_us` is in microseconds since the epoch, on every broker's own clock. With transactions (`Profile`) more
    stands: what tells whose records each log holds.
    """
    produced, fetched = landed[T.PRODUCE_EVENTS.name], landed[T.FETCH_EVENTS.name]
    appended, asked = (requests.where(~is_later(since_us)) for requests in (produced, fetched))
    ends = ends_between_elections(appended, landed) if has_transactions else ends_of_epochs(appended)
    appends = _appends_before(appended, ends, landed[T.BROKER_STATEMENTS.name])
    fetches = standing_fetches_of_epochs(asked) if has_transactions else standing_fetches(last_fetches(asked))
    return {
        **landed,
        T.PRODUCE_EVENTS.name: _later_or(produced, appends, C.on_partition(C.BASE_OFFSET), since_us),
        T.FETCH_EVENTS.name: _later_or(fetched, fetches, [*FETCHER, C.EVENT_TIME], since_us),
    }


def is_later(since_us: int | Column) -> Column:
    """Return whether the request was answered, or came, at the moment or after it."""
    since = F.timestamp_micros(F.lit(since_us))
    return (F.col(C.EVENT_TIME) >= since) | F.coalesce(F.col(C.RESPONSE_TIME) >= since, F.lit(False))


def _later_or(requests: DataFrame, standing: DataFrame, key: Sequence[str], since_us: int | Column) -> DataFrame:
    """Return the requests that are later, and those that `standing` names by their `key`; looked through once."""
    named = F.broadcast(standing.select(*key, F.lit(True).alias("is_standing")))
    marked = requests.join(named, [*key], "left")
    return marked.where(is_later(since_us) | F.col("is_standing")).select(*requests.columns)


def _appends_before(earlier: DataFrame, ends: DataFrame, statements: DataFrame) -> DataFrame:
    """One row per append that is the first or the last of `ends`, or that a log was made to start in: its key."""
    # Offsets first and rows by a join: the greatest struct of a group would be found by sorting all rows.
    within = batch_starts(statements, earlier).select(*C.PARTITION_KEY, F.col(BATCH_START).alias(C.BASE_OFFSET))
    return standing_appends(ends).unionByName(within).distinct()
