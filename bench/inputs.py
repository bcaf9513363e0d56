"""What is measured on: a synthetic cluster of a size, made once and kept; and the session it is measured in."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import SparkSession

from jobs.generate_events import generate_cluster
from jobs.local_settings import CONF, LOCAL_CONF
from jobs.session import spark_session
from jobs.warehouse import Warehouse
from schemas.tables import FETCH_EVENTS, PRODUCE_EVENTS
from sources.synthetic.forms import forms_of
from sources.synthetic.scenario import Scenario, read_scenario

CLUSTER = "bench"
SIZES = {"tiny": 50_000, "small": 1_000_000, "medium": 10_000_000, "large": 40_000_000}
SCENARIO = Path(__file__).parent / "scenario.yaml"
HEAP = "4g"
"""No run may need more."""


def scenario_of(file: Path, size: str, hot_share: float) -> Scenario:
    """The scenario of a size; `tiny` has fewer partitions, the others a thousand."""
    partitions = 20 if size == "tiny" else None
    return read_scenario(file, events=SIZES[size], partitions=partitions, hot_share=hot_share)


def bench_session(work: Path) -> SparkSession:
    """The session of a local run, with an event log below `work`."""
    log = work / "events"
    log.mkdir(parents=True)
    settings = {
        "spark.driver.memory": HEAP,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": log.as_uri(),
    }
    conf = work / "spark.conf"
    lines = [f"{key} {value}" for key, value in settings.items()]
    conf.write_text("\n".join([LOCAL_CONF.read_text(encoding="utf-8"), *lines, ""]), encoding="utf-8")
    os.environ[CONF] = str(conf)
    return spark_session("bench", warehouse=str(work))


def landed(spark: SparkSession, folder: Path, scenario: Scenario) -> tuple[Warehouse, int]:
    """The warehouse with the scenario's events, landed now if they have not been, and how many they are."""
    warehouse = Warehouse(spark, str(folder))
    generate_cluster(warehouse, forms_of(scenario), cluster_id=CLUSTER, capture_id=None)
    return warehouse, sum(warehouse.read(table).count() for table in (PRODUCE_EVENTS, FETCH_EVENTS))
