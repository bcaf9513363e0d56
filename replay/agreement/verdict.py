"""Whether a warehouse and what its brokers said agree: how many values do, which differ, and how many may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from replay.agreement.bounded import IS_BOUNDED
from replay.agreement.compared import REBUILT_MS, STATED_MS
from replay.agreement.known_otherwise import AT_MS, OF, WHAT
from schemas import columns as C

FOUND, EXTRA, BOUNDED = 0.999, 0.001, 0.005
"""Shares of the stated values that must be found, may be extra, and may lie in a bounded row only, per kind."""


def summary(values: DataFrame) -> DataFrame:
    """One row per kind of value and partition: how many were stated, found, bounded, missing, extra; time error, ms."""
    stated, rebuilt = F.col(STATED_MS).isNotNull(), F.col(REBUILT_MS).isNotNull()
    bounded = stated & F.col(IS_BOUNDED)
    error = F.abs(F.col(REBUILT_MS) - F.col(STATED_MS))
    return values.groupBy(WHAT, C.TOPIC, C.PARTITION).agg(
        F.count_if(stated).alias("stated"),
        F.count_if(stated & rebuilt).alias("found"),
        F.count_if(bounded).alias("bounded"),
        F.count_if(stated & ~rebuilt & ~bounded).alias("missing"),
        F.count_if(rebuilt & ~stated).alias("extra"),
        F.percentile(error, F.lit(0.5)).alias("p50_ms"),
        F.percentile(error, F.lit(0.99)).alias("p99_ms"),
    )


def differing(values: DataFrame) -> DataFrame:
    """One row per value that was stated and not rebuilt, or rebuilt and never stated, in the order of time, `at_ms`.

    `values` is `compared.agreement`.
    """
    is_found = F.col(STATED_MS).isNotNull() & F.col(REBUILT_MS).isNotNull()
    differ = values.where(~is_found & ~F.col(IS_BOUNDED))
    return differ.withColumn(AT_MS, F.coalesce(STATED_MS, REBUILT_MS)).orderBy(AT_MS, *OF)


def agrees(summaries: Iterable[Row]) -> bool:
    """Return whether of every kind of value enough is found, and little else; of truncations each one.

    `summaries` are the rows of `summary`.
    """
    counts = {name: Counter[str]() for name in ("stated", "found", "bounded", "extra")}
    for row in summaries:
        for name, count in counts.items():
            count[row[WHAT]] += row[name]
    found, bounded, extra = (counts[name] for name in ("found", "bounded", "extra"))
    return all(
        found[what] + bounded[what] >= (1.0 if what == "truncate" else FOUND) * number
        and bounded[what] <= max(1, BOUNDED * number)
        and extra[what] <= (0.0 if what == "truncate" else EXTRA) * number
        for what, number in counts["stated"].items()
    )
