"""What a file of a capture is.

A name says it (with rotation and `.gz`); where it does not, the first lines do. Whether a log has requests, other lines
or both, all of its lines say: containers write every logger to one stream.
"""

from __future__ import annotations

import re
from pathlib import Path

from schemas.files import FileKind
from sources.json_lines import bytes_unpacked
from sources.sighting import Sighting

ROTATION = re.compile(r"(\.gz|[._-]\d{4}-?\d{2}-?\d{2}([T_.-]?\d{2}([:.-]?\d{2}){0,2})?|[.-]\d{1,4})+$")
"""`.1`, `.2026-11-21-10` (log4j), `-20261121` (logrotate), `.gz`, and several of them in a row."""

KIND_BY_NAME = (
    (r"^(.*[._-])?(kafka-)?request([._-].*)?\.log$", FileKind.REQUEST_LOG),
    (r"^(.*[._-])?state-change([._-].*)?\.log$", FileKind.STATE_CHANGE_LOG),
    (r"^(.*[._-])?server([._-].*)?\.log$", FileKind.SERVER_LOG),
    (r"^leader-epoch-checkpoints?(\.json)?$", FileKind.LEADER_EPOCH_CHECKPOINT),
    (r"^replication-offset-checkpoint$", FileKind.HW_CHECKPOINT),
    (r"^log-start-offset-checkpoint$", FileKind.LOG_START_CHECKPOINT),
    (r"^about\.json$", FileKind.ABOUT),
)
KIND_BY_CONTENT = (
    (rb"^Dumping .*__cluster_metadata-", FileKind.METADATA_DUMP),
    # Dumped within the log's folder the header has no name of a partition.
    (rb"^\s*\| offset: \d+ .* payload: \{\"type\":\"[A-Z_]+_RECORD\",\"version\":\d+,", FileKind.METADATA_DUMP),
    (rb"^(Dumping |(Log s|S)tarting offset: |baseOffset: -?\d+ lastOffset: )", FileKind.SEGMENT_DUMP),
    (rb" Completed request:", FileKind.REQUEST_LOG),
    (rb"\(state\.change\.logger\)", FileKind.STATE_CHANGE_LOG),
    (rb"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d.{0,10} (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ", FileKind.SERVER_LOG),
)

OF_ANOTHER_LOGGER = re.compile(
    rb"^\[?\d{4}-\d\d-\d\d[ T].{8,20} (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
    rb".*\((?!state\.change\.logger\))[\w.$-]+\)(?: \[[^\]\n]*\])?\s*$",
    re.MULTILINE,
)
"""A stamped line that no state-change.log has: in a container's stream a few are of that logger."""

LOGS = (FileKind.REQUEST_LOG, FileKind.STATE_CHANGE_LOG, FileKind.SERVER_LOG, FileKind.CONSOLE_LOG)
"""Kinds that a broker writes with log4j, a time on each line."""


def kind_of(path: Path, head: bytes) -> FileKind:
    """By its name; where that does not tell, by its first bytes."""
    by_name = kind_by_name(path)
    return by_name if by_name is not FileKind.UNKNOWN else _kind_by_content(head)


def as_seen(kind: FileKind, sighting: Sighting) -> FileKind:
    """The kind of a log by what its lines are of, whatever its name or its first lines say; any other kind as it is."""
    if kind not in LOGS:
        return kind
    if sighting.has_requests:
        return FileKind.CONSOLE_LOG if sighting.has_others else FileKind.REQUEST_LOG
    return FileKind.SERVER_LOG if kind is FileKind.REQUEST_LOG and sighting.has_others else kind


def kind_by_name(path: Path) -> FileKind:
    """By its name alone."""
    base = ROTATION.sub("", path.name)
    return next((kind for pattern, kind in KIND_BY_NAME if re.match(pattern, base)), FileKind.UNKNOWN)


def _kind_by_content(head: bytes) -> FileKind:
    text = b"\n".join(map(bytes_unpacked, head.removeprefix(b"\xef\xbb\xbf").split(b"\n")))
    kinds = (kind for pattern, kind in KIND_BY_CONTENT if re.search(pattern, text, re.MULTILINE))
    kind = next(kinds, FileKind.UNKNOWN)
    is_of_all = kind is FileKind.STATE_CHANGE_LOG and OF_ANOTHER_LOGGER.search(text) is not None
    return FileKind.SERVER_LOG if is_of_all else kind


def is_named_as_log(path: Path) -> bool:
    """Whether a file's name tells which log it is."""
    return kind_by_name(path) in LOGS
