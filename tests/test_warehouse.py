"""The warehouse on real Delta: what a commit is, what runs twice, and what a stranger can read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from jobs.commits import Transaction
from jobs.errors import CouldNotRunError
from jobs.opening import open_warehouse
from jobs.places import Folder, Home
from jobs.sql_views import register_views
from jobs.warehouse import SCHEMA_VERSION, Warehouse
from schemas.tables import ALL_TABLES, FETCH_EVENTS, INCIDENTS, LEADER_TIMELINE, SOURCE_FILES, Table, searched
from tests.frames import rows

pytestmark = [pytest.mark.spark, pytest.mark.delta]


def incident(name: str, cluster_id: str) -> dict[str, str]:
    """A finding of a cluster."""
    return {"incident_id": name, "cluster_id": cluster_id}


OFFSETS = tuple(f"{name}{of}" for name in ("log_end_offset", "high_watermark") for of in ("", "_low", "_high"))

in_both = pytest.mark.parametrize("warehouse", ["folder", "database"], indirect=True)


@pytest.fixture
def warehouse(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Warehouse]:
    """A warehouse with one table, `incidents`, in a folder unless a test asks for a database."""
    database = "lake" if getattr(request, "param", "") == "database" else None
    made = open_warehouse("tests", Home(str(tmp_path / "lake"), database), makes=True)
    made.create(INCIDENTS)
    yield made
    if database is not None:
        spark.sql(f"DROP DATABASE {database} CASCADE")


def ids(warehouse: Warehouse, **where: Any) -> list[str]:
    """The incidents' ids, in order."""
    return sorted(row["incident_id"] for row in warehouse.read(INCIDENTS, **where).collect())


def test_every_table_opens_outside_spark_as_declared(spark: SparkSession, tmp_path: Path) -> None:
    """delta-rs opens each table at reader version 1, with its comments, constraints and versions, in one commit."""
    warehouse = Warehouse(spark, str(tmp_path))
    for table in ALL_TABLES:
        warehouse.create(table)
    for table in ALL_TABLES:
        opened = DeltaTable(warehouse.place.location(table))
        assert opened.protocol().min_reader_version == 1, table.name
        assert opened.version() == 0, table.name
        assert opened.metadata().description == table.comment
        assert [(f.name, f.metadata["comment"]) for f in opened.schema().fields] == [
            (str(c), c.comment) for c in table.columns
        ]
        properties = opened.metadata().configuration
        assert properties["tidegauge.engine_version"] == "0.1.0"
        assert {name for name in properties if name.startswith("delta.constraints.")} == {
            f"delta.constraints.{name}" for name, _ in table.constraints
        }


def test_of_files_is_noted_by_what_they_are_searched(warehouse: Warehouse, spark: SparkSession) -> None:
    """Whose rows they hold, and from when to when: by these columns files are left out, and no others are summed up."""
    warehouse.append(INCIDENTS, rows(spark, INCIDENTS, incident("one", "a")), Transaction("t", 1))
    noted = pa.table(DeltaTable(warehouse.place.location(INCIDENTS)).get_add_actions(flatten=True))

    assert {name.removeprefix("min.") for name in noted.schema.names if name.startswith("min.")} == {
        "cluster_id", "topic", "partition", "started_at", "ended_at"
    }  # fmt: skip
    assert noted["num_records"].to_pylist() == [1]
    assert searched(FETCH_EVENTS) == ("cluster_id", "capture_id", "topic", "partition", "event_time", "response_time")


def test_a_way_back_in_a_path_is_no_other_place(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--warehouse ../lake`: what is made there is found there, by whichever way."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    there = Warehouse(spark, "../lake")
    there.create(INCIDENTS)
    there.append(INCIDENTS, rows(spark, INCIDENTS, incident("one", "a")), Transaction("t", 1))

    assert ids(there) == ids(Warehouse(spark, str(tmp_path / "lake"))) == ["one"]


def test_creating_a_table_again_leaves_it_alone(warehouse: Warehouse, spark: SparkSession) -> None:
    """A second `create` is no commit and keeps the rows."""
    warehouse.append(INCIDENTS, rows(spark, INCIDENTS, incident("one", "a")), Transaction("t", 1))
    warehouse.create(INCIDENTS)

    assert [commit.version for commit in warehouse.commits(INCIDENTS)] == [1, 0]
    assert ids(warehouse) == ["one"]


def test_a_warehouse_of_an_older_schema_is_refused(warehouse: Warehouse, spark: SparkSession) -> None:
    """Its tables lack columns; the word says what to do."""
    location = Folder(spark, warehouse.path).location(INCIDENTS)
    spark.sql(f"ALTER TABLE delta.`{location}` SET TBLPROPERTIES ('tidegauge.schema_version' = '1')")
    reopened = Warehouse(spark, warehouse.path, warehouse.database)

    for touch in (reopened.create, reopened.read):
        with pytest.raises(CouldNotRunError, match=f"version 1, this tidegauge works with {SCHEMA_VERSION}; land the"):
            touch(INCIDENTS)


@in_both
def test_an_append_counts_its_rows_and_lands_once(warehouse: Warehouse, spark: SparkSession) -> None:
    """The same transaction again changes nothing; another one adds."""
    two = rows(spark, INCIDENTS, incident("one", "a"), incident("two", "a"))
    first = warehouse.append(INCIDENTS, two, Transaction("t", 1))
    again = warehouse.append(INCIDENTS, two, Transaction("t", 1))
    other = warehouse.append(INCIDENTS, rows(spark, INCIDENTS, incident("three", "a")), Transaction("u", 1))

    assert (first.version, first.rows, first.note) == (1, 2, "t")
    assert again == first
    assert (other.version, other.rows) == (2, 1)
    assert ids(warehouse) == ["one", "three", "two"]


@in_both
def test_replace_touches_one_cluster_only(warehouse: Warehouse, spark: SparkSession) -> None:
    """Rows of another cluster stay, also where they share a file with those that are replaced."""
    both = rows(spark, INCIDENTS, incident("a1", "a"), incident("b1", "b"), incident("b2", "b")).coalesce(1)
    warehouse.append(INCIDENTS, both, Transaction("t", 1))
    commit = warehouse.replace(INCIDENTS, rows(spark, INCIDENTS, incident("a2", "a")), "a")

    assert commit.rows == 1
    assert ids(warehouse) == ["a2", "b1", "b2"]
    assert ids(warehouse, cluster_id="a") == ["a2"]
    assert ids(warehouse, version=1) == ["a1", "b1", "b2"]


def test_replace_by_nothing_empties_the_cluster(warehouse: Warehouse, spark: SparkSession) -> None:
    """A cluster whose findings are gone has none, rather than yesterday's."""
    warehouse.append(INCIDENTS, rows(spark, INCIDENTS, incident("a1", "a"), incident("b1", "b")), Transaction("t", 1))
    commit = warehouse.replace(INCIDENTS, rows(spark, INCIDENTS), "a")

    assert commit.rows == 0
    assert ids(warehouse) == ["b1"]


def test_replace_refuses_rows_of_another_cluster(warehouse: Warehouse, spark: SparkSession) -> None:
    """A frame that strays is an error, and the table stays as it was."""
    with pytest.raises(Exception, match="DELTA_REPLACE_WHERE_MISMATCH"):
        warehouse.replace(INCIDENTS, rows(spark, INCIDENTS, incident("a1", "a"), incident("b1", "b")), "a")

    assert ids(warehouse) == []
    assert len(warehouse.commits(INCIDENTS)) == 1


@pytest.mark.parametrize("cluster_id", ["a' OR 'a' = 'a", "", "a b", "x" * 129])
def test_a_cluster_id_can_not_leave_its_literal(warehouse: Warehouse, spark: SparkSession, cluster_id: str) -> None:
    """The id stands in a predicate as text; one that could end it is refused."""
    with pytest.raises(CouldNotRunError, match="cluster id"):
        warehouse.replace(INCIDENTS, rows(spark, INCIDENTS), cluster_id)


def test_a_broken_constraint_leaves_no_row(spark: SparkSession, tmp_path: Path) -> None:
    """A file whose counts do not add up stops the write; not even its good neighbour lands."""
    warehouse = Warehouse(spark, str(tmp_path))
    warehouse.create(SOURCE_FILES)
    good = {"digest": "g", "lines_read": 3, "lines_landed": 1, "lines_rejected": 1, "lines_ignored": 1}
    with pytest.raises(Exception, match="CHECK constraint nothing_lost"):
        warehouse.append(SOURCE_FILES, rows(spark, SOURCE_FILES, good, {**good, "lines_read": 4}), Transaction("t", 1))

    assert warehouse.read(SOURCE_FILES).isEmpty()


def test_reading_a_missing_table_says_which(warehouse: Warehouse) -> None:
    """The error names the warehouse and the table."""
    with pytest.raises(CouldNotRunError, match="lake has no table source_files"):
        warehouse.read(SOURCE_FILES)


@in_both
def test_views_are_the_tables_that_are_there(warehouse: Warehouse, spark: SparkSession) -> None:
    """Each table answers SQL under its own name, with the meaning of its columns."""
    warehouse.append(INCIDENTS, rows(spark, INCIDENTS, incident("one", "a")), Transaction("t", 1))

    assert [one for one in register_views(warehouse) if isinstance(one, Table)] == [INCIDENTS]
    assert spark.sql("SELECT incident_id FROM incidents").collect()[0][0] == "one"
    described = {row["col_name"]: row["comment"] for row in spark.sql("DESCRIBE incidents").collect()}
    assert described["evidence"] == "In words: what shows it."


def test_views_stand_beside_their_tables(warehouse: Warehouse, spark: SparkSession) -> None:
    """What is derived from a table answers under its own name once the table is there."""
    warehouse.create(LEADER_TIMELINE)

    registered = {view.name for view in register_views(warehouse)}
    assert ("isr_flapping" in registered, "exposure" in registered, "state_at" in registered) == (True, False, False)
    assert spark.sql("SELECT times_out FROM isr_flapping").isEmpty()


def test_a_relative_folder_is_taken_from_where_we_are(spark: SparkSession) -> None:
    """Delta takes a relative path for a schema's name; a URI stays as it is."""
    here = Path.cwd()

    assert Warehouse(spark, "build/lake").place.location(INCIDENTS) == str(here / "build/lake/incidents")
    assert Warehouse(spark, "s3a://bucket/lake/").place.location(INCIDENTS) == "s3a://bucket/lake/incidents"


def test_numbers_are_written_as_they_are_and_texts_by_a_dictionary(spark: SparkSession, tmp_path: Path) -> None:
    """In pages that every reader knows, and in zstd."""
    warehouse = Warehouse(spark, str(tmp_path))
    warehouse.create(LEADER_TIMELINE)
    event = {"cluster_id": "c", "topic": "orders", "partition": 0, "isr": [1, 2], "event_time": datetime(2026, 1, 1)}  # noqa: DTZ001
    events = [
        {**event, "event_seq": n, "remote_log_end_offset": {2: n}, **dict.fromkeys(OFFSETS, n)} for n in range(1000)
    ]
    warehouse.replace(LEADER_TIMELINE, rows(spark, LEADER_TIMELINE, *events), "c")
    file, *_ = DeltaTable(warehouse.place.location(LEADER_TIMELINE)).file_uris()
    group = pq.ParquetFile(file).metadata.row_group(0)
    written = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    has_dictionary = {path for path, chunk in written.items() if chunk.has_dictionary_page}

    assert has_dictionary.isdisjoint(
        {"event_seq", "event_time", "log_end_offset", "remote_log_end_offset.key_value.value"}
    )
    assert {"topic", "partition", "remote_log_end_offset.key_value.key"} <= has_dictionary
    assert {chunk.compression for chunk in written.values()} == {"ZSTD"}
    assert not {e for chunk in written.values() for e in chunk.encodings if e.startswith("DELTA")}
