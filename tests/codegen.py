"""The Java that Spark makes of a plan, which the tests' own session leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

MOST_BYTES = 8_000
"""A longer method HotSpot does not compile, and `conf/` has Spark make none: it then copies a row at each step."""

_COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}


def longest_method(spark: SparkSession, frame: DataFrame) -> int:
    """Bytes of the longest method that Spark makes of the frame's plan."""
    assert spark._jvm is not None
    debug = getattr(spark._jvm.org.apache.spark.sql.execution.debug, "package$").__getattr__("MODULE$")
    made = debug.codegenStringSeq(frame._jdf.queryExecution().executedPlan())
    return max((made.apply(i)._3().maxMethodCodeSize() for i in range(made.size())), default=0)


@contextmanager
def compiled(spark: SparkSession) -> Iterator[None]:
    """Plans are made for Java, for a while."""
    before = {key: spark.conf.get(key) for key in _COMPILED}
    try:
        for key, value in _COMPILED.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, str(value))
