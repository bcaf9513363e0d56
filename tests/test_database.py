"""`--database`: the tables of a warehouse under their names in Spark's catalog."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs import local_settings
from jobs.cli import main
from jobs.commits import Transaction
from jobs.errors import CouldNotRunError
from jobs.opening import open_warehouse
from jobs.places import Home
from schemas import tables as T
from tests.checked_rows import found
from tests.frames import rows

pytestmark = [pytest.mark.spark, pytest.mark.delta]

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a database `tide` lies that holds some findings."""
    place = tmp_path_factory.mktemp("tide")
    made = open_warehouse("tests", Home(str(place), "tide"), makes=True)
    made.create(T.INCIDENTS)
    made.append(T.INCIDENTS, rows(spark, T.INCIDENTS, found("NO_LEADER"), found("ISR_SHRUNK")), Transaction("t", 1))
    yield place
    spark.sql("DROP DATABASE tide CASCADE")


def test_a_job_finds_the_tables_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In SQL each has two names, its own and that of the database's table, which lies where the database does."""
    for query in ("SELECT count(*) AS rows FROM incidents", "SELECT count(*) AS rows FROM tide.incidents"):
        assert main(["sql", "--database", "tide", "-e", query]) == 0
        assert capsys.readouterr().out.split() == ["rows", "2"]
    assert (folder / "incidents" / "_delta_log").is_dir()


def test_a_database_with_a_folder_is_a_warehouse_of_that_folder(folder: Path, spark: SparkSession) -> None:
    """Who has no catalog reads the same tables by their paths."""
    by_path = open_warehouse("tests", Home(str(folder)))

    assert by_path.read(T.INCIDENTS).count() == 2
    assert spark.catalog.getTable("tide.incidents").description == T.INCIDENTS.comment


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (["--database", "no_such"], 3, "the catalog has no database no_such"),
        (["--database", "a; DROP"], 64, "a letter, then letters, digits and _ only"),
        ([], 64, "Missing option '--warehouse'"),
    ],
)
def test_what_is_no_database_is_told(
    argv: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str], spark: SparkSession
) -> None:
    """And none is made of a name that was mistyped."""
    assert main(["reconstruct", *argv]) == code
    assert words in capsys.readouterr().err
    assert not spark.catalog.databaseExists("no_such")


def test_the_database_may_come_from_the_run_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For all commands, as the folder may."""
    file = tmp_path / "run.yaml"
    file.write_text("common: {database: tide}")

    assert main(["reconstruct", "--run-config", str(file), "--show-config"]) == 0
    assert "warehouse: database tide" in capsys.readouterr().out


def test_on_one_machine_the_catalog_lies_in_the_folder(tmp_path: Path) -> None:
    """Beside other options of Java; without a folder it would fall into the one we are in."""
    settings = local_settings._with_metastore({local_settings.JAVA_OPTIONS: "-XX:+UseSerialGC"}, str(tmp_path))

    assert f"{tmp_path}/metastore_db" in settings[local_settings.METASTORE]
    assert settings[local_settings.JAVA_OPTIONS] == f"-XX:+UseSerialGC -Dderby.system.home={tmp_path}"
    spaced = local_settings._with_metastore({}, f'{tmp_path}/a "b"')
    assert spaced[local_settings.JAVA_OPTIONS] == f'"-Dderby.system.home={tmp_path}/a \\"b\\""', "one word to Spark"
    for nowhere in (None, "s3a://bucket/lake"):
        with pytest.raises(CouldNotRunError, match="name a local --warehouse DIR"):
            local_settings._with_metastore({}, nowhere)


@pytest.mark.long
@pytest.mark.captured
def test_processes_share_a_metastore_in_files(tmp_path: Path, captures: Path) -> None:
    """What one has made the next one finds, and nothing falls into the folder in which they run."""
    lake, here = tmp_path / "lake", tmp_path / "here"
    here.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("TIDEGAUGE_SPARK_CONF", None)

    def tidegauge(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "jobs.cli", *words, "--database", "tide", "--warehouse", str(lake)]
        return subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=False)

    piped = tidegauge("pipeline", str(captures / "hw_truncation"))
    checked = tidegauge("check")
    asked = tidegauge("sql", "-e", "SELECT kind FROM tide.incidents WHERE kind LIKE '%RECORDS_LOST'")

    assert piped.returncode == 2, piped.stderr
    assert checked.returncode == 2, checked.stderr
    assert (lake / "report" / "index.html").is_file()
    assert asked.stdout.split() == ["kind", "COMMITTED_RECORDS_LOST"], asked.stderr
    assert list(here.iterdir()) == []
