"""Damaged captures: nothing crashes, every line is accounted for, and nothing is called exact that is not."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.files import FileKind
from schemas.tables import LANDING_TABLES
from sources import broker_log, request_log
from sources.errors import CaptureError
from sources.files import discover
from sources.landing import land
from sources.lines import LINE_KINDS, LINES_SCHEMA, read_lines
from sources.sighting import Sighting
from sources.small_files import SMALL_KINDS, read_small_files
from sources.source_file import byte_lines
from tests.conftest import CAPTURES
from tests.damage import Lines, damaged, lines_of_file

DRAWN = settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
PER_FILE = 25
"""Lines of a damaged piece."""

FILES = {
    FileKind.SERVER_LOG: ("server.log.{}", "broker-2/server.log.gz"),
    FileKind.STATE_CHANGE_LOG: ("state-change.log.{}", "broker-2/state-change.log.gz"),
    FileKind.REQUEST_LOG: ("kafka-request.log.{}", "broker-2/kafka-request.log.gz"),
    FileKind.LEADER_EPOCH_CHECKPOINT: ("d{}/leader-epoch-checkpoints.json", "broker-2/leader-epoch-checkpoints.json"),
    FileKind.HW_CHECKPOINT: ("d{}/replication-offset-checkpoint", "broker-2/replication-offset-checkpoint"),
    FileKind.SEGMENT_DUMP: ("segments/clicks-{}.txt", "broker-2/segments/clicks-0.txt.gz"),
    FileKind.METADATA_DUMP: ("cluster-metadata-{}.txt", "cluster-metadata.txt.gz"),
}  # fmt: skip


def piece(random: Random, kind: FileKind) -> Lines:
    """Some lines of a bundled file, damaged."""
    whole = lines_of_file(CAPTURES / "failover" / "capture" / FILES[kind][1])
    at = random.randrange(max(1, len(whole) - PER_FILE))
    head = whole[:1] if kind in (FileKind.SEGMENT_DUMP, FileKind.METADATA_DUMP) else []
    return head + damaged(random, whole[at : at + PER_FILE])


def put(folder: Path, random: Random, number: int, kind: FileKind) -> None:
    """A damaged file of a capture, perhaps packed, perhaps cut within the packing."""
    path = folder / "broker-2" / FILES[kind][0].format(number)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = b"\n".join(piece(random, kind))
    if random.random() < 0.2:
        packed = gzip.compress(content)
        path.with_name(path.name + ".gz").write_bytes(packed[: random.choice((len(packed), len(packed) // 2))])
    else:
        path.write_bytes(content)


@DRAWN
@given(st.integers(0, 2**32), st.sampled_from(sorted(FILES)))
def test_any_file_is_looked_at_and_read_whole(seed: int, kind: FileKind) -> None:
    """Whatever is in it: its lines are counted, and what is wrong with it is told."""
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder), random, 1, kind)
        (Path(folder) / "about.json").write_text("{}")
        files = discover(Path(folder))
        read = read_small_files(files).outcomes

        assert len(files) == 2
        lines = sum(len(list(byte_lines(file))) for file in files if file.kind in SMALL_KINDS and file.is_readable)
        assert len({(row[0], row[1]) for row in read}) == len(read) == lines


@DRAWN
@given(st.lists(st.binary(max_size=200)), st.binary(max_size=300))
def test_what_a_file_shows_does_not_depend_on_how_it_is_read(chunks: list[bytes], more: bytes) -> None:
    """In one piece or in many."""
    text = b"[2026-11-21 10:36:42,604] INFO [Broker id=7] x (state.change.logger)\n"
    whole, parts = Sighting(names_brokers=True), Sighting(names_brokers=True)
    pieces = [text[:30], text[30:], *chunks, b"\n", text.replace(b"7", b"8"), more]
    whole.see(b"".join(pieces))
    for chunk in pieces:
        parts.see(chunk)
    whole.end()
    parts.end()

    assert (whole.brokers, whole.minutes) == (parts.brokers, parts.minutes)
    assert {7, 8} <= whole.brokers
    assert "2026-11-21 10:36" in whole.minutes


@DRAWN
@given(st.dictionaries(st.sampled_from(["server.log", "a.txt", "b.gz", "x", "_y.log"]), st.binary(max_size=300)))
def test_any_folder_is_a_capture_or_is_refused(contents: dict[str, bytes]) -> None:
    """With a word, and not with a crash."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in contents.items():
            (Path(folder) / name).write_bytes(content)
        try:
            found = {file.name for file in discover(Path(folder))}
        except CaptureError:
            found = None

        assert found in (None, set(contents))


@pytest.mark.spark
def test_each_damaged_line_of_a_log_has_one_outcome(spark: SparkSession) -> None:
    """A hundred damaged pieces, in one job a kind."""
    random = Random(9)
    for kind, parse in ((FileKind.SERVER_LOG, broker_log.parse), (FileKind.REQUEST_LOG, request_log.parse)):
        rows = [
            (f"{kind}-{number}", line, 2, kind.value, text.decode("utf-8", "replace"))
            for number in range(50)
            for line, text in enumerate(piece(random, kind), 1)
        ]
        parsed = parse(spark.createDataFrame(rows, LINES_SCHEMA), "UTC")
        outcome = F.col("outcome").isin("landed", "rejected", "ignored")
        told = parsed.where(outcome & (F.col(C.REASON).isNotNull() | (F.col("outcome") == "landed")))

        assert told.select(C.SOURCE_FILE, C.SOURCE_LINE).distinct().count() == told.count() == len(rows)


@pytest.mark.long
@pytest.mark.spark
def test_two_thousand_damaged_files_land_and_add_up(spark: SparkSession, tmp_path: Path) -> None:
    """All kinds in one delivery: of each file what was read is landed, rejected or ignored."""
    random = Random(2000)
    for number in range(2_000):
        put(tmp_path, random, number, random.choice(list(FILES)))
    files = discover(tmp_path)
    lines = {file.name: len(list(byte_lines(file))) for file in files if file.is_readable}
    landing = land(read_lines(spark, files), files, cluster_id="c", capture_id="d", timezone="UTC", known={})
    counts = {row[C.SOURCE_FILE]: row for row in landing.source_files.collect()}

    assert len(files) == len(counts) == 2_000
    for row in counts.values():
        assert row[C.LINES_READ] == row[C.LINES_LANDED] + row[C.LINES_REJECTED] + row[C.LINES_IGNORED]
    by_line = [file for file in files if file.kind in LINE_KINDS and file.is_readable and file.problem is None]
    assert len(by_line) > 1_000
    assert {f.name: counts[f.name][C.LINES_READ] for f in by_line} == {f.name: lines[f.name] for f in by_line}
    for table in LANDING_TABLES:
        frame = landing.tables.get(table.name, landing.source_files)
        for name, must_hold in table.constraints:  # else the whole delivery could not be written
            assert frame.where(~F.coalesce(F.expr(must_hold), F.lit(False))).isEmpty(), (table.name, name)
        frame.count()
