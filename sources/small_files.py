"""The small files of a capture, read whole on the driver: checkpoints and about.json."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.files import FileKind
from sources.about import read_about
from sources.checkpoints import STATED_BY, read_epochs, read_offsets
from sources.source_file import SourceFile, byte_lines
from sources.told import Told

SMALL_KINDS = (FileKind.LEADER_EPOCH_CHECKPOINT, *STATED_BY, FileKind.ABOUT)


def read_small_files(files: Iterable[SourceFile]) -> Told:
    """What the checkpoints and about.json among the files tell."""
    told = Told()
    for file in files:
        if file.kind in SMALL_KINDS and file.is_readable:
            lines = [line.decode("utf-8", "replace").removeprefix("\ufeff") for line in byte_lines(file)]
            if file.kind is FileKind.ABOUT:
                read_about(file, lines, told)
            elif file.kind in STATED_BY:
                read_offsets(file, lines, told)
            else:
                read_epochs(file, lines, told)
    return told
