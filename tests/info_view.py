"""A capture as most clusters have it: server.log and state-change.log at INFO, and nothing else."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

LOGS = ("server.log", "state-change.log")
FINER = re.compile(rb"^\[[\d :,-]+\] (TRACE|DEBUG) ")


def info_view(capture: Path, target: Path, *, beside: bool) -> Path:
    """The view of a capture, made below `target`; with `beside`, dumps and checkpoints too, but no request log."""
    for file in sorted(path for path in capture.rglob("*") if path.is_file()):
        place = target / file.relative_to(capture)
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.name.startswith(LOGS):
            lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
            place.with_suffix("").write_bytes(b"".join(line for line in lines if not FINER.match(line)))
        elif beside and not file.name.startswith("kafka-request"):
            shutil.copy(file, place)
    return target
