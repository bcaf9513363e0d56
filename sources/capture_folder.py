"""The folder of a capture: where its brokers' folders lie, and which files are below it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from schemas.columns import NO_REPLICA
from sources.errors import CaptureError

NEVER_READ = re.compile(r"^(truth|acked)\.jsonl")
"""What a test cluster knew of itself, for comparison: never an input. Likewise a folder `trace`."""

BROKER_FOLDER = re.compile(r"^broker-(\d+)$")


def capture_root(path: str | Path) -> Path:
    """The folder that holds `broker-N/`: `path`, or its `capture/` where only that does."""
    folder = Path(path).resolve()  # Spark puts ".." out of a path, and names a file by what is left
    if folder.is_file():
        raise CaptureError(f"{folder}: a file; name the folder that it lies in")
    if not folder.is_dir():
        raise CaptureError(f"{folder}: no such folder")
    inner = folder / "capture"
    return inner if inner.is_dir() and not _has_brokers(folder) else folder


def files_below(root: Path) -> Iterator[Path]:
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


def broker_of(name: str) -> int:
    """The broker in whose folder a file lies, by its name within the capture; -1 for none."""
    matches = (BROKER_FOLDER.match(part) for part in name.split("/")[:-1])
    return next((int(match[1]) for match in matches if match), NO_REPLICA)


def _has_brokers(folder: Path) -> bool:
    return any(BROKER_FOLDER.match(child.name) and child.is_dir() for child in folder.iterdir())


def _stop(error: OSError) -> None:
    raise error
