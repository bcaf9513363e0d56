"""What a local session is started with."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from jobs.local_settings import CONF, SMALL_REQUESTS, local_settings
from jobs.session import name_files_in_utf8
from schemas.tables import FETCH_EVENTS


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
    ("stored", "landing", "is_small"),
    [
        ((), 0, True),
        ((), SMALL_REQUESTS, True),
        ((), SMALL_REQUESTS + 1, False),
        ((SMALL_REQUESTS - 9,), 9, True),
        ((SMALL_REQUESTS - 9,), 10, False),
        ((SMALL_REQUESTS, 1), 0, False),
    ],
)
def test_a_session_is_small_for_few_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: tuple[int, ...], landing: int, is_small: bool
) -> None:
    """Those that land with those that have: a small delivery of a large cluster is not."""
    monkeypatch.delenv(CONF)
    settings = local_settings(warehouse_of(tmp_path, *stored), landing, has_catalog=False)

    assert (settings["spark.sql.adaptive.enabled"] == "false") == is_small


def test_elsewhere_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warehouse that is not of this machine, or none, may be large."""
    monkeypatch.delenv(CONF)

    for warehouse in ("s3a://bucket/lake", None):
        assert local_settings(warehouse, 0, has_catalog=False)["spark.sql.adaptive.enabled"] == "true"
