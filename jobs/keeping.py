"""Stages that are read more than once stay in memory while a job needs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame

from replay.timelines import Keep


@contextmanager
def keeping() -> Iterator[Keep]:
    """What the engine asks of a job: a stage given to it is persisted until the end of the block."""
    kept: list[DataFrame] = []

    def keep(stage: DataFrame) -> DataFrame:
        kept.append(stage.persist())
        return kept[-1]

    try:
        yield keep
    finally:
        for stage in kept:
            stage.unpersist()
