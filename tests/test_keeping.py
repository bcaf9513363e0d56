"""What is kept, and into how many parts it is shuffled for that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.keeping import HOW, keeping, short_plans
from jobs.shuffles import SHUFFLE_PARTITIONS, few_tasks, tasks_of, tasks_of_few, tasks_of_files
from schemas.files import FileKind
from schemas.tables import FETCH_EVENTS, PRODUCE_EVENTS
from sources.source_file import SourceFile

MANY = "40"


@pytest.fixture(autouse=True)
def _many_parts(spark: SparkSession) -> Iterator[None]:
    """A session that cuts shuffles into many parts."""
    before = spark.conf.get(SHUFFLE_PARTITIONS)
    spark.conf.set(SHUFFLE_PARTITIONS, MANY)
    yield
    spark.conf.set(SHUFFLE_PARTITIONS, before)


def shuffled(spark: SparkSession) -> DataFrame:
    """A stage with a shuffle; it is planned once, when it is first asked for rows."""
    return spark.range(1000).groupBy((F.col("id") % 100).alias("key")).count()


def parts(stage: DataFrame) -> int:
    """Of how many parts the stage is made."""
    return stage.select(F.spark_partition_id()).distinct().count()


def test_a_small_stage_is_shuffled_into_few_parts(spark: SparkSession) -> None:
    """Each part costs a file in each task that writes to it."""
    with keeping() as keep:
        small, large = keep(shuffled(spark), is_small=True), keep(shuffled(spark))
        assert parts(small) <= 4 < parts(large) <= int(MANY)
        assert small.count() == large.count() == 100
    assert spark.conf.get(SHUFFLE_PARTITIONS) == MANY


def test_a_small_stage_that_is_a_union_is_read_in_few_parts(spark: SparkSession) -> None:
    """A union has the parts of all that it is made of. What is no union stays as Spark knows that it is partitioned."""
    spark.conf.set(SHUFFLE_PARTITIONS, "2")
    one, other = shuffled(spark), shuffled(spark).withColumn("count", F.lit(0).cast("bigint"))
    with keeping() as keep:
        union, alone = keep(one.union(other), is_small=True), keep(one, is_small=True)
        assert parts(one.union(other)) == 4
        assert parts(union) == 2
        assert union.count() == 200
        assert "Exchange" not in _plan(alone.groupBy("key").agg(F.sum("count")))


@pytest.mark.parametrize(("produced", "fetched", "tasks"), [(10, 10, 4), (1_000_000, 2_000_000, 60)])
def test_the_number_of_parts_follows_from_the_requests(
    spark: SparkSession, produced: int, fetched: int, tasks: int
) -> None:
    """Some more than there will be tasks: AQE makes one of as many as are worth one."""
    landed = {PRODUCE_EVENTS.name: spark.range(produced), FETCH_EVENTS.name: spark.range(fetched)}
    assert tasks_of(landed) == tasks


@pytest.mark.parametrize(("sizes", "tasks"), [((10, 20), 4), ((600_000_000, 120_000_000), 60)])
def test_the_number_of_parts_follows_from_the_files(sizes: tuple[int, ...], tasks: int) -> None:
    """By what is in them: packed ones are a tenth of it."""
    files = [SourceFile(Path("a"), "a", FileKind.REQUEST_LOG, 1, "", size=size) for size in sizes]
    assert tasks_of_files(files) == tasks


@pytest.mark.parametrize(("parts_of_all", "of_few"), [("16", 4), ("400", 33)])
def test_small_stages_of_a_large_log_have_more_parts(spark: SparkSession, parts_of_all: str, of_few: int) -> None:
    """It has more partitions and elections."""
    spark.conf.set(SHUFFLE_PARTITIONS, parts_of_all)
    assert tasks_of_few(spark) == of_few


def test_a_session_with_fewer_parts_keeps_them(spark: SparkSession) -> None:
    """What a session was given for its size is the most."""
    spark.conf.set(SHUFFLE_PARTITIONS, "3")
    with keeping() as keep:
        assert parts(keep(shuffled(spark), is_small=True)) <= 3


def test_the_number_of_parts_is_put_back_when_work_fails(spark: SparkSession) -> None:
    """A replay that cannot go on gives up within: everything is replayed by the session's own setting."""

    def fail() -> None:
        with few_tasks(spark):
            assert spark.conf.get(SHUFFLE_PARTITIONS) == "4"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert spark.conf.get(SHUFFLE_PARTITIONS) == MANY


def test_plans_are_short_for_a_while_only(spark: SparkSession) -> None:
    """A kept stage is cut off from its plan meanwhile, and what the session was told before holds again."""
    before = spark.conf.get(HOW, None)
    spark.conf.unset(HOW)
    with short_plans(spark), keeping() as keep:
        assert "Scan ExistingRDD" in _plan(keep(spark.range(10)))
    assert spark.conf.get(HOW, None) is None
    with keeping() as keep:
        assert "InMemoryTableScan" in _plan(keep(spark.range(10)))
    if before is not None:
        spark.conf.set(HOW, before)


def test_nothing_that_was_kept_stays_in_memory(spark: SparkSession) -> None:
    """A session that replays day after day would fill with stages that were cut off from their plans."""
    in_memory = spark.sparkContext._jsc.getPersistentRDDs
    before = set(in_memory())
    with short_plans(spark), keeping() as keep:
        small, large = keep(shuffled(spark), is_small=True), keep(shuffled(spark))
        unread = keep(large.where("key > 50"))
        assert small.count() == large.count() == 100
        assert len(set(in_memory()) - before) == 3, unread
    assert set(in_memory()) == before


def _plan(stage: DataFrame) -> str:
    return str(stage._jdf.queryExecution().executedPlan())
