"""A file of a capture: where it is, whose, what it is, and its lines. How files are found is in `files`."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.files import FileKind
from sources.packing import UNREADABLE, opened
from sources.partition_names import partition_by_name


@dataclass(frozen=True)
class SourceFile:
    """A file of a capture: where it is, what it is, and what is wrong with it as a file."""

    path: Path
    name: str
    """Relative to the capture, with `/`."""
    kind: FileKind
    broker_id: int
    """From the folder `broker-N`, else the one broker whose log its lines show it to be; -1 where there is none."""
    digest: str
    """SHA-256 of the content after decompression: a file packed later is the same file."""
    problem: str | None = None
    brokers: frozenset[int] = frozenset()
    """Brokers that its lines name as their own."""
    streams: tuple[tuple[str, int], ...] = ()
    """Where several brokers' lines are in it: the names that a collector put to them, each with its broker."""
    minutes: frozenset[str] = frozenset()
    """Minutes, as written, that have lines."""
    request_minutes: frozenset[str] = frozenset()
    """Those of them in which requests were completed."""
    has_future_logs: bool = False
    """Whether its lines name a log that is being copied to another disk of its broker."""
    has_objects: bool = False
    """Whether some of its lines are JSON objects, with the broker's line within."""
    is_to_the_second: bool = False
    """Whether the times of its lines have no fraction."""
    has_parts: bool = False
    """Whether a container's runtime cut some of its lines."""
    size: int = 0
    """Bytes of its content."""
    longest_line: int = 0
    """Bytes of its longest line."""
    lines: int = 0
    """Lines of its content; the last one may have no end."""
    lines_before: int = 0
    """Its first lines, as many as landed with another file: it is one that grew, or what another one grew from."""

    is_told_by_name: bool = False
    """Whether its name alone tells which partition it is of: then files of the same content are not the same file."""

    @property
    def named_partition(self) -> str:
        """The partition, as `topic-0`, that its name alone tells; empty where its content tells, or it is of none."""
        return partition_by_name(self.kind, self.name) if self.is_told_by_name else ""

    @property
    def is_readable(self) -> bool:
        """Whether some lines can be had of it."""
        return self.kind is not FileKind.UNKNOWN and self.problem not in UNREADABLE

    @property
    def has_new_lines(self) -> bool:
        """Whether some of its lines did not land with another file."""
        return self.lines_before == 0 or self.lines_before < self.lines


def byte_lines(file: SourceFile) -> Iterator[bytes]:
    """The lines of a file, one at a time; of a damaged one those before the damage."""
    for line in byte_lines_with_ends(file):
        yield line.removesuffix(b"\n").removesuffix(b"\r")


def byte_lines_with_ends(file: SourceFile) -> Iterator[bytes]:
    """The lines of a file with what ends them: together its content."""
    with opened(file.path) as stream:
        try:
            yield from stream
        except (EOFError, OSError, zlib.error):
            return
