"""Logs that were collected while they grew, and consoles beside them: each line lands once, from wherever it came."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.deliveries import EVENT_TABLES
from jobs.delivery import delivery_of
from jobs.ingest_delivery import ingest_delivery
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.tables import LANDED, REJECTED_LINES, SOURCE_FILES, Table
from sources.files import discover
from tests.captured import Tables

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.captured]

CAPTURE = "hw_truncation"
SHARE = 0.6
TORN = "broker-3"
"""Whose logs were collected in the middle of a line; those of the others at the end of one."""
TOLD_LATER = ["last_offset"]
"""Of the last append before the cut its end is in a line behind: -1 stays where it has landed."""


def collected_early(capture: Path, target: Path) -> Path:
    """The logs as they were when three fifths had been written, and nothing else."""
    for path in capture.rglob("*.log.gz"):
        content = gzip.decompress(path.read_bytes())
        end = content.rindex(b"\n", 0, int(len(content) * SHARE)) + 1
        early = target / path.relative_to(capture)
        early.parent.mkdir(parents=True, exist_ok=True)
        early.write_bytes(gzip.compress(content[: end + 40 if path.parent.name == TORN else end]))
    return target


def ingest(warehouse: Warehouse, capture: Path, capture_id: str | None = None) -> None:
    """Land a capture."""
    delivery = delivery_of(
        capture, cluster_id=CAPTURE, capture_id=capture_id, timezone="UTC", layout=None, redact=frozenset(),
        redact_key_file=None,
    )  # fmt: skip
    ingest_delivery(warehouse, delivery)


def told(rows: DataFrame) -> DataFrame:
    """Rows without the delivery that they came with."""
    return rows.drop(*map(str, LANDED)).localCheckpoint()


def hold(warehouse: Warehouse, whole: Tables) -> None:
    """Every landing table has the rows of the whole, each once; and each line of each file is accounted for."""
    unlike = {}
    for table in EVENT_TABLES:
        one, two = (told(rows).drop(*TOLD_LATER) for rows in (whole[table.name], warehouse.read(table)))
        unlike[table.name] = (one.exceptAll(two).collect(), two.exceptAll(one).collect())
    assert {name: rows for name, rows in unlike.items() if rows != ([], [])} == {}
    counted = F.col(C.LINES_LANDED) + F.col(C.LINES_REJECTED) + F.col(C.LINES_IGNORED)
    assert warehouse.read(SOURCE_FILES).where(F.col(C.LINES_READ) != counted).isEmpty()


def ignored(warehouse: Warehouse, reason: str) -> dict[str, int]:
    """Lines ignored for a reason, by file."""
    rows = warehouse.read(SOURCE_FILES).select(C.SOURCE_FILE, F.try_element_at(C.IGNORED_BY_REASON, F.lit(reason)))
    return {row[0]: row[1] for row in rows.collect() if row[1]}


@pytest.mark.long
def test_a_log_that_grew_lands_its_new_lines_alone(
    spark: SparkSession, captures: Path, tmp_path: Path, landed_capture: Callable[[str], Tables]
) -> None:
    """Collected twice, some in the middle of a line; then with a copy that it grew from, rotated, and a console."""
    capture, warehouse = captures / CAPTURE / "capture", Warehouse(spark, str(tmp_path / "lake"))
    early = collected_early(capture, tmp_path / "early")
    ingest(warehouse, early)
    torn = warehouse.read(REJECTED_LINES).select(C.SOURCE_FILE).collect()
    again = Path(shutil.copytree(capture, tmp_path / "again"))
    log = gzip.decompress((capture / TORN / "server.log.gz").read_bytes())
    (again / TORN / "server.log.1").write_bytes(log[: int(len(log) * 0.8)])
    (again / TORN / "kafkaServer.out").write_bytes(b"OpenJDK 64-Bit Server VM warning: sharing\n" + log)
    ingest(warehouse, again)

    assert [row[0] for row in torn] == [f"{TORN}/state-change.log.gz"]
    hold(warehouse, landed_capture(CAPTURE))
    before = ignored(warehouse, "landed with another file")
    early_lines = {file.name: file.lines for file in discover(early)}
    cut = {name: lines - before[name] for name, lines in early_lines.items() if lines != before[name]}
    # A torn line is read again, and so are settings whose block was cut.
    torn_logs = {f"{TORN}/state-change.log.gz", f"{TORN}/kafka-request.log.gz"}
    assert {name for name, lines in cut.items() if lines == 1} >= torn_logs
    assert {name.split("/")[1] for name, lines in cut.items() if lines > 1} == {"server.log.gz"}
    assert before.keys() - early_lines.keys() == {f"{TORN}/server.log.1"}
    assert ignored(warehouse, "line of another file") == {f"{TORN}/kafkaServer.out": log.count(b"\n")}


@pytest.mark.long
def test_a_delivery_of_the_same_name_that_died_is_taken_back(
    spark: SparkSession,
    captures: Path,
    tmp_path: Path,
    landed_capture: Callable[[str], Tables],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its rows are told from those that had landed under the same names by their lines."""
    capture, warehouse = captures / CAPTURE / "capture", Warehouse(spark, str(tmp_path / "lake"))
    ingest(warehouse, collected_early(capture, tmp_path / "early"), "nightly")
    append = Warehouse.append

    def dying(self: Warehouse, table: Table, *rest: object) -> object:
        return _die() if table is SOURCE_FILES else append(self, table, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Warehouse, "append", dying)
        with pytest.raises(OSError, match="no space left"):
            ingest(warehouse, capture, "nightly")
    ingest(warehouse, capture, "nightly")

    hold(warehouse, landed_capture(CAPTURE))


def _die() -> NoReturn:
    raise OSError("no space left")
