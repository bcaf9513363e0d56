"""Delta's commits to a table: what an append is named by, and what a line of the history says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pyspark.sql import SparkSession

SKIPS_EMPTY = "spark.databricks.delta.skipRecordingEmptyCommits"


class Transaction(NamedTuple):
    """Names an append: Delta does one of the same name and version (or a lower one) only once."""

    name: str
    version: int


class Commit(NamedTuple):
    """A table's commit, and the rows that it wrote."""

    version: int
    rows: int
    note: str
    """Name of the transaction it was for, or what else its job had to say; '' for nothing."""


@contextmanager
def with_empty_ones(spark: SparkSession) -> Iterator[None]:
    """Have Delta record meanwhile a commit that changes no row too: what its note says would not be kept."""
    before = spark.conf.get(SKIPS_EMPTY, None)
    spark.conf.set(SKIPS_EMPTY, "false")
    try:
        yield
    finally:
        spark.conf.unset(SKIPS_EMPTY) if before is None else spark.conf.set(SKIPS_EMPTY, before)


def commit_of(entry: dict[str, object]) -> Commit:
    """A line of Delta's history; rows copied along with a replaced file were there before."""
    metrics = entry["operationMetrics"]
    counts = metrics if isinstance(metrics, dict) else {}
    rows = int(counts.get("numOutputRows", 0)) - int(counts.get("numCopiedRows", 0))
    return Commit(int(str(entry["version"])), rows, str(entry["userMetadata"] or ""))
