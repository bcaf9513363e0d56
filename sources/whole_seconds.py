"""Times without a fraction, as Strimzi's layout has them since Kafka 4: the lines of a second are spread over it.

A log is written in order, so that of two lines of a second the later one is told. How much later nobody knows: they are
taken to be evenly apart, which is wrong by less than a second. Without it all that a broker did in a second would have
been at its begin, or before that by as long as it took.

Of one fetcher more is told: it asks again only when it was answered (`AbstractFetcherThread.doWork`).
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from sources.request_fields import replica_id
from sources.request_log import BESIDES_THE_WORK, LINE_TIME, TOTAL_TIME_US

_FIRST, _LAST, _SECOND = "first_line", "last_line", "second"
_OF_SECOND: list[str] = [C.SOURCE_FILE, C.BROKER_ID, _SECOND]
_SECOND_US = 1_000_000


def spread_over_seconds(requests: DataFrame, logs: DataFrame, files: Collection[str]) -> tuple[DataFrame, DataFrame]:
    """Return the parsed lines, the times of those of `files` that are whole seconds made finer.

    A file's requests and its other lines are in one order, whichever frame they are in.
    """
    each = _coarse(requests, F.col(LINE_TIME), files).unionByName(_coarse(logs, F.col(C.EVENT_TIME), files))
    seconds = F.broadcast(each.groupBy(*_OF_SECOND).agg(F.min("line").alias(_FIRST), F.max("line").alias(_LAST)))
    return _in_turn(_spread(requests, LINE_TIME, seconds), files), _spread(logs, str(C.EVENT_TIME), seconds)


def _coarse(lines: DataFrame, time: Column, files: Collection[str]) -> DataFrame:
    """One row per line of these files whose time is a whole second: which one, and the line's number."""
    is_whole = F.unix_micros(time) % _SECOND_US == 0
    of_files = lines.where(F.col(C.SOURCE_FILE).isin(*files) & is_whole)
    return of_files.select(C.SOURCE_FILE, C.BROKER_ID, time.alias(_SECOND), F.col(C.SOURCE_LINE).alias("line"))


def _spread(lines: DataFrame, time: str, seconds: DataFrame) -> DataFrame:
    """Return the lines, each in its place between the first and the last of its second."""
    placed = lines.withColumn(_SECOND, F.col(time)).join(seconds, _OF_SECOND, "left")
    lines_of_it = F.col(_LAST) - F.col(_FIRST) + 1
    share_us = (2 * (F.col(C.SOURCE_LINE) - F.col(_FIRST)) + 1) * _SECOND_US / (2 * lines_of_it)
    later = F.timestamp_micros(F.unix_micros(time) + share_us.cast("bigint"))
    return placed.withColumn(time, F.coalesce(later, F.col(time))).select(*lines.columns)


def _in_turn(requests: DataFrame, files: Collection[str]) -> DataFrame:
    """Return the requests, those of a follower's fetcher no longer than since the answer to its one before.

    The times of lines stay in the order of the log; what took all of its time would have begun too early.
    """
    replica = replica_id(F.col("request"))
    is_of_fetcher = F.coalesce(F.col(C.SOURCE_FILE).isin(*files) & (replica >= 0), F.lit(False))
    in_turn = Window.partitionBy(C.SOURCE_FILE, C.BROKER_ID, C.CLIENT_ID, replica).orderBy(C.SOURCE_LINE)
    line_us = F.unix_micros(LINE_TIME)
    gap_us = F.coalesce(line_us - F.lag(line_us).over(in_turn), TOTAL_TIME_US)
    least_us = sum((F.col(name) for name in BESIDES_THE_WORK), F.lit(0))
    took_us = F.greatest(F.least(TOTAL_TIME_US, gap_us), least_us)
    # Only these are sorted: the rest of a log, of whatever size, would be one partition of the window.
    of_fetchers = requests.where(is_of_fetcher).withColumn(TOTAL_TIME_US, took_us)
    return requests.where(~is_of_fetcher).unionByName(of_fetchers)
