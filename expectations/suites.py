"""The rules as Great Expectations suites: one suite and one batch per subject, so that its rules are one aggregate.

Great Expectations decides: a rule is broken if and only if its expectation is not met. It is asked for the verdict
alone (BOOLEAN_ONLY): its detailed result formats run several jobs per rule and collect rows to the driver.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

from pyspark.sql import DataFrame

from expectations.invariant import Invariant
from schemas.kinds import Status

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it imports sre_constants of the standard library
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig
    from great_expectations.expectations.core.expect_column_values_to_be_in_set import ExpectColumnValuesToBeInSet
    from great_expectations.expectations.metadata_types import FailureSeverity

NOT_BROKEN = (Status.VALID.value, Status.UNKNOWN.value)
"""Verdicts of a row that break nothing; NULL, a row the rule does not speak of, is not looked at."""


def suite_of(name: str, rules: Sequence[Invariant]) -> gx.ExpectationSuite:
    """One expectation per rule, on the column of that rule's verdicts."""
    return gx.ExpectationSuite(name, expectations=[_expectation(rule) for rule in rules], notes="tidegauge's rules")


def broken_rules(frame: DataFrame, name: str, rules: Sequence[Invariant]) -> set[str]:
    """Names of the rules that Great Expectations finds broken; raises if it could not validate one of them."""
    definition = _source().add_dataframe_asset(name).add_batch_definition_whole_dataframe(name)
    try:
        batch = definition.get_batch({"dataframe": frame})
        result = batch.validate(suite_of(name, rules), result_format="BOOLEAN_ONLY")
    finally:
        _source().delete_asset(name)
    return {rule for rule, met in map(_outcome, result.results) if not met}


@cache
def _source() -> Any:
    """The Spark data source of an in-memory context: nothing persisted, no progress bars, no files."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    return context.data_sources.add_spark("tidegauge", persist=False)


def _expectation(rule: Invariant) -> ExpectColumnValuesToBeInSet:
    """The rule: no row's verdict is `invalid`."""
    return ExpectColumnValuesToBeInSet(
        column=rule.name,
        value_set=list(NOT_BROKEN),
        severity=FailureSeverity(rule.severity.value),
        notes=f"{rule.why} ({rule.source})",
        meta={"holds": rule.holds, "scope": rule.scope, "known": rule.known, "what_to_do": rule.what_to_do},
    )


def _outcome(result: Any) -> tuple[str, bool]:
    """The rule and whether its expectation is met; an exception inside Great Expectations is raised here."""
    rule = str(result.expectation_config.kwargs["column"])
    info = result.exception_info or {}
    entries = [info] if "raised_exception" in info else list(info.values())
    raised = next((entry for entry in entries if entry["raised_exception"]), None)
    if raised is not None:
        message = f"{rule}: {raised['exception_message']}"
        raise RuntimeError(message)
    return rule, bool(result.success)
