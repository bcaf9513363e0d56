"""Into how many parts a job's shuffles are cut: by its data, for each part costs, if only a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from schemas.tables import FETCH_EVENTS, PRODUCE_EVENTS
from sources.source_file import SourceFile

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
_FEW_TASKS = 4
"""Parts of a shuffle of few rows. Spark's writers open a file for each part that a task writes to: with the 400 of
`conf/` that took a third of a second of CPU in each task of each small stage, however few its rows."""
_OF_LARGE = 12
"""Of a large log there are more leaderships, too: small stages have one part for as many of its shuffles' parts."""


def shuffle_parts(spark: SparkSession) -> int:
    """Into how many parts what is planned now would be shuffled."""
    return int(spark.conf.get(SHUFFLE_PARTITIONS) or "200")


@contextmanager
def few_tasks(spark: SparkSession, most: int = _FEW_TASKS) -> Iterator[None]:
    """What is planned meanwhile shuffles into at most so many parts; AQE makes fewer tasks of them where it may."""
    before = shuffle_parts(spark)
    spark.conf.set(SHUFFLE_PARTITIONS, str(min(most, before)))
    try:
        yield
    finally:
        spark.conf.set(SHUFFLE_PARTITIONS, str(before))


def tasks_of_few(spark: SparkSession) -> int:
    """Into how many parts what does not grow with requests is shuffled, beside shuffles that do."""
    return max(_FEW_TASKS, shuffle_parts(spark) // _OF_LARGE)


def in_few_parts(frame: DataFrame) -> DataFrame:
    """The frame in no more parts than its session's shuffles have.

    A union has as many as all that it is made of, and each part is a task, which first of all takes in the whole plan.
    """
    return frame.coalesce(shuffle_parts(frame.sparkSession))


_BYTES_A_TASK = 12_000_000
"""Of a log's text, as AQE makes a task of as many bytes: what is shuffled of it is less."""


def tasks_of_files(files: Iterable[SourceFile]) -> int:
    """Into how many parts what is read of these files is shuffled: by their size, packed or not."""
    return max(_FEW_TASKS, sum(file.size for file in files) // _BYTES_A_TASK)


def tasks_of(landed: Mapping[str, DataFrame]) -> int:
    """Into how many parts shuffles of these requests are cut; AQE makes a task of as many as are worth one.

    By their number: the session's own setting is for the largest of clusters, and each part costs, if only a file.
    """
    requests = sum(landed[table.name].count() for table in (PRODUCE_EVENTS, FETCH_EVENTS))
    return max(_FEW_TASKS, requests // 50_000)
