"""Lines that a broker wrote to its console as well: `kafkaServer.out` has those of server.log over again.

A copy is a log that its name does not tell to be one, and of its lines those whose exact text stands in a log that it
does tell, of the same broker. Lines repeated within one file are the broker's own words, and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.files import FileKind
from sources.file_kinds import LOGS, is_named_as_log
from sources.routing import WITH_REQUESTS
from sources.source_file import SourceFile

IS_ECHO = "is_echo"


def consoles(files: Sequence[SourceFile], beside: Sequence[SourceFile]) -> list[SourceFile]:
    """Of some files those that may repeat others of the delivery: logs by content, beside one of the broker by name."""
    told = [file for file in beside if _is_told(file)]
    brokers, contents = {file.broker_id for file in told}, {_content(file) for file in told}
    return [
        file
        for file in files
        if _is_log(file) and not is_named_as_log(file.path) and file.broker_id in brokers
        if _content(file) not in contents  # of two that are the same one lands: this one
    ]


def originals(of: Sequence[SourceFile], beside: Sequence[SourceFile]) -> list[SourceFile]:
    """The files whose lines such copies may repeat, from their first line, whichever landed before."""
    brokers = {file.broker_id for file in of}
    # Requests are not written to a console unless somebody wants just that; to compare them costs as much as to read.
    kinds = [kind for kind in LOGS if kind is not FileKind.REQUEST_LOG or WITH_REQUESTS & {file.kind for file in of}]
    return [
        replace(file, lines_before=0)
        for file in beside
        if _is_told(file) and file.broker_id in brokers and file.kind in kinds
    ]


def with_echoes_told(lines: DataFrame, told: DataFrame) -> DataFrame:
    """The lines of consoles, and whether their text stands in the other files."""
    others = told.select(C.BROKER_ID, C.LINE_TEXT).distinct().withColumn(IS_ECHO, F.lit(True))
    joined = lines.join(others, [str(C.BROKER_ID), str(C.LINE_TEXT)], "left")
    return joined.withColumn(IS_ECHO, F.coalesce(IS_ECHO, F.lit(False)))


def _content(file: SourceFile) -> tuple[str, str, int]:
    return file.digest, file.kind.value, file.broker_id


def _is_told(file: SourceFile) -> bool:
    return _is_log(file) and is_named_as_log(file.path)


def _is_log(file: SourceFile) -> bool:
    return file.kind in LOGS and file.is_readable and file.broker_id != NO_REPLICA
