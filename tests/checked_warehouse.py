"""Warehouses that hold a history, and a check of one."""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import SparkSession

from jobs.cli import main
from jobs.commits import Transaction
from jobs.warehouse import Warehouse
from tests.checked_rows import History
from tests.frames import rows


def store(spark: SparkSession, folder: Path, history: History) -> Warehouse:
    """A warehouse that holds a history."""
    warehouse = Warehouse(spark, str(folder / "lake"))
    for table, given in history.items():
        warehouse.create(table)
        warehouse.append(table, rows(spark, table, *given), Transaction(table.name, 1))
    return warehouse


def copied(warehouse: Warehouse, folder: Path) -> Warehouse:
    """The same in another folder: a copy of its files takes no commit."""
    return Warehouse(warehouse.spark, str(shutil.copytree(warehouse.path, folder / "lake")))


def run(warehouse: Warehouse, *more: str) -> int:
    """A check of the warehouse."""
    return main(["check", "--warehouse", warehouse.path, "--cluster-id", "c", *more])
