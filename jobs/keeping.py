"""Stages that are read more than once stay in memory while a job needs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame

from replay.timelines import Keep

HOW = "spark.tidegauge.keep"
"""Setting: `persist` (the default), or `checkpoint`, which also cuts the plan off. Each step of a plan is analysed with
all that is below it: with few rows that is half of the time. A local checkpoint dies with its executor, so that it is
for a session of one machine."""


def of_few_rows(keep: Keep) -> Keep:
    """How stages of few rows are kept: cut off from their plans where that is safe, on one machine."""
    return lambda stage: cut_off(stage) if is_of_one_machine(stage) else keep(stage)


def is_of_one_machine(stage: DataFrame) -> bool:
    """Whether no executor can be lost without the driver."""
    return str(stage.sparkSession.conf.get("spark.master", "")).startswith("local")


def cut_off(stage: DataFrame) -> DataFrame:
    """The stage, kept when it is first read; what is above it knows nothing of the plan below."""
    return stage.localCheckpoint(eager=False)


@contextmanager
def keeping() -> Iterator[Keep]:
    """What the engine asks of a job: a stage given to it is kept until the end of the block."""
    kept: list[DataFrame] = []

    def keep(stage: DataFrame) -> DataFrame:
        if stage.sparkSession.conf.get(HOW, "persist") == "checkpoint":
            return cut_off(stage)
        kept.append(stage.persist())
        return kept[-1]

    try:
        yield keep
    finally:
        for stage in kept:
            stage.unpersist()
