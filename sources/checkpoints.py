"""Checkpoints of a log directory: offsets by partition, and where leader epochs start.

    0                       version
    2                       how many entries
    orders 0 1641           topic, partition, offset   (or, of one partition:  leader epoch, start offset)

leader-epoch-checkpoints.json has each partition's file as a list of its lines; a line of it is a string of that JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from schemas import columns as C
from schemas.files import FileKind
from schemas.kinds import StatementKind
from sources.json_text import object_of
from sources.line_parts import METADATA_TOPIC
from sources.outcomes import IGNORED, LANDED, REJECTED
from sources.source_file import SourceFile
from sources.told import Row, Told

STATED_BY = {
    FileKind.HW_CHECKPOINT: StatementKind.CHECKPOINT_HW,
    FileKind.LOG_START_CHECKPOINT: StatementKind.CHECKPOINT_LOG_START,
}
EPOCH_ENTRY = re.compile(r"^(\d{1,9}) (\d{1,18})$")
OFFSET_ENTRY = re.compile(r"^(\S+) (\d{1,9}) (-1|\d{1,18})$")
COUNT = re.compile(r"^\d+$")
FOLDER = re.compile(r"^(?!broker-\d+$)(.+)-(\d{1,9})$")
COLON = re.compile(r"\s*:")
JSON_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def read_offsets(file: SourceFile, lines: list[str], told: Told) -> None:
    """A statement a line: the HW, or the log start, of a partition as it was last written to disk."""
    for number, line in enumerate(lines, 1):
        entry = OFFSET_ENTRY.match(line)
        if entry and entry[1] != METADATA_TOPIC:
            kind = STATED_BY[file.kind].value
            told.statements.append((
                kind, file.broker_id, entry[1], "", int(entry[2]), C.UNKNOWN_EPOCH, None, int(entry[3]), C.NO_REPLICA,
                file.name, number,
            ))  # fmt: skip
            told.note(file, number, line, LANDED)
        elif entry:
            told.note(file, number, line, IGNORED, "metadata partition")
        else:
            told.note(file, number, line, *_head(number, line))


def read_epochs(file: SourceFile, lines: list[str], told: Told) -> None:
    """An epoch's start a line, of the partition that the file lies with, or of all of them as JSON."""
    if file.name.endswith((".json", ".json.gz")):
        _read_epochs_json(file, lines, told)
    else:
        _read_epochs_text(file, lines, told)


def _read_epochs_text(file: SourceFile, lines: list[str], told: Told) -> None:
    folder = FOLDER.match(file.path.parent.name)
    for number, line in enumerate(lines, 1):
        entry = EPOCH_ENTRY.match(line)
        if entry and folder:
            told.epoch_starts.append(_epoch_start(file, number, folder, entry))
            told.note(file, number, line, LANDED)
        elif entry:
            told.note(file, number, line, REJECTED, "checkpoint of no known partition")
        else:
            told.note(file, number, line, *_head(number, line))


def _read_epochs_json(file: SourceFile, lines: list[str], told: Told) -> None:
    """Each string of the JSON in turn: a partition's name, then the lines of its checkpoint."""
    text = "\n".join(lines)
    if object_of(text) is None:
        for number, line in enumerate(lines, 1):
            told.note(file, number, line, REJECTED, "not JSON")
        return
    outcomes: dict[int, tuple[str, str | None]] = dict.fromkeys(range(1, len(lines) + 1), (IGNORED, "structure"))
    for number, partition, value in _strings(text):
        entry, name = EPOCH_ENTRY.match(value), FOLDER.match(partition)
        if entry and name:
            told.epoch_starts.append(_epoch_start(file, number, name, entry))
            outcomes[number] = (LANDED, None)
        elif outcomes[number][0] == IGNORED and not COUNT.match(value) and value:
            outcomes[number] = (REJECTED, "no entry of a checkpoint")
    for number, line in enumerate(lines, 1):
        told.note(file, number, line, *outcomes[number])


def _strings(text: str) -> Iterator[tuple[int, str, str]]:
    """The lines of each partition's checkpoint, with the line of the file and the name of the partition."""
    partition, number, position = "", 1, 0
    for match in JSON_STRING.finditer(text):
        number, position = number + text.count("\n", position, match.start()), match.start()
        value = json.loads(match[0])
        if COLON.match(text, match.end()):
            partition = value
        else:
            yield number, partition, value


def _epoch_start(file: SourceFile, number: int, partition: re.Match[str], entry: re.Match[str]) -> Row:
    return (
        file.broker_id, partition[1], "", int(partition[2]), int(entry[1]), int(entry[2]), file.name, number,
    )  # fmt: skip


def _head(number: int, line: str) -> tuple[str, str]:
    """The outcome of a line that is no entry: the version and the count are the first two."""
    if not line.strip():
        return IGNORED, "blank line"
    return (
        (IGNORED, "version or count") if number <= 2 and COUNT.match(line) else (REJECTED, "no entry of a checkpoint")
    )
