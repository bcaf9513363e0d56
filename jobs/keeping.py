"""Stages that are read more than once are kept while a job needs them: large ones on disk, small ones in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from py4j.java_gateway import JavaObject
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from jobs.at_once import at_once
from jobs.shuffles import few_tasks, in_few_parts, shuffle_parts, tasks_of_few
from replay.keep import Keep
from schemas.tables import (
    BROKER_REGISTRATIONS,
    BROKER_STATEMENTS,
    EPOCH_STARTS,
    LEADER_CHANGES,
    METADATA_CHANGES,
    PRODUCE_EVENTS,
    SETTINGS,
)

HOW = "spark.tidegauge.keep"
"""Setting of what is done with large stages: `persist` (the default), or `checkpoint`, which also cuts the plan off.

Each step of a plan is analysed, and described to listeners, with all that is below it: with few rows that is half
of the time, with many stages most of the heap: a driver of 1 GB had no room for it. Small stages are always cut off."""

ON_DISK = StorageLevel.DISK_ONLY
"""Where a large stage is kept: in a heap that such fill, Java looks for room a sixth of the time and more, and sorts
have less of it (docs/adr/0010)."""
ONCE, TWICE = StorageLevel.MEMORY_AND_DISK, StorageLevel.MEMORY_AND_DISK_2
"""Where a stage is that was cut off. A local checkpoint dies with its executor: on a cluster another one has it too."""

FEW_ROWS = frozenset(
    table.name
    for table in (LEADER_CHANGES, BROKER_STATEMENTS, METADATA_CHANGES, BROKER_REGISTRATIONS, SETTINGS, EPOCH_STARTS)
)
"""Landing tables that do not grow with requests."""


@contextmanager
def short_plans(spark: SparkSession) -> Iterator[None]:
    """Large stages that are kept meanwhile are cut off from their plans, too: what is replayed has few rows."""
    before = spark.conf.get(HOW, None)
    spark.conf.set(HOW, "checkpoint")
    try:
        yield
    finally:
        spark.conf.unset(HOW) if before is None else spark.conf.set(HOW, before)


def level_of(spark: SparkSession) -> StorageLevel:
    """Where stages that were cut off are: once where no executor can be lost without the driver."""
    return ONCE if str(spark.conf.get("spark.master", "")).startswith("local") else TWICE


def with_few_kept(landed: Mapping[str, DataFrame], keep: Keep) -> dict[str, DataFrame]:
    """The landing tables, those of few rows kept: a plan that reads one from Delta asks first which files to read."""
    few = [name for name in landed if name in FEW_ROWS]
    spark = landed[PRODUCE_EVENTS.name].sparkSession
    with few_tasks(spark):  # the least there is: what each sets and puts back while others are planned is the same
        kept = at_once(spark)(lambda name: keep(landed[name], is_small=True), few)
    return {**landed, **dict(zip(few, kept, strict=True))}


def _rdd_of(cut: ClassicDataFrame) -> JavaObject:
    """The RDD of a stage that was cut off: what its plan consists of."""
    return cut._jdf.queryExecution().analyzed().rdd()  # noqa: SLF001 (no API for it)


def _forget(stage: DataFrame) -> None:
    """Take a stage that was cut off out of memory; Spark would, some time after nothing refers to it any more."""
    if isinstance(stage, ClassicDataFrame):  # a Spark Connect server counts references itself
        _rdd_of(stage).unpersist(False)


def _read_in_few_parts(stage: DataFrame) -> DataFrame:
    """A stage that was cut off: in few parts where it is a union, else as it is: Spark knows how it is partitioned."""
    if isinstance(stage, ClassicDataFrame) and _rdd_of(stage).getNumPartitions() > shuffle_parts(stage.sparkSession):
        return in_few_parts(stage)
    return stage


@contextmanager
def keeping() -> Iterator[Keep]:
    """What the engine asks of a job: a stage given to it is kept until the end of the block, and no longer."""
    kept: list[DataFrame] = []
    cut: list[DataFrame] = []

    def without_its_plan(stage: DataFrame) -> DataFrame:
        # Kept when it is first read; what is above it knows nothing of the plan below.
        cut.append(stage.localCheckpoint(eager=False, storageLevel=level_of(stage.sparkSession)))
        return cut[-1]

    def keep(stage: DataFrame, *, is_small: bool = False) -> DataFrame:
        if is_small:
            with few_tasks(stage.sparkSession, tasks_of_few(stage.sparkSession)):  # it is planned now
                few = without_its_plan(stage)
            return _read_in_few_parts(few)
        if stage.sparkSession.conf.get(HOW, "persist") == "checkpoint":
            return without_its_plan(stage)
        kept.append(stage.persist(ON_DISK))
        return kept[-1]

    try:
        yield keep
    finally:
        for stage in kept:
            stage.unpersist()
        for stage in cut:
            _forget(stage)
