"""Logs of a delivery that grew since an earlier one, or lie beside what they grew from: the lines that have landed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F

from jobs.deliveries import require_unused
from jobs.delivery import Delivery
from jobs.progress import say
from jobs.taking_back import take_back
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.files import FileKind
from schemas.tables import SOURCE_FILES
from sources.coverage import coverage
from sources.file_kinds import LOGS, is_named_as_log, kind_by_name
from sources.grown import beginnings
from sources.source_file import SourceFile


class Landed(NamedTuple):
    """A log that has landed."""

    capture_id: str
    source_file: str
    broker_id: int
    digest: str
    lines: int
    first_second: int | None
    """Of its first minute, since the epoch; None where no line has a time."""


def without_landed_lines(warehouse: Warehouse, delivery: Delivery, files: Sequence[SourceFile]) -> list[SourceFile]:
    """The new files of a delivery, each with the number of its first lines that landed with another one, or will.

    What a torn end of such a file made to land is deleted: it is read again where it is whole.
    """
    cluster_id = delivery.cluster_id
    landed = _landed_logs(warehouse, cluster_id)
    grown: dict[str, int] = {}
    swallowed: set[str] = set()
    torn: list[tuple[str, str, int]] = []
    for file in filter(_may_grow, files):
        first = coverage(file.minutes, file.kind, delivery.timezone).first
        earlier = [log for log in landed if _may_be_of(file, log.source_file, log.broker_id) and _is_since(first, log)]
        beside = [it for it in files if it is not file and _may_grow(it) and _are_alike(file, it)]
        known = {log.digest: log.lines for log in earlier} | {it.digest: it.lines for it in beside}
        lines = {digest: count for digest, count in known.items() if 0 < count <= file.lines}
        found = beginnings(file, lines, delivery.redaction.digest) if lines else {}
        swallowed |= {it.digest for it in beside if it.digest in found}
        grown[file.name] = max((found[log.digest] for log in earlier if log.digest in found), default=0)
        torn += _torn(landed, found, grown[file.name])
    before = {file.name: file.lines if file.digest in swallowed else grown.get(file.name, 0) for file in files}
    require_unused(warehouse, cluster_id, delivery.capture_id, [file for file in files if not before[file.name]])
    if torn:
        take_back(warehouse, cluster_id, reduce(Column.__or__, [_is_behind(*end) for end in torn]))
    if several := sum(lines > 0 for lines in grown.values()):
        say(f"  {several} of {len(files)} files grew since they landed; only their new lines are read")
    return [replace(file, lines_before=before[file.name]) for file in files]


def _landed_logs(warehouse: Warehouse, cluster_id: str) -> list[Landed]:
    """What has landed of the cluster's logs."""
    rows = warehouse.read(SOURCE_FILES, cluster_id=cluster_id).where(F.col(C.KIND).isin([kind.value for kind in LOGS]))
    first_second = F.unix_seconds(C.FIRST_AT)
    told = (C.CAPTURE_ID, C.SOURCE_FILE, C.BROKER_ID, C.DIGEST, C.LINES_READ)
    return [Landed(*row) for row in rows.select(*told, first_second).collect()]


def _may_grow(file: SourceFile) -> bool:
    return file.kind in LOGS and file.is_readable and file.problem is None


def _may_be_of(file: SourceFile, name: str, broker_id: int) -> bool:
    """Whether a log may have grown from one of this name and broker; whose a log is may not have been told.

    Its kind may be another one since, by what was logged later; but no `server.log` grows from a `state-change.log`.
    """
    told = {kind_by_name(Path(it)) for it in (file.name, name)} - {FileKind.UNKNOWN}
    return len(told) < 2 and (file.broker_id == broker_id or NO_REPLICA in (file.broker_id, broker_id))


def _are_alike(file: SourceFile, other: SourceFile) -> bool:
    """Whether one of two that came together may have grown from the other; a console is compared by lines instead."""
    are_named = is_named_as_log(file.path) == is_named_as_log(other.path)
    return are_named and other.minutes <= file.minutes and _may_be_of(file, other.name, other.broker_id)


def _is_since(first: datetime | None, log: Landed) -> bool:
    """Whether a file that begins then may have grown from the log: else it is not hashed, which is to read it whole."""
    return log.first_second is None or (first is not None and first.timestamp() <= log.first_second)


def _torn(landed: Iterable[Landed], found: Mapping[str, int], kept: int) -> list[tuple[str, str, int]]:
    """The ends of landed files that the file tells better: delivery, name, and how many lines are good.

    Rows know their file by its name: where another content has landed under the same, theirs stay.
    """
    others = {(log.capture_id, log.source_file) for log in landed if log.digest not in found}
    ends = {(log.capture_id, log.source_file) for log in landed if log.digest in found and log.lines > kept}
    return [(*end, kept) for end in sorted(ends - others)]


def _is_behind(capture_id: str, source_file: str, kept: int) -> Column:
    is_behind: Column = (
        (F.col(C.CAPTURE_ID) == capture_id) & (F.col(C.SOURCE_FILE) == source_file) & (F.col(C.SOURCE_LINE) > kept)
    )
    return is_behind
