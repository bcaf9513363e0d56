"""The files of a capture, each read once: whose it is, what it is, its digest, and what is wrong with it as a file.

Plain Python on the driver.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import BufferedIOBase
from pathlib import Path
from typing import NamedTuple

from schemas.columns import NO_REPLICA
from schemas.files import FileKind
from sources.attribution import attributed
from sources.capture_folder import broker_of, files_below
from sources.errors import CaptureError
from sources.file_kinds import LOGS, as_seen, kind_by_name, kind_of
from sources.log4j import Layout
from sources.packing import TRUNCATED, UNREADABLE, mismatch, opened
from sources.partition_names import is_told_by_name
from sources.sighting import Sighting
from sources.source_file import SourceFile, byte_lines

SNIFFED_BYTES = 64 * 1024
CHUNK_BYTES = 1024 * 1024
PIECE_BYTES = 4 * 1024

UNKNOWN_LAYOUT = "no line begins with a date as Kafka writes it: name the layout by --log-pattern"
OTHER_LAYOUT = "no line is in the layout that --log-pattern names, or begins with a date as Kafka writes it"
UNKNOWN_LAYOUTS = (UNKNOWN_LAYOUT, OTHER_LAYOUT)
"""Problems of a file that another `--log-pattern` solves."""


def discover(root: Path) -> list[SourceFile]:
    """The files of a capture, by name; those of unknown kind too, so that nothing goes missing unsaid."""
    paths = sorted(files_below(root))
    with ThreadPoolExecutor() as pool:  # hashing and inflating let go of the interpreter's lock
        found = list(pool.map(lambda path: _inspect(root, path), paths))
    if all(file.kind is FileKind.UNKNOWN for file in found):
        raise CaptureError(
            f"{root}: nothing to read among {len(found)} files; looked for broker-N/ with kafka-request.log, "
            "state-change.log, server.log, segments/, checkpoints, and for cluster-metadata.txt"
        )
    return attributed(found)


def with_unknown_layouts(files: list[SourceFile], layout: Layout | None) -> list[SourceFile]:
    """The files, logs without a single date as ones with a problem: nothing of them is what it seems.

    Those whose dates the layout tells are as coarse as it has them.
    """
    return [_in_layout(file, layout) if _has_no_date(file) else file for file in files]


def _in_layout(file: SourceFile, layout: Layout | None) -> SourceFile:
    if layout is None:
        return replace(file, problem=UNKNOWN_LAYOUT)
    if not any(map(layout.is_of, byte_lines(file))):
        return replace(file, problem=OTHER_LAYOUT)
    return replace(file, is_to_the_second=layout.is_to_the_second)


def _has_no_date(file: SourceFile) -> bool:
    return file.kind in LOGS and file.problem is None and file.longest_line > 0 and not file.minutes


def _inspect(root: Path, path: Path) -> SourceFile:
    name = path.relative_to(root).as_posix()
    broker_id = broker_of(name)
    sighting, digest, head, is_whole = _read(path, names_brokers=broker_id == NO_REPLICA)
    problem = mismatch(path, head) if is_whole else TRUNCATED
    kind = as_seen(kind_of(path, head), sighting) if problem not in UNREADABLE else kind_by_name(path)
    seen = SourceFile(path, name, kind, broker_id, digest, problem, sighting.brokers)
    if kind in LOGS:
        seen = replace(seen, minutes=sighting.minutes, request_minutes=sighting.request_minutes)
        seen = replace(seen, has_future_logs=sighting.has_future_logs, has_objects=sighting.has_objects)
        seen = replace(seen, has_parts=sighting.has_parts, is_to_the_second=sighting.is_to_the_second)
        seen = replace(seen, streams=sighting.streams.of_brokers)
    told_by_name = is_told_by_name(kind, name, head)
    seen = replace(seen, size=sighting.size, longest_line=sighting.longest_line, lines=sighting.lines)
    return replace(seen, is_told_by_name=told_by_name)


class _Read(NamedTuple):
    """What was read of a file: what it shows, its digest, its first bytes, and whether that is all of it."""

    sighting: Sighting
    digest: str
    head: bytes
    is_whole: bool


def _read(path: Path, *, names_brokers: bool) -> _Read:
    """A file, read to its end; of a damaged one all that can be read.

    What is asked of it at once is lost with the damage in it: small files, each cut short, would all be the empty one.
    """
    read = _read_by(path, lambda stream: stream.read(CHUNK_BYTES), names_brokers=names_brokers)
    if read.is_whole:
        return read
    return _read_by(path, lambda stream: stream.read1(PIECE_BYTES), names_brokers=names_brokers)


def _read_by(path: Path, ask: Callable[[BufferedIOBase], bytes], *, names_brokers: bool) -> _Read:
    sighting, sha, head, is_whole = Sighting(names_brokers=names_brokers), hashlib.sha256(), b"", True
    with opened(path) as stream:
        try:
            while chunk := ask(stream):
                if not head:
                    sighting.is_of_log = kind_of(path, chunk[:SNIFFED_BYTES]) in LOGS
                head += chunk[: SNIFFED_BYTES - len(head)]
                sha.update(chunk)
                sighting.see(chunk)
        except (EOFError, OSError, zlib.error):
            is_whole = False
    sighting.end()
    return _Read(sighting, sha.hexdigest(), head, is_whole)
