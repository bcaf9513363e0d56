"""What to do with a stage of the plan that is read more than once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyspark.sql import DataFrame

from replay.passengers import packed, unpacked

_REST = "rest"


class Keep(Protocol):
    """What to do with a stage that is read more than once: a job persists it, the engine by itself does nothing."""

    def __call__(self, stage: DataFrame, *, is_small: bool = False) -> DataFrame:
        """Return the stage; a small one has a few rows a leadership at most, and a plan as long as any."""


def as_it_is(stage: DataFrame, *, is_small: bool = False) -> DataFrame:  # noqa: ARG001 - as `Keep` has it
    """Return the stage: it is computed anew wherever it is read."""
    return stage


def kept_as_few(stage: DataFrame, apart: Sequence[str], keep: Keep) -> DataFrame:
    """Return the stage, kept as the columns `apart`, by which it is sorted and searched, and all others as one.

    Spark keeps column by column, and weighs each value of each for its least and greatest; a struct is copied.
    """
    rest = [c for c in stage.columns if c not in apart]
    return unpacked(keep(packed(stage, rest, _REST)), _REST)
