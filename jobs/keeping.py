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


@contextmanager
def keeping() -> Iterator[Keep]:
    """What the engine asks of a job: a stage given to it is kept until the end of the block."""
    kept: list[DataFrame] = []

    def keep(stage: DataFrame) -> DataFrame:
        if stage.sparkSession.conf.get(HOW, "persist") == "checkpoint":
            return stage.localCheckpoint(eager=False)
        kept.append(stage.persist())
        return kept[-1]

    try:
        yield keep
    finally:
        for stage in kept:
            stage.unpersist()
