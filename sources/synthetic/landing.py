"""A scenario as landing tables: what the logs of its brokers would have given, row by row, without the logs."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_REPLICA
from schemas.files import FileKind
from schemas.kinds import KAFKA_VERSION
from sources.synthetic.clock import DAWN_US
from sources.synthetic.epochs import TOPIC, broker_statements, epochs, leader_changes
from sources.synthetic.forms import Forms
from sources.synthetic.requests import appends, fetches, lost_appends
from sources.synthetic.rounds import rounds
from sources.synthetic.scenario import Scenario

VERSION = "4.1.0"


@dataclass(frozen=True)
class Delivery:
    """Whose rows they are, and the file they are said to come from."""

    cluster_id: str
    capture_id: str
    source_file: str = "scenario.yaml"


def landing(spark: SparkSession, forms: Forms, delivery: Delivery) -> dict[str, DataFrame]:
    """Return the rows of each landing table that has some, by the table's name."""
    lived, begun = rounds(spark, forms), epochs(spark, forms)
    found = {
        T.PRODUCE_EVENTS: appends(lived, forms).unionByName(lost_appends(begun, forms)),
        T.FETCH_EVENTS: fetches(lived, forms),
        T.LEADER_CHANGES: leader_changes(begun, forms),
        T.BROKER_STATEMENTS: broker_statements(begun, forms),
        T.SETTINGS: _settings(spark, forms.scenario, delivery),
        T.BROKER_REGISTRATIONS: _registrations(spark, forms.scenario, delivery),
    }
    whose: dict[str, Column] = {C.CLUSTER_ID: F.lit(delivery.cluster_id), C.CAPTURE_ID: F.lit(delivery.capture_id)}
    return {table.name: table.conform(frame.withColumns(whose)) for table, frame in found.items()}


def source_files(spark: SparkSession, scenario: Scenario, delivery: Delivery, digest: str, rows: int) -> DataFrame:
    """One row, of `schemas.tables.SOURCE_FILES`: the scenario, a log of all its brokers; each row is a line of it."""
    known = {
        C.CLUSTER_ID: delivery.cluster_id, C.CAPTURE_ID: delivery.capture_id, C.SOURCE_FILE: delivery.source_file,
        C.DIGEST: digest, C.KIND: FileKind.SCENARIO.value, C.BROKER_ID: NO_REPLICA,
        C.LINES_READ: rows, C.LINES_LANDED: rows, C.LINES_REJECTED: 0, C.LINES_IGNORED: 0,
    }  # fmt: skip
    columns = {str(name): F.lit(value) for name, value in known.items()}
    columns[C.IGNORED_BY_REASON] = F.create_map()
    columns[C.BROKERS] = F.sequence(F.lit(1), F.lit(scenario.brokers))
    columns[C.GAPS] = F.array()
    for no_line in (C.FIRST_AT, C.LAST_AT):
        columns[no_line] = F.lit(None)
    return T.SOURCE_FILES.conform(spark.range(1).withColumns(columns))


def _settings(spark: SparkSession, scenario: Scenario, delivery: Delivery) -> DataFrame:
    """One row per setting that bears on replication, in force from the beginning."""
    told = (
        (KAFKA_VERSION, "", VERSION),
        ("metadata.version", "", "4.1"),
        ("replica.lag.time.max.ms", "", str(scenario.lag_time_ms)),
        ("min.insync.replicas", TOPIC, str(scenario.min_isr)),
    )
    rows = [
        F.struct(F.lit(name).alias(C.NAME), F.lit(topic).alias(C.TOPIC), F.lit(value).alias(C.VALUE),
                 F.lit(line).alias(C.SOURCE_LINE))
        for line, (name, topic, value) in enumerate(told, start=1)
    ]  # fmt: skip
    of_all: dict[str, Column] = {C.BROKER_ID: F.lit(NO_REPLICA), C.SOURCE_FILE: F.lit(delivery.source_file)}
    each = spark.range(1).select(F.explode(F.array(*rows)).alias("setting")).select("setting.*")
    return each.withColumns({**of_all, C.EVENT_TIME: F.timestamp_micros(F.lit(DAWN_US - 1_000_000))})


def _registrations(spark: SparkSession, scenario: Scenario, delivery: Delivery) -> DataFrame:
    """One row per broker: it is registered, and never fenced."""
    return spark.range(1, scenario.brokers + 1).select(
        F.col("id").cast("int").alias(C.BROKER_ID), F.col("id").alias(C.BROKER_EPOCH),
        F.col("id").alias(C.METADATA_OFFSET), F.lit(False).alias(C.IS_FENCED),
        F.timestamp_micros(F.lit(DAWN_US - 1_000_000)).alias(C.EVENT_TIME),
        F.lit(delivery.source_file).alias(C.SOURCE_FILE), F.col("id").alias(C.SOURCE_LINE),
    )  # fmt: skip
