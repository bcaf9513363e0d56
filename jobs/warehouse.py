"""The warehouse: one Delta table per `schemas.tables.Table`, in a folder or a database, and the few ways it is touched.

Every write is one Delta commit, so that a run that fails leaves a table as it was or as it should be. Rows are
counted by that commit itself: no second pass over the data, and an answer also where Delta skips a known transaction
(an `Observation` on a plan that is then never run would be waited for for ever).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import reduce
from types import MappingProxyType

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs import __version__
from jobs.command import CLUSTER_ID
from jobs.commits import Commit, Transaction, commit_of, with_empty_ones
from jobs.errors import CouldNotRunError
from jobs.places import Database, Folder, Place
from jobs.session import describe
from schemas import columns as C
from schemas.tables import Table, searched

SCHEMA_VERSION = "5"
"""Bumped when a table of `schemas` gains a column; nothing else may change."""
_VERSION_PROPERTY = "tidegauge.schema_version"


@dataclass(frozen=True)
class Warehouse:
    """The Delta tables of one folder or database."""

    spark: SparkSession
    path: str
    """Folder of the tables; of a database that in which they lie."""
    database: str | None = None
    """Their database, where they are found by name and not by path."""
    _looked_at: set[str] = field(default_factory=set, compare=False, repr=False)
    """The table whose schema version was found to be this one's, once one was looked at."""

    @property
    def place(self) -> Place:
        """How the tables are found."""
        return Folder(self.spark, self.path) if self.database is None else Database(self.spark, self.database)

    def has(self, table: Table) -> bool:
        """Whether the table is there."""
        return self.place.has(table)

    def create(self, table: Table, facts: Mapping[str, str] = MappingProxyType({})) -> None:
        """Create the table if it is missing: comments, constraints, clustering and `facts` of it in one commit."""
        if self.has(table):
            self._require_version(table)
            return
        builder = self.place.builder(table).comment(table.comment).addColumns(table.schema)
        if table.clustering:
            builder = builder.clusterBy(*[str(column) for column in table.clustering])  # Delta checks `type() is str`
        for name, value in (_properties(table) | dict(facts)).items():
            builder = builder.property(name, value)
        builder.execute()

    def append(self, table: Table, frame: DataFrame, transaction: Transaction) -> Commit:
        """Append rows once: a second append for the same transaction changes nothing."""
        describe(self.spark, f"append to {table.name}")
        writer = table.conform(frame).write.format("delta").mode("append").option("userMetadata", transaction.name)
        writer = writer.option("txnAppId", transaction.name).option("txnVersion", transaction.version)
        self.place.save(writer, table)
        return self.commits(table, limit=1)[0]

    def replace(
        self, table: Table, frame: DataFrame, cluster_id: str, *, rows: str | None = None, note: str = ""
    ) -> Commit:
        """Put `frame` in the place of a cluster's rows, or of `rows` (SQL) of them, at once; Delta refuses other rows.

        `note` is kept with the commit.
        """
        describe(self.spark, f"replace {table.name}")
        writer = table.conform(frame).write.format("delta").mode("overwrite")
        which = _is_of(cluster_id) if rows is None else f"{_is_of(cluster_id)} AND ({rows})"
        with with_empty_ones(self.spark) if note else nullcontext():
            self.place.save(writer.option("replaceWhere", which).option("userMetadata", note), table)
        return self.commits(table, limit=1)[0]

    def delete(self, table: Table, cluster_id: str, condition: Column) -> None:
        """Delete rows of a cluster."""
        describe(self.spark, f"delete of {table.name}")
        self.place.stored(table).delete((F.col(C.CLUSTER_ID) == cluster_id) & condition)

    def delete_at(self, table: Table, cluster_id: str, places: DataFrame, condition: Column) -> None:
        """Delete those of a cluster's rows for which the condition holds that have in common with a row all it has."""
        describe(self.spark, f"delete of {table.name}")
        is_at = reduce(Column.__and__, [F.col(f"landed.{name}") == F.col(f"place.{name}") for name in places.columns])
        which = (F.col(C.CLUSTER_ID) == cluster_id) & condition & is_at
        merge = self.place.stored(table).alias("landed").merge(places.alias("place"), which)
        merge.whenMatchedDelete().execute()

    def read(self, table: Table, *, cluster_id: str | None = None, version: int | None = None) -> DataFrame:
        """The table's rows, of one cluster if named, as of a Delta version if given."""
        if not self.has(table):
            message = f"{self.path} has no table {table.name}"
            raise CouldNotRunError(message)
        self._require_version(table)
        reader = self.spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        rows = self.place.load(reader, table)
        return rows if cluster_id is None else rows.where(F.col(C.CLUSTER_ID) == cluster_id)

    def _require_version(self, table: Table) -> None:
        """Refuse a table that another version of the schemas made: it lacks columns, or has more than are known."""
        if self._looked_at:  # one version made them all; a look costs a Spark job
            return
        found = self.facts(table).get(_VERSION_PROPERTY, "none")
        if found != SCHEMA_VERSION:
            message = (
                f"{self.path}: table {table.name} has schema version {found}, this tidegauge works with "
                f"{SCHEMA_VERSION}; land the captures again into a new warehouse"
            )
            raise CouldNotRunError(message)
        self._looked_at.add(table.name)

    def facts(self, table: Table) -> dict[str, str]:
        """The table's properties; a look costs a Spark job."""
        detail = self.place.stored(table).detail().select("properties").first()
        return dict(detail[0]) if detail else {}

    def commits(self, table: Table, *, limit: int | None = None) -> list[Commit]:
        """The table's commits, the newest first; each costs a look at its log entry, none reads data."""
        table_now = self.place.stored(table)
        entries = (table_now.history() if limit is None else table_now.history(limit)).collect()
        return [commit_of(entry.asDict()) for entry in entries]


def _properties(table: Table) -> dict[str, str]:
    """Table properties: versions, what is noted of files, and each constraint under the key that ALTER TABLE writes.

    Given at creation they are in the table's first commit; one ALTER each would be a commit each, after it.
    """
    constraints = {f"delta.constraints.{name}": predicate for name, predicate in table.constraints}
    noted = {"delta.dataSkippingStatsColumns": ",".join(searched(table))}
    return {_VERSION_PROPERTY: SCHEMA_VERSION, "tidegauge.engine_version": __version__, **noted, **constraints}


def literal_of(cluster_id: str) -> str:
    """A cluster's id as an SQL literal; an id that could end the literal is refused.

    Not a parameter marker: under Delta's parser Spark 4.2 finds it unbound.
    """
    if not CLUSTER_ID.fullmatch(cluster_id):
        message = f"cluster id {cluster_id!r}: letters, digits and _ . : - only, at most 128"
        raise CouldNotRunError(message)
    return f"'{cluster_id}'"


def _is_of(cluster_id: str) -> str:
    """The predicate of a cluster's rows, as SQL text."""
    return f"{C.CLUSTER_ID} = {literal_of(cluster_id)}"
