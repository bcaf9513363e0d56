"""The log start a leadership begins with, source by source."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from replay.states.lineage import BEYOND
from replay.states.log_starts import CUT_TO, FIRST_LOG_START, TOLD_LOG_START, log_start_before

pytestmark = pytest.mark.spark

NAMES = (FIRST_LOG_START, TOLD_LOG_START, CUT_TO, "own", "begin")
SOURCES = {
    "its first response": ((4, 2, BEYOND, 3, 9), 4),
    "its last line": ((None, 6, BEYOND, 2, 9), 6),
    "what it fetched with, lines being lost": ((None, 0, BEYOND, 6, 9), 6),
    "what it fetched with": ((None, None, None, 6, 9), 6),
    "a cut below its start": ((None, 6, 3, 6, 9), 3),
    "no cut alone": ((None, None, 3, None, 9), -1),
    "a log that held nothing": ((None, None, None, -1, 0), 0),
    "nothing": ((None, None, None, -1, 9), -1),
    "not past its end": ((None, 12, BEYOND, None, 9), 9),
}


def test_a_leadership_begins_with_the_log_start_that_is_told(spark: SparkSession) -> None:
    """By its responses, else by lines and fetches of its leader, of which the later ones are not lower."""
    rows = spark.createDataFrame(
        [(name, *told) for name, (told, _) in SOURCES.items()],
        ", ".join(["source string", *[f"{n} bigint" for n in NAMES]]),
    )
    step = F.struct(*NAMES[:3])
    found = rows.select("source", log_start_before(F.col("own"), step, F.col("begin")).alias("log_start")).collect()

    assert {row["source"]: row["log_start"] for row in found} == {name: start for name, (_, start) in SOURCES.items()}
