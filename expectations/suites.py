"""The rules as one Great Expectations suite over one small Spark frame: how often each partition breaks each rule.

Great Expectations decides: a rule is broken if and only if one of its expectations, that the violations sum up to no
more than is tolerated, is not met. The counts are made in one pass per subject before (`expectations.measuring`):
asked of millions of rows, each expectation would be jobs of its own, and detailed formats collect rows to the driver.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StructField, StructType

from expectations.tally import Tally

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it imports sre_constants of the standard library
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig
    from great_expectations.expectations.core.expect_column_sum_to_be_between import ExpectColumnSumToBeBetween
    from great_expectations.expectations.metadata_types import FailureSeverity

NAME = "tidegauge"


def counted(spark: SparkSession, tallies: Sequence[Tally]) -> DataFrame:
    """One row per partition that breaks any rule, and one of zeros: its violations, a column per tally."""
    partitions = sorted({key for tally in tallies for key in tally.violations}, key=str)
    rows = [tuple(tally.violations.get(key, 0) for tally in tallies) for key in partitions]
    schema = StructType([StructField(tally.name, LongType(), nullable=False) for tally in tallies])
    return spark.createDataFrame([*rows, (0,) * len(tallies)], schema)


def suite_of(tallies: Sequence[Tally]) -> gx.ExpectationSuite:
    """One expectation per tally, on the column of its violations."""
    return gx.ExpectationSuite(NAME, expectations=[_expectation(tally) for tally in tallies], notes="tidegauge's rules")


def broken_tallies(frame: DataFrame, tallies: Sequence[Tally]) -> set[str]:
    """Names of the tallies that Great Expectations finds exceeded; raises if it could not validate one of them."""
    source = context().data_sources.get(NAME)
    definition = source.add_dataframe_asset(NAME).add_batch_definition_whole_dataframe(NAME)
    try:
        batch = definition.get_batch({"dataframe": frame})
        result = batch.validate(suite_of(tallies), result_format="BOOLEAN_ONLY")
    finally:
        source.delete_asset(NAME)
    return {name for name, met in map(_outcome, result.results) if not met}


@cache
def context() -> Any:
    """An in-memory context with a Spark data source: nothing persisted, no progress bars, no files."""
    made = gx.get_context(mode="ephemeral")
    made.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    made.data_sources.add_spark(NAME, persist=False)
    return made


def _expectation(tally: Tally) -> ExpectColumnSumToBeBetween:
    """The rule: its violations are no more than is tolerated."""
    rule = tally.rule
    return ExpectColumnSumToBeBetween(
        column=tally.name,
        min_value=0,
        max_value=tally.allowed,
        severity=FailureSeverity(tally.severity.value),
        notes=f"{rule.why} ({rule.source})",
        meta={"holds": rule.holds, "scope": rule.scope, "known": rule.known, "what_to_do": rule.what_to_do},
    )


def _outcome(result: Any) -> tuple[str, bool]:
    """The tally and whether its expectation is met; an exception inside Great Expectations is raised here."""
    name = str(result.expectation_config.kwargs["column"])
    info = result.exception_info or {}
    entries = [info] if "raised_exception" in info else list(info.values())
    raised = next((entry for entry in entries if entry["raised_exception"]), None)
    if raised is not None:
        message = f"{name}: {raised['exception_message']}"
        raise RuntimeError(message)
    return name, bool(result.success)
