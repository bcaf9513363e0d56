"""What a local session is started with."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs import session
from jobs.errors import CouldNotRunError
from jobs.keeping import HOW
from jobs.local_settings import CONF, SMALL_REQUESTS, SOME_REQUESTS, local_settings, read_properties
from jobs.session import name_files_in_utf8
from schemas.tables import FETCH_EVENTS
from tests.turns import taken_in_turn

ADAPTIVE = "spark.sql.adaptive.enabled"
SMALL, MEDIUM, LARGE = ("false", "checkpoint"), ("true", "checkpoint"), ("true", None)
"""Whether plans are adapted, and what is done with what is kept."""


@pytest.mark.parametrize(
    ("given", "then"), [("C", "C.UTF-8"), ("POSIX", "C.UTF-8"), ("de_DE.UTF-8", "de_DE.UTF-8"), ("", "")]
)
def test_java_names_files_as_python_does(given: str, then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of LC_ALL=C Python takes UTF-8, and Java ASCII: a folder named Zürich would be "unmappable" to it."""
    monkeypatch.setenv("LC_ALL", given)
    name_files_in_utf8()

    assert os.environ["LC_ALL"] == then


def warehouse_of(folder: Path, *files: int) -> str:
    """A warehouse with files of so many fetches, and one that is none."""
    (folder / FETCH_EVENTS.name).mkdir()
    for number, requests in enumerate(files):
        parquet.write_table(pa.table({"a": [0] * requests}), folder / FETCH_EVENTS.name / f"{number}.parquet")
    (folder / FETCH_EVENTS.name / "torn.parquet").write_bytes(b"PAR1")
    return str(folder)


@pytest.mark.parametrize(
    ("stored", "landing", "settings"),
    [
        ((), 0, SMALL),
        ((), SMALL_REQUESTS, SMALL),
        ((), SMALL_REQUESTS + 1, MEDIUM),
        ((SMALL_REQUESTS - 9,), 9, SMALL),
        ((SMALL_REQUESTS - 9,), 10, MEDIUM),
        ((SMALL_REQUESTS, 1), SOME_REQUESTS - SMALL_REQUESTS - 1, MEDIUM),
        ((SMALL_REQUESTS, 1), SOME_REQUESTS - SMALL_REQUESTS, LARGE),
        ((SOME_REQUESTS + 1,), 0, LARGE),
    ],
)
def test_a_session_is_for_as_many_requests_as_there_are(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stored: tuple[int, ...],
    landing: int,
    settings: tuple[str, str | None],
) -> None:
    """Those that land with those that have: a small delivery of a large cluster is not."""
    monkeypatch.delenv(CONF)
    found = local_settings(warehouse_of(tmp_path, *stored), landing, has_catalog=False)

    assert (found[ADAPTIVE], found.get(HOW)) == settings


def test_settings_are_read_as_java_reads_them(tmp_path: Path) -> None:
    """Spark takes either form of a line; a value may have blanks and signs of its own."""
    file = tmp_path / "spark.conf"
    file.write_text(
        "# a comment\n! another\n\nspark.a 8g\nspark.b=8g\n  spark.c = 8g\nspark.d:\t8g\n"
        "spark.e   -Dx=1 -Dy=2\nspark.f=jdbc:derby:;create=true\n"
    )

    assert read_properties(file) == {
        "spark.a": "8g", "spark.b": "8g", "spark.c": "8g", "spark.d": "8g", "spark.e": "-Dx=1 -Dy=2",
        "spark.f": "jdbc:derby:;create=true",
    }  # fmt: skip


@pytest.mark.parametrize("line", ["spark.a", "spark.a=", "= 8g"])
def test_a_setting_without_a_value_is_refused(line: str, tmp_path: Path) -> None:
    """By the file and the line."""
    file = tmp_path / "spark.conf"
    file.write_text(f"spark.b 1\n{line}\n")

    with pytest.raises(CouldNotRunError, match=r"spark\.conf, line 2: .* is no setting"):
        read_properties(file)


def test_elsewhere_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warehouse that is not of this machine, or none, may be large."""
    monkeypatch.delenv(CONF)

    for warehouse in ("s3a://bucket/lake", None):
        found = local_settings(warehouse, 0, has_catalog=False)
        assert (found[ADAPTIVE], found.get(HOW)) == LARGE


def test_what_makes_a_column_is_looked_up_once(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `functions` is in the JVM, and its `col`, is known from then on: a replay's plan has ten thousand of it."""

    def columns() -> list[str]:
        return [str(column) for column in (F.col("a"), F.coalesce("a", F.lit(1)))]

    assert columns() == ["Column<'a'>", "Column<'coalesce(a, 1)'>"]
    client = spark.sparkContext._jvm._gateway_client
    asked: list[str] = []
    monkeypatch.setattr(client, "send_command", partial(_noted, asked, client.send_command))
    columns()
    assert len(asked) > 3
    assert [command for command in asked if command.startswith("r\n")] == []  # py4j: reflection


def _noted(asked: list[str], send: Callable[..., str], command: str, *rest: Any, **more: Any) -> str:
    asked.append(command)
    return send(command, *rest, **more)


def test_jars_are_fetched_by_one_process_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two in one cache spoil each other's downloads: the second waits, and finds them there."""
    order: list[str] = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(session, "_delta_is_fetched", lambda: "first" in order)
    said = taken_in_turn(session._fetching_jars_once, capsys, order)

    assert order == ["first", "second"]
    assert said.count("fetching Delta's jars, once") == 1
    assert "fetching" not in capsys.readouterr().err
