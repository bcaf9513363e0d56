"""Logs that landed in a layout which nobody knew: nothing was read of them, so with `--log-pattern` they are new."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pyspark.sql import functions as F

from jobs.progress import say
from jobs.taking_back import take_back
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.tables import REJECTED_LINES, SOURCE_FILES
from sources.accounting import WHOLE_FILE
from sources.file_kinds import LOGS
from sources.files import UNKNOWN_LAYOUTS
from sources.grown import beginnings
from sources.redaction import Redaction
from sources.source_file import SourceFile


class Unread(NamedTuple):
    """A log that landed in a layout which nobody knew."""

    capture_id: str
    source_file: str
    digest: str
    lines: int


def take_back_unread(warehouse: Warehouse, cluster_id: str, files: Iterable[SourceFile], redaction: Redaction) -> None:
    """Delete what landed of such logs, where one of the files is the same log, or has grown from it."""
    unread = _unread(warehouse, cluster_id)
    known = {log.digest: log.lines for log in unread}
    readable = [file for file in files if file.kind in LOGS and file.problem is None] if known else []
    again = {digest for file in readable for digest in beginnings(file, known, redaction.digest)}
    for log in unread:
        if log.digest in again:
            _take_back(warehouse, cluster_id, log)
    if again:
        say(f"  {len(again)} files that had landed in another layout are read anew")


def _unread(warehouse: Warehouse, cluster_id: str) -> list[Unread]:
    rejected = warehouse.read(REJECTED_LINES, cluster_id=cluster_id)
    marks = rejected.where((F.col(C.SOURCE_LINE) == WHOLE_FILE) & F.col(C.REASON).isin(*UNKNOWN_LAYOUTS))
    of_file = [str(C.CAPTURE_ID), str(C.SOURCE_FILE)]
    rows = warehouse.read(SOURCE_FILES, cluster_id=cluster_id).join(marks, of_file, "left_semi")
    lines = F.col(C.LINES_READ) - 1  # the mark is counted as a line
    return [Unread(*row) for row in rows.select(*of_file, C.DIGEST, lines).collect()]


def _take_back(warehouse: Warehouse, cluster_id: str, log: Unread) -> None:
    """What marks the log as unread goes last: a run that dies before finds it again."""
    is_of_it = (F.col(C.CAPTURE_ID) == log.capture_id) & (F.col(C.SOURCE_FILE) == log.source_file)
    take_back(warehouse, cluster_id, is_of_it & (F.col(C.SOURCE_LINE) != WHOLE_FILE))
    warehouse.delete(SOURCE_FILES, cluster_id, is_of_it)
    take_back(warehouse, cluster_id, is_of_it)
