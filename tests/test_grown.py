"""Files that begin with the content of another one: where that ended, on the byte."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from schemas.files import FileKind
from sources.files import discover
from sources.grown import beginnings
from sources.packing import TRUNCATED
from sources.source_file import SourceFile, byte_lines

LINES = [f"[2026-11-21 10:00:{second:02},000] INFO line {second} (a.Logger)\n".encode() for second in range(9)]
WHOLE = b"".join(LINES)
BLOCK = (
    b"[2026-11-21 10:00:09,000] INFO KafkaConfig values: \n"
    b"\tmin.insync.replicas = 2\n"
    b"\treplica.lag.time.max.ms = 30000\n (kafka.server.KafkaConfig)\n"
)


def file(root: Path, content: bytes, name: str = "server.log") -> SourceFile:
    """A broker's log with this content."""
    path = root / "broker-1" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return next(found for found in discover(root) if found.path == path)


def good_lines(grown: SourceFile, *earlier: bytes) -> list[int | None]:
    """How many lines each earlier content has for good; None where the file does not begin with it."""
    digests = [hashlib.sha256(content).hexdigest() for content in earlier]
    lines = {digest: len(content.splitlines()) for digest, content in zip(digests, earlier, strict=True)}
    found = beginnings(grown, lines, str)
    return [found.get(digest) for digest in digests]


@pytest.mark.parametrize("name", ["server.log", "server.log.2026-11-21-10", "kafka-request.log", "server.log.gz"])
def test_a_file_that_grew_is_known_by_where_the_earlier_one_ended(tmp_path: Path, name: str) -> None:
    """Behind a line, behind its text, or within it: then that line is no good."""
    end = len(b"".join(LINES[:5]))

    earlier = [WHOLE[:end], WHOLE[: end - 1], WHOLE[: end - 2], WHOLE[: end + 1], b"x" + WHOLE[1:end], WHOLE[1:end]]
    assert good_lines(file(tmp_path, WHOLE, name), *earlier) == [5, 5, 4, 5, None, None]


def test_the_whole_file_has_all_its_lines(tmp_path: Path) -> None:
    """Only its last line end is new."""
    grown = file(tmp_path, WHOLE)

    assert (grown.lines, file(tmp_path, WHOLE[:-1]).lines, file(tmp_path, b"").lines) == (9, 9, 0)
    assert good_lines(file(tmp_path, WHOLE), WHOLE[:-1], WHOLE + b"more") == [9, None]


def test_a_packed_file_that_was_cut_is_known_by_what_could_be_read(tmp_path: Path) -> None:
    """Its digest, its lines and its first bytes are of that; Spark reads no line that the cut is in."""
    lines = [f"[2026-11-21 10:00:00,{n % 1000:03}] INFO {n * 7919 % 10007} (a.Logger)\n".encode() for n in range(900)]
    packed = gzip.compress(b"".join(lines), mtime=0)
    cuts = []
    for name, size in (("server.log.1.gz", len(packed) // 2), ("server.log.2.gz", len(packed) - 9)):
        (tmp_path / "broker-1").mkdir(exist_ok=True)
        (tmp_path / "broker-1" / name).write_bytes(packed[:size])
    cuts = [found for found in discover(tmp_path) if found.problem == TRUNCATED]
    whole = file(tmp_path, b"".join(lines))

    assert [cut.kind for cut in cuts] == [FileKind.SERVER_LOG] * 2
    assert 0 < cuts[0].lines < cuts[1].lines == len(lines)
    assert cuts[0].digest == hashlib.sha256(b"".join(lines)[: cuts[0].size]).hexdigest()
    read = [len(list(byte_lines(cut))) for cut in cuts]
    assert beginnings(whole, {cut.digest: count for cut, count in zip(cuts, read, strict=True)}, str) == {
        cuts[0].digest: read[0], cuts[1].digest: read[1],
    }  # fmt: skip
    assert cuts[0].lines - read[0] == 1


def test_a_message_of_several_lines_is_read_again_as_one(tmp_path: Path) -> None:
    """Its first line has the time of all."""
    content = WHOLE + BLOCK + LINES[0]
    torn = content.index(b"000\n (kafka")
    earlier = [content[:torn], content[: content.index(b"\treplica")], WHOLE, WHOLE + BLOCK]

    assert good_lines(file(tmp_path, content), *earlier) == [9, 9, 9, 13]


def test_lines_are_counted_across_chunks(tmp_path: Path) -> None:
    """Also where a chunk ends behind a line, or within one."""
    grown = file(tmp_path, LINES[0] * 40_000 + b"half")

    assert (grown.lines, grown.lines_before, grown.has_new_lines, grown.kind) == (
        40_001, 0, True, FileKind.SERVER_LOG
    )  # fmt: skip
