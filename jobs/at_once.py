"""Questions to Spark that have nothing to do with each other, asked at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import SparkSession
from pyspark.util import inheritable_thread_target

from expectations.each import Answer, Each, Of

AT_ONCE = 4
"""More than one: tasks of one question run while another is planned. Few: each holds in memory what it broadcasts."""


def at_once(spark: SparkSession) -> Each:
    """Return what asks some questions at once; their jobs have the name in Spark's UI that this thread's have.

    Where some fail, the first of them in their order raises, when all are done.
    """

    def each(ask: Callable[[Of], Answer], of: Iterable[Of], /) -> Iterable[Answer]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            # One target each: those of one share its properties, and Spark notes there which query a job belongs to.
            asked = [pool.submit(inheritable_thread_target(spark)(ask), one) for one in of]
        return [answer.result() for answer in asked]

    return each
