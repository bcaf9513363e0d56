"""Captures as landing tables, without Delta; each is a cluster of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from jobs.replay_inputs import made_whole, profile_of, slots_of
from replay.assignment import assignments
from replay.keep import Keep
from replay.timelines import Timelines, reconstruct
from schemas.tables import LANDING_TABLES, SOURCE_FILES
from sources.files import discover
from sources.landing import land
from sources.lines import read_lines
from sources.log4j import in_kafkas_layout

Tables = Mapping[str, DataFrame]


def landed_from(spark: SparkSession, capture: Path, cluster_id: str) -> Tables:
    """The landing tables of a capture."""
    files = discover(capture)
    lines = in_kafkas_layout(read_lines(spark, files), None)
    landing = land(lines, files, cluster_id=cluster_id, capture_id=cluster_id, timezone="UTC", known={})
    told = {**landing.tables, SOURCE_FILES.name: landing.source_files}
    return {table.name: told[table.name].localCheckpoint() for table in LANDING_TABLES if table.name in told}


def union(landed: Iterable[Tables]) -> dict[str, DataFrame]:
    """The tables of several captures as one."""
    each = list(landed)
    return {name: reduce(DataFrame.unionByName, [tables[name] for tables in each]) for name in each[0]}


def timelines_of(landed: Tables, keep: Keep) -> Timelines:
    """What is rebuilt of the tables of one cluster, by the protocol that it spoke."""
    whole = made_whole(landed, keep)
    assigned = keep(assignments(whole))
    return reconstruct(whole, assigned, slots_of(assigned), profile_of(whole, assigned), keep)
