"""What to do with a stage of the plan that is read more than once."""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import DataFrame


class Keep(Protocol):
    """What to do with a stage that is read more than once: a job persists it, the engine by itself does nothing."""

    def __call__(self, stage: DataFrame, *, is_small: bool = False) -> DataFrame:
        """Return the stage; a small one has a few rows a leadership at most, and a plan as long as any."""


def as_it_is(stage: DataFrame, *, is_small: bool = False) -> DataFrame:  # noqa: ARG001 - as `Keep` has it
    """Return the stage: it is computed anew wherever it is read."""
    return stage
