"""Warehouses that hold a history, and a check of one."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.cli import main
from jobs.commits import Transaction
from jobs.deliveries import EVENT_TABLES, name_of_ingest
from jobs.warehouse import Warehouse
from schemas.tables import SOURCE_FILES
from tests.checked_rows import History
from tests.frames import rows


def store(spark: SparkSession, folder: Path, history: History) -> Warehouse:
    """A warehouse that holds a history."""
    warehouse = Warehouse(spark, str(folder / "lake"))
    for table, given in history.items():
        warehouse.create(table)
        warehouse.append(table, rows(spark, table, *given), Transaction(table.name, 1))
    return warehouse


def land(
    warehouse: Warehouse, cluster_id: str, landing: Mapping[str, Sequence[Mapping[str, Any]]], capture_id: str
) -> None:
    """Land a cluster's rows as a delivery."""
    transaction = Transaction(f"{name_of_ingest(cluster_id)}{capture_id}", 1)
    file = {
        "cluster_id": cluster_id, "digest": capture_id, "kind": "scenario", "broker_id": -1, "source_file": capture_id
    }  # fmt: skip
    counts = dict.fromkeys(("lines_read", "lines_landed", "lines_rejected", "lines_ignored"), 0)
    for table, given in [*((t, landing.get(t.name, ())) for t in EVENT_TABLES), (SOURCE_FILES, [file | counts])]:
        warehouse.create(table)
        if given:
            frame = rows(warehouse.spark, table, *given).withColumn("capture_id", F.lit(capture_id))
            warehouse.append(table, frame, transaction)


def copied(warehouse: Warehouse, folder: Path) -> Warehouse:
    """The same in another folder: a copy of its files takes no commit."""
    return Warehouse(warehouse.spark, str(shutil.copytree(warehouse.path, folder / "lake")))


def run(warehouse: Warehouse, *more: str) -> int:
    """A check of the warehouse."""
    return main(["check", "--warehouse", warehouse.path, "--cluster-id", "c", *more])
