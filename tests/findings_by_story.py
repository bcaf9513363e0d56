"""What is found in stories, all looked through at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from pyspark.sql import Row, SparkSession

from jobs.keeping import keeping
from replay.findings.incidents import incidents
from replay.timelines import Timelines
from tests.engine import each_by_its_own, landed_from
from tests.rebuilt import Logs

COMMITTED, UNCOMMITTED = "COMMITTED_RECORDS_LOST", "UNCOMMITTED_RECORDS_LOST"
BELOW, DIVERGED = "TRUNCATED_BELOW_HIGH_WATERMARK", "LOG_DIVERGENCE"
JUDGED = (COMMITTED, UNCOMMITTED, BELOW, DIVERGED)
Finding = tuple[str, str, int, int, int, int]
"""Kind, severity, leader epoch, replica and range."""


def findings_by_story(spark: SparkSession, logs: Logs, timelines: Timelines) -> Mapping[str, list[Row]]:
    """Every finding, by story."""
    by_story: dict[str, list[Row]] = defaultdict(list)
    with keeping() as keep:
        kept = [keep(rows) for rows in vars(timelines).values()]
        landed = landed_from(spark, logs.landing)
        for row in incidents(landed, *kept, each_by_its_own(logs.spoken), keep).collect():
            by_story[row["topic"]].append(row)
    return by_story


def judged(rows: list[Row]) -> list[Finding]:
    """Those of what was lost, cut and apart, in order."""
    columns = ("kind", "severity", "leader_epoch", "replica_id", "from_offset", "to_offset")
    return sorted(tuple(row[name] for name in columns) for row in rows if row["kind"] in JUDGED)  # type: ignore[misc]
