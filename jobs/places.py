"""Where a warehouse's tables are: in a folder, by their paths, or in a database of Spark's catalog, by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from delta.tables import DeltaTable, DeltaTableBuilder
from pyspark.sql import DataFrame, DataFrameReader, DataFrameWriter, SparkSession

from schemas.tables import Table

DATABASE_NAME = re.compile(r"[A-Za-z]\w{0,127}")


def absolute(path: str) -> str:
    """The path from the root, without the `..` that Delta puts out of it, and then compares; a URI is that already."""
    return path if urlsplit(path).scheme else str(Path(path).resolve())


def on_this_machine(path: str) -> Path | None:
    """The folder that a path or `file:` URI names; None for one elsewhere."""
    place = urlsplit(path)
    if place.scheme:
        return Path(place.path) if place.scheme == "file" else None
    return Path(path)


@dataclass(frozen=True)
class Home:
    """What `--warehouse` and `--database` say: one of them, or both."""

    path: str | None
    database: str | None = None

    def __str__(self) -> str:
        return self.path or f"database {self.database}"

    def make(self) -> None:
        """Make the folder if it is missing, on this machine: where it can not be, nothing is begun."""
        folder = None if self.path is None else on_this_machine(self.path)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)


class Place(Protocol):
    """How a table is found, made, written and read."""

    def has(self, table: Table) -> bool:
        """Whether the table is there."""

    def builder(self, table: Table) -> DeltaTableBuilder:
        """What makes it."""

    def stored(self, table: Table) -> DeltaTable:
        """The table as Delta's own object: its history, details, deletions."""

    def save(self, writer: DataFrameWriter, table: Table) -> None:
        """Write a frame to it."""

    def load(self, reader: DataFrameReader, table: Table) -> DataFrame:
        """Read it."""


@dataclass(frozen=True)
class Folder:
    """Tables below a folder or URI."""

    spark: SparkSession
    path: str

    def location(self, table: Table) -> str:
        """Folder of the table; absolute, for Delta takes a relative one for the name of a schema."""
        return f"{absolute(self.path).rstrip('/')}/{table.name}"

    def has(self, table: Table) -> bool:
        """Whether a Delta table lies there."""
        return DeltaTable.isDeltaTable(self.spark, self.location(table))

    def builder(self, table: Table) -> DeltaTableBuilder:
        """A table of that path."""
        return DeltaTable.createIfNotExists(self.spark).location(self.location(table))

    def stored(self, table: Table) -> DeltaTable:
        """By its path."""
        return DeltaTable.forPath(self.spark, self.location(table))

    def save(self, writer: DataFrameWriter, table: Table) -> None:
        """Write to its path."""
        writer.save(self.location(table))

    def load(self, reader: DataFrameReader, table: Table) -> DataFrame:
        """Read its path."""
        return reader.load(self.location(table))


@dataclass(frozen=True)
class Database:
    """Tables of a database: the catalog knows where they lie, and what each column means."""

    spark: SparkSession
    name: str

    def of(self, table: Table) -> str:
        """The table's full name."""
        return f"{self.name}.{table.name}"

    def has(self, table: Table) -> bool:
        """Whether the catalog has it."""
        return self.spark.catalog.tableExists(self.of(table))

    def builder(self, table: Table) -> DeltaTableBuilder:
        """A table that lies where the database does."""
        return DeltaTable.createIfNotExists(self.spark).tableName(self.of(table))

    def stored(self, table: Table) -> DeltaTable:
        """By its name."""
        return DeltaTable.forName(self.spark, self.of(table))

    def save(self, writer: DataFrameWriter, table: Table) -> None:
        """Write to the table of that name."""
        writer.saveAsTable(self.of(table))

    def load(self, reader: DataFrameReader, table: Table) -> DataFrame:
        """Read the table of that name."""
        return reader.table(self.of(table))
