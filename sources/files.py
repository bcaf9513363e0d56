"""The files of a capture, found: which there are, whose each is, its digest, and what is wrong with it as a file.

Plain Python on the driver.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from schemas.columns import NO_REPLICA
from schemas.kinds import FileKind
from sources.attribution import attributed
from sources.errors import CaptureError
from sources.file_kinds import LOGS, as_seen, kind_by_name, kind_of
from sources.packing import TRUNCATED, UNREADABLE, mismatch, opened
from sources.partition_names import is_told_by_name
from sources.sighting import COMPLETED, PREFIX_BYTES, Sighting
from sources.source_file import SourceFile, byte_lines

SNIFFED_BYTES = 64 * 1024
CHUNK_BYTES = 1024 * 1024

NEVER_READ = re.compile(r"^(truth|acked)\.jsonl")
"""What a test cluster knew of itself, for comparison: never an input. Likewise a folder `trace`."""

BROKER_FOLDER = re.compile(r"^broker-(\d+)$")
CLUSTER_ID = re.compile(rb"Cluster ID = ([\w-]+)|of broker \d+ in cluster ([\w-]+)")


UNKNOWN_LAYOUT = "no line begins with a date as Kafka writes it: name the layout by --log-pattern"


def capture_root(path: str | Path) -> Path:
    """The folder that holds `broker-N/`: `path`, or its `capture/` where only that does."""
    folder = Path(path).resolve()  # Spark puts ".." out of a path, and names a file by what is left
    if folder.is_file():
        raise CaptureError(f"{folder}: a file; name the folder that it lies in")
    if not folder.is_dir():
        raise CaptureError(f"{folder}: no such folder")
    inner = folder / "capture"
    return inner if inner.is_dir() and not _has_brokers(folder) else folder


def discover(root: Path) -> list[SourceFile]:
    """The files of a capture, by name; those of unknown kind too, so that nothing goes missing unsaid."""
    paths = sorted(_walk(root))
    with ThreadPoolExecutor() as pool:  # hashing and inflating let go of the interpreter's lock
        found = list(pool.map(lambda path: _inspect(root, path), paths))
    if all(file.kind is FileKind.UNKNOWN for file in found):
        raise CaptureError(
            f"{root}: nothing to read among {len(found)} files; looked for broker-N/ with kafka-request.log, "
            "state-change.log, server.log, segments/, checkpoints, and for cluster-metadata.txt"
        )
    return attributed(found)


def with_unknown_layouts(files: list[SourceFile]) -> list[SourceFile]:
    """The files, logs without a single date as ones with a problem: nothing of them is what it seems."""
    return [
        replace(file, problem=UNKNOWN_LAYOUT)
        if file.kind in LOGS and file.problem is None and file.longest_line and not file.minutes
        else file
        for file in files
    ]


def cluster_id(files: list[SourceFile]) -> str | None:
    """The cluster's id by a broker's own word; None where no line of it tells."""
    for file in files:
        if file.kind in (FileKind.SERVER_LOG, FileKind.CONSOLE_LOG) and file.is_readable:
            for line in byte_lines(file):
                if COMPLETED in line[:PREFIX_BYTES]:  # a long line, and never it
                    continue
                if match := CLUSTER_ID.search(line):
                    return (match[1] or match[2]).decode()
    return None


def _walk(root: Path) -> Iterator[Path]:
    """The files below a folder; each folder once, a link to one after those that lie there themselves."""
    seen: set[Path] = set()
    links = [root]
    while links:
        folder = links.pop(0)
        if folder != root and root.is_relative_to(folder.resolve()):
            continue  # beside a capture lies what is none
        for here, folders, names in os.walk(folder, onerror=_stop):  # which follows no link, and passes over errors
            place = Path(here).resolve()
            if place in seen:
                folders.clear()
                continue
            seen.add(place)
            folders[:] = [name for name in folders if name != "trace"]
            links += sorted(Path(here, name) for name in folders if Path(here, name).is_symlink())
            yield from (Path(here, name) for name in names if not NEVER_READ.match(name) and Path(here, name).is_file())


def _stop(error: OSError) -> None:
    raise error


def _inspect(root: Path, path: Path) -> SourceFile:
    name = path.relative_to(root).as_posix()
    broker_id = _broker_id(name)
    sighting = Sighting(names_brokers=broker_id == NO_REPLICA)
    digest, head, problem = _digest(path, sighting)
    problem = problem or mismatch(path, head)
    kind = as_seen(kind_of(path, head), sighting) if problem not in UNREADABLE else kind_by_name(path)
    seen = SourceFile(path, name, kind, broker_id, digest, problem, sighting.brokers)
    if kind in LOGS:
        seen = replace(seen, minutes=sighting.minutes, request_minutes=sighting.request_minutes)
        seen = replace(seen, has_future_logs=sighting.has_future_logs, has_objects=sighting.has_objects)
        seen = replace(seen, streams=sighting.streams.of_brokers)
    told_by_name = is_told_by_name(kind, name, head)
    return replace(seen, longest_line=sighting.longest_line, lines=sighting.lines, is_told_by_name=told_by_name)


def _digest(path: Path, sighting: Sighting) -> tuple[str, bytes, str | None]:
    """The digest, the first bytes, and the damage met on the way."""
    sha, head, problem = hashlib.sha256(), b"", None
    with opened(path) as stream:
        try:
            while chunk := stream.read(CHUNK_BYTES):
                if not head:
                    head = chunk[:SNIFFED_BYTES]
                    sighting.is_of_log = kind_of(path, head) in LOGS
                sha.update(chunk)
                sighting.see(chunk)
        except (EOFError, OSError, zlib.error):
            problem = TRUNCATED
    sighting.end()
    return sha.hexdigest(), head, problem


def _broker_id(name: str) -> int:
    matches = (BROKER_FOLDER.match(part) for part in name.split("/")[:-1])
    return next((int(match[1]) for match in matches if match), NO_REPLICA)


def _has_brokers(folder: Path) -> bool:
    return any(BROKER_FOLDER.match(child.name) and child.is_dir() for child in folder.iterdir())
