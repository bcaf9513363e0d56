"""The small files of a capture, read whole on the driver: checkpoints and about.json.

    0                       version
    2                       how many entries
    orders 0 1641           topic, partition, offset   (or, of one partition:  leader epoch, start offset)

leader-epoch-checkpoints.json has each partition's file as a list of its lines; a line of it is a string of that JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from schemas.kinds import FileKind, StatementKind
from sources.broker_settings import KAFKA_VERSION
from sources.files import SourceFile, byte_lines
from sources.line_parts import METADATA_TOPIC
from sources.outcomes import IGNORED, LANDED, MAX_TEXT, OUTCOME_COLUMNS, REJECTED

Row = tuple[Any, ...]


STATED_BY = {
    FileKind.HW_CHECKPOINT: StatementKind.CHECKPOINT_HW,
    FileKind.LOG_START_CHECKPOINT: StatementKind.CHECKPOINT_LOG_START,
}
KINDS = (FileKind.LEADER_EPOCH_CHECKPOINT, *STATED_BY, FileKind.ABOUT)

EPOCH_ENTRY = re.compile(r"^(\d{1,9}) (\d{1,18})$")
OFFSET_ENTRY = re.compile(r"^(\S+) (\d{1,9}) (-1|\d{1,18})$")
COUNT = re.compile(r"^\d+$")
FOLDER = re.compile(r"^(?!broker-\d+$)(.+)-(\d{1,9})$")
COLON = re.compile(r"\s*:")
JSON_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


@dataclass
class Checkpoints:
    """What the small files tell, and the outcome of each of their lines."""

    epoch_starts: list[Row] = field(default_factory=list)
    statements: list[Row] = field(default_factory=list)
    settings: list[Row] = field(default_factory=list)
    outcomes: list[Row] = field(default_factory=list)

    def frames(self, spark: SparkSession) -> tuple[DataFrame, DataFrame, DataFrame, DataFrame]:
        """Rows of `epoch_starts`, `broker_statements` and `settings`, and the lines with their outcomes."""
        return (
            spark.createDataFrame(self.epoch_starts, _schema(T.EPOCH_STARTS.parsed)),
            spark.createDataFrame(self.statements, _schema(T.BROKER_STATEMENTS.parsed)),
            spark.createDataFrame(self.settings, _schema(T.SETTINGS.parsed)),
            spark.createDataFrame(self.outcomes, _outcome_schema()),
        )


def read_checkpoints(files: Iterable[SourceFile]) -> Checkpoints:
    """What the checkpoints and about.json among the files tell."""
    told = Checkpoints()
    for file in files:
        if file.kind in KINDS and file.is_readable:
            lines = [line.decode("utf-8", "replace").removeprefix("\ufeff") for line in byte_lines(file)]
            if file.kind is FileKind.ABOUT:
                _read_about(file, lines, told)
            elif file.kind in STATED_BY:
                _read_offsets(file, lines, told)
            elif file.name.endswith((".json", ".json.gz")):
                _read_epochs_json(file, lines, told)
            else:
                _read_epochs(file, lines, told)
    return told


def _read_offsets(file: SourceFile, lines: list[str], told: Checkpoints) -> None:
    for number, line in enumerate(lines, 1):
        entry = OFFSET_ENTRY.match(line)
        if entry and entry[1] != METADATA_TOPIC:
            kind = STATED_BY[file.kind].value
            told.statements.append((
                kind, file.broker_id, entry[1], "", int(entry[2]), C.UNKNOWN_EPOCH, None, int(entry[3]), C.NO_REPLICA,
                file.name, number,
            ))  # fmt: skip
            _note(told, file, number, line, LANDED)
        elif entry:
            _note(told, file, number, line, IGNORED, "metadata partition")
        else:
            _note(told, file, number, line, *_head(number, line))


def _read_epochs(file: SourceFile, lines: list[str], told: Checkpoints) -> None:
    folder = FOLDER.match(file.path.parent.name)
    for number, line in enumerate(lines, 1):
        entry = EPOCH_ENTRY.match(line)
        if entry and folder:
            told.epoch_starts.append(_epoch_start(file, number, folder, entry))
            _note(told, file, number, line, LANDED)
        elif entry:
            _note(told, file, number, line, REJECTED, "checkpoint of no known partition")
        else:
            _note(told, file, number, line, *_head(number, line))


def _read_epochs_json(file: SourceFile, lines: list[str], told: Checkpoints) -> None:
    """Each string of the JSON in turn: a partition's name, then the lines of its checkpoint."""
    text = "\n".join(lines)
    if not _is_object(text):
        for number, line in enumerate(lines, 1):
            _note(told, file, number, line, REJECTED, "not JSON")
        return
    outcomes = dict.fromkeys(range(1, len(lines) + 1), (IGNORED, "structure"))
    for number, partition, value in _strings(text):
        entry, name = EPOCH_ENTRY.match(value), FOLDER.match(partition)
        if entry and name:
            told.epoch_starts.append(_epoch_start(file, number, name, entry))
            outcomes[number] = (LANDED, None)  # type: ignore[assignment]
        elif outcomes[number][0] == IGNORED and not COUNT.match(value) and value:
            outcomes[number] = (REJECTED, "no entry of a checkpoint")
    for number, line in enumerate(lines, 1):
        _note(told, file, number, line, *outcomes[number])


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


def _read_about(file: SourceFile, lines: list[str], told: Checkpoints) -> None:
    text = "\n".join(lines)
    about = json.loads(text) if _is_object(text) else None
    settings = _settings_of(about or {})
    for number, line in enumerate(lines, 1):
        here = [name for name in settings if f'"{name}"' in line or (name == KAFKA_VERSION and '"kafka"' in line)]
        for name in here:
            told.settings.append((C.NO_REPLICA, "", name, settings.pop(name), None, file.name, number))
        if about is None:
            _note(told, file, number, line, REJECTED, "not JSON")
        else:
            _note(told, file, number, line, *((LANDED, None) if here else (IGNORED, "no setting")))


def _settings_of(about: dict[str, Any]) -> dict[str, str]:
    config = about.get("config")
    settings = {str(name): str(value) for name, value in config.items()} if isinstance(config, dict) else {}
    return settings | ({KAFKA_VERSION: str(about["kafka"])} if "kafka" in about else {})


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


def _note(told: Checkpoints, file: SourceFile, number: int, line: str, outcome: str, reason: str | None = None) -> None:
    told.outcomes.append((file.name, number, file.broker_id, file.kind.value, line[:MAX_TEXT], outcome, reason))


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):  # the latter of some thousand brackets in one another
        return False


def _schema(columns: Iterable[Field]) -> StructType:
    return StructType([StructField(str(c), c.type) for c in columns])


def _outcome_schema() -> StructType:
    types = [c.type if isinstance(c, Field) else C.REASON.type for c in OUTCOME_COLUMNS]
    return StructType([StructField(str(c), of) for c, of in zip(OUTCOME_COLUMNS, types, strict=True)])
