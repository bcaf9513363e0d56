"""The partition that a dump or a checkpoint is of, where its content does not tell: its name does, or its folder's."""

from __future__ import annotations

import re

from schemas.files import FileKind

HEADER = r"^Dumping (?:.*[/\\])?([^/\\]+)-(\d+)(?:\.[^/\\]+-(?:future|delete|stray))?[/\\][^/\\]+$"
"""The line above a segment's dump, where the dump was not made within the partition's folder."""

FILE_NAME = r"(?:^|/)([^/]+)-(\d+)\.(?:txt|log)(?:\.gz)?$"
FOLDER = r"(?:^|/)(?!broker-\d+/)([^/]+)-(\d+)/[^/]+$"

NAMED_BY = {FileKind.SEGMENT_DUMP: (FILE_NAME, FOLDER), FileKind.LEADER_EPOCH_CHECKPOINT: (FOLDER,)}
"""The kinds of which that may be so, and what of the name tells: the first that does."""


def is_told_by_name(kind: FileKind, name: str, head: bytes) -> bool:
    """Whether a file's name alone tells its partition; `head` are its first bytes."""
    if kind is FileKind.LEADER_EPOCH_CHECKPOINT:
        return not name.endswith((".json", ".json.gz"))
    headers = (line.rstrip(b"\r") for line in head.split(b"\n") if line.startswith(b"Dumping "))
    return kind is FileKind.SEGMENT_DUMP and not any(re.match(HEADER.encode(), line) for line in headers)


def partition_by_name(kind: FileKind, name: str) -> str:
    """The partition that a file of the kind is named after, as `topic-0`; empty where it is after none."""
    matches = (re.search(regex, name) for regex in NAMED_BY.get(kind, ()))
    return next((f"{match[1]}-{match[2]}" for match in matches if match), "")
