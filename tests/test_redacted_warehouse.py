"""A real capture redacted: no name in any file of the warehouse, and the same history as without."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.cli import main
from jobs.redacting import KEY
from jobs.sql_views import register_views
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas import tables as T
from schemas.functions import STATE_AT, Function
from sources.redaction import Redacted, Redaction
from tests.conftest import CAPTURES
from tests.frames import everything_in, of_several_rows

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.captured, pytest.mark.long]

HOUSE_KEY = "a key of the house"
SECRETS = ("ledger", "rdkafka", "127.0.0.1", "ANONYMOUS")
NAMES = (C.CAPTURE_ID, C.CLIENT_ID, C.SOURCE_FILE, C.DIGEST, C.LINE_TEXT, C.VALUE, C.INCIDENT_ID)
WHAT = ("--redact", ",".join(Redacted))
CAPTURE = str(CAPTURES / "hw_truncation")


def in_order(row: str) -> str:
    """The row with the entries of its maps in order: they have none of their own."""
    return json.dumps(json.loads(row), sort_keys=True)


@pytest.fixture(scope="module")
def plain(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A capture's tables as they are."""
    folder = str(tmp_path_factory.mktemp("plain"))
    assert main(["ingest", CAPTURE, "--warehouse", folder]) == 0
    assert main(["reconstruct", "--warehouse", folder]) == 0
    return Warehouse(spark, folder)


@pytest.fixture(scope="module")
def redacted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The same capture redacted, with verdicts, a what-if and a report."""
    folder = str(tmp_path_factory.mktemp("redacted"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(KEY, HOUSE_KEY)
        assert main(["pipeline", CAPTURE, "--warehouse", folder, *WHAT]) == 2
        assert main(["what-if", "--warehouse", folder]) == 0
    return Warehouse(spark, folder)


def test_no_name_is_in_any_column_of_any_table(redacted: Warehouse) -> None:
    """Nor in a view, nor in what a function gives."""
    spark, present = redacted.spark, register_views(redacted)
    frames = {known.name: spark.table(known.name) for known in present if not isinstance(known, Function)}
    frames[STATE_AT.name] = spark.sql("SELECT * FROM state_at(now())")
    found = {
        name: [row for row in everything_in(frame) if any(s in row for s in SECRETS)] for name, frame in frames.items()
    }

    assert {*T.ALL_TABLES} - {T.WHAT_IF_TIMELINE} <= {*present}  # that one is of a what-if with other settings
    assert {name: rows for name, rows in found.items() if rows} == {}


def test_a_row_is_what_its_table_says_it_is(redacted: Warehouse) -> None:
    """No two have the same grain, of those of the check and of a what-if neither."""
    present = [table for table in T.ALL_TABLES if redacted.has(table)]

    assert {*T.CHECK_TABLES, T.WHAT_IF_OUTCOMES} <= {*present}
    assert of_several_rows({table: redacted.read(table) for table in present}) == []


def test_no_name_is_in_a_file_beside_the_tables(redacted: Warehouse) -> None:
    """The report, and Delta's own logs with their statistics."""
    texts = [path for path in Path(redacted.path).rglob("*") if path.suffix in (".html", ".json")]
    telling = [path.name for path in texts if any(secret in path.read_text(encoding="utf-8") for secret in SECRETS)]

    assert any(path.name == "index.html" for path in texts)
    assert telling == []


@pytest.mark.parametrize("table", [*T.LANDING_TABLES, *T.TIMELINE_TABLES], ids=lambda table: table.name)
def test_it_is_the_same_history(table: T.Table, plain: Warehouse, redacted: Warehouse) -> None:
    """Row by row, up to the renaming."""
    topic = Redaction(frozenset(Redacted), HOUSE_KEY.encode()).topic_name("ledger")
    of_one, of_other = (
        Counter(in_order(row.replace(topic, "ledger")) for row in everything_in(warehouse.read(table).drop(*NAMES)))
        for warehouse in (plain, redacted)
    )

    assert of_one == of_other


def test_it_is_recognised_again_by_its_key_alone(
    redacted: Warehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same file lands once; with another key or none nothing lands at all."""
    argv = ["ingest", CAPTURE, "--warehouse", redacted.path]
    before = redacted.read(T.SOURCE_FILES).count()

    for key, what, code, words in (
        (HOUSE_KEY, WHAT, 0, "16 of 16 files already landed"),
        ("a key of the neighbour", WHAT, 3, "redacted with another key; use another warehouse"),
        (HOUSE_KEY, (), 3, "and this run has none; use another warehouse"),
    ):
        monkeypatch.setenv(KEY, key)
        assert main([*argv, *what]) == code
        assert words in capsys.readouterr().err
    assert redacted.read(T.SOURCE_FILES).count() == before
