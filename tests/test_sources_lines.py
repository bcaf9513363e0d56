"""Lines of files as they are read: numbered right, whatever the file's size, name, packing or damage."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.files import FileKind
from sources.files import discover
from sources.lines import read_lines
from sources.packing import TRUNCATED
from sources.source_file import SourceFile

pytestmark = pytest.mark.spark

HEAD = "[2026-11-21 10:36:40,815] INFO starting (kafka.server.KafkaServer)"
REQUEST = "[2026-11-21 10:36:40,815] DEBUG Completed request:{} (kafka.request.logger)"


def read(spark: SparkSession, root: Path) -> dict[str, list[tuple[int, str]]]:
    """The numbered lines of each file."""
    return read_files(spark, discover(root))


def read_files(spark: SparkSession, files: list[SourceFile]) -> dict[str, list[tuple[int, str]]]:
    """The same of files that were looked at before."""
    rows = read_lines(spark, files).select(C.SOURCE_FILE, C.SOURCE_LINE, C.LINE_TEXT).collect()
    numbered: dict[str, list[tuple[int, str]]] = {}
    for name, number, text in sorted(rows):
        numbered.setdefault(name, []).append((number, text))
    return numbered


def put(root: Path, name: str, content: str | bytes) -> None:
    """A file of a capture."""
    path = root / "broker-1" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


def test_numbers_are_right_in_files_of_many_blocks(spark: SparkSession, tmp_path: Path) -> None:
    """A file is split for several tasks; its lines are numbered through all the same."""
    lines = [f"{HEAD} {number} {'x' * (number % 97)}" for number in range(1, 4001)]
    put(tmp_path, "server.log", "\n".join(lines))
    put(tmp_path, "server.log.1", "\n".join(lines[:1500]) + "\n")
    put(tmp_path, "server.log.2.gz", "\n".join(lines[:2000]))
    spark.conf.set("spark.sql.files.maxPartitionBytes", "50000")
    try:
        found = read(spark, tmp_path)
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")

    assert found["broker-1/server.log"] == list(enumerate(lines, 1))
    assert found["broker-1/server.log.1"] == list(enumerate(lines[:1500], 1))
    assert found["broker-1/server.log.2.gz"] == list(enumerate(lines[:2000], 1))


@pytest.mark.parametrize("name", ["server.log", "_server.log", "server.log.2026-11-21T10:00", "server.log.gz"])
def test_ends_of_lines_marks_and_bad_bytes_are_no_text(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """Windows' line ends, a byte order mark, bytes that are no UTF-8; and names that Spark or Hadoop cannot read."""
    put(tmp_path, name, b"\xef\xbb\xbf" + HEAD.encode() + b"\r\nsecond\r\n\nbad \xff byte")

    assert list(read(spark, tmp_path).values()) == [[(1, HEAD), (2, "second"), (3, ""), (4, "bad \ufffd byte")]]


def test_names_may_have_any_character(spark: SparkSession, tmp_path: Path) -> None:
    """Wildcards are letters here, and so is what a URI would escape."""
    names = ["a b/server.log", "50%20/server.log", "{x}*[1]?/server.log", "ü+#/server.log"]
    for name in names:
        put(tmp_path, name, HEAD)

    assert read(spark, tmp_path) == {f"broker-1/{name}": [(1, HEAD)] for name in names}


def test_of_a_damaged_file_the_lines_before_the_damage_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    """And the damage is told."""
    lines = [f"{HEAD} {number * 7919 % 10007}" for number in range(20_000)]
    put(tmp_path, "server.log.gz", "\n".join(lines))
    path = tmp_path / "broker-1" / "server.log.gz"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    kept = read(spark, tmp_path)["broker-1/server.log.gz"]

    assert [file.problem for file in discover(tmp_path)] == [TRUNCATED]
    assert 1000 < len(kept) < len(lines)
    assert kept == list(enumerate(lines, 1))[: len(kept)]


def test_what_a_live_log_gets_after_it_was_looked_at_is_left_for_the_next_delivery(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Whole lines, the rest of a line that was torn, and the first line of an empty file; however it is read."""
    names, before = ("server.log", "_server.log"), f"{HEAD}\n{HEAD} to"
    for name in names:
        put(tmp_path, name, before)
    put(tmp_path, "server.log.1", f"{HEAD}\n")
    put(tmp_path, "state-change.log", "")
    files = discover(tmp_path)
    for name in names:
        put(tmp_path, name, f"{before}rn\n{HEAD}\n")
    put(tmp_path, "server.log.1", f"{HEAD}\n{HEAD}\n")
    put(tmp_path, "state-change.log", f"{HEAD}\n")

    found = read_files(spark, files)

    assert found == {
        **{f"broker-1/{name}": [(1, HEAD), (2, f"{HEAD} torn")] for name in names},
        "broker-1/server.log.1": [(1, HEAD)],
    }


def test_empty_and_unreadable_files_have_no_lines(spark: SparkSession, tmp_path: Path) -> None:
    """They do not stop the others."""
    put(tmp_path, "server.log", "")
    put(tmp_path, "state-change.log", b"\x00\x01")

    assert read(spark, tmp_path) == {}


def test_every_line_knows_its_kind_and_broker(spark: SparkSession, tmp_path: Path) -> None:
    """By the file."""
    put(tmp_path, "server.log", HEAD)
    put(tmp_path, "state-change.log", HEAD)

    rows = read_lines(spark, discover(tmp_path)).select(C.KIND, C.BROKER_ID).collect()

    assert sorted(map(tuple, rows)) == [("server_log", 1), ("state_change_log", 1)]


def test_the_lines_of_one_kind_are_read_from_its_files_alone(spark: SparkSession, tmp_path: Path) -> None:
    """Each kind is parsed by itself: a large request log is not read again for the sake of a small server.log."""
    for name in ("kafka-request.log", "server.log", "server.log.1", "state-change.log"):
        put(tmp_path, name, REQUEST if "request" in name else HEAD)
    lines = read_lines(spark, discover(tmp_path)).where(F.col(C.KIND) == FileKind.SERVER_LOG.value)

    assert sorted(Path(uri).name for uri in lines.inputFiles()) == ["server.log", "server.log.1"]


def test_only_carriage_returns_at_the_end_are_cut(spark: SparkSession, tmp_path: Path) -> None:
    """As many as there are; one within a line is text."""
    put(tmp_path, "server.log", f"{HEAD}\r\r\r\na\rb\n\r\n")

    assert list(read(spark, tmp_path).values()) == [[(1, HEAD), (2, "a\rb"), (3, "")]]
