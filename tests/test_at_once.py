"""Questions asked at the same time."""

from __future__ import annotations

from threading import Barrier

import pytest
from pyspark.sql import SparkSession

from jobs.at_once import AT_ONCE, at_once
from jobs.session import describe


def test_answers_come_in_the_order_of_the_questions(spark: SparkSession) -> None:
    """Whichever is found first; and more are under way than one, or the first would wait for the others in vain."""
    all_are_asked = Barrier(AT_ONCE, timeout=60)

    def ask(rows: int) -> int:
        all_are_asked.wait()
        return spark.range(rows).count()

    assert list(at_once(spark)(ask, range(AT_ONCE))) == list(range(AT_ONCE))


def test_jobs_have_the_name_of_who_asks(spark: SparkSession) -> None:
    """Whoever looks into Spark's UI sees what they are for."""
    describe(spark, "look around")
    try:
        named = list(at_once(spark)(spark.sparkContext.getLocalProperty, ["spark.job.description"]))
    finally:
        spark.sparkContext.setLocalProperty("spark.job.description", None)
    assert named == ["look around"]


def test_the_first_failure_is_the_one_that_is_told(spark: SparkSession) -> None:
    """As it would be if they were asked one after the other."""

    def ask(number: int) -> int:
        if number:
            raise LookupError(str(number))
        return number

    with pytest.raises(LookupError, match="1"):
        at_once(spark)(ask, [0, 1, 2])
