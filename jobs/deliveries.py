"""Deliveries of a capture: which of its files are new, and what a run that died left behind.

`source_files` is written last and is the mark that a delivery has landed. A file is known by its content, kind and
broker: checkpoints of two brokers are often the same bytes and yet two statements. So are those of two partitions
where only the name of the file, or of its folder, tells which.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from jobs.errors import CouldNotRunError
from jobs.warehouse import Commit, Transaction, Warehouse
from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.kinds import FileKind
from schemas.tables import LANDING_TABLES, SOURCE_FILES, Table
from sources.file_kinds import LOGS
from sources.files import SourceFile
from sources.partition_names import partition_by_name

EVENT_TABLES = tuple(table for table in LANDING_TABLES if table is not SOURCE_FILES)
"""Landing tables in the order in which they are written, before `source_files`."""

IDENTITY = (C.DIGEST, C.KIND, C.BROKER_ID)
LANDED_FROM = (C.CAPTURE_ID, C.SOURCE_FILE)
_INGEST = "ingest "

ENDED, NOTHING, NO_END = "ended", -1, 2**62
"""bigint: the last line of a delivery's file that is finished; none of it; all of it, whatever a line of it is."""


def landed_events(warehouse: Warehouse, cluster_id: str) -> dict[str, DataFrame]:
    """The landing tables of a cluster by name, as a replay takes them."""
    return {table.name: warehouse.read(table, cluster_id=cluster_id) for table in EVENT_TABLES}


def digest_of(files: Iterable[SourceFile]) -> str:
    """A short name for a set of files by their contents, in whatever order they were found."""
    identities = sorted(f"{file.digest} {file.kind} {file.broker_id} {file.named_partition}".rstrip() for file in files)
    return hashlib.sha256("\n".join(identities).encode()).hexdigest()[:16]


def filter_new(warehouse: Warehouse, cluster_id: str, files: Sequence[SourceFile]) -> list[SourceFile]:
    """The files whose content has not landed for this cluster, each content once."""
    rows = warehouse.read(SOURCE_FILES, cluster_id=cluster_id).select(*IDENTITY, C.SOURCE_FILE).collect()
    landed: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for digest, kind, broker_id, name in rows:
        landed[digest, kind].append((broker_id, name))
    new = {(file.digest, file.kind.value, file.broker_id, file.named_partition): file for file in reversed(files)}
    return [file for file in reversed(new.values()) if not _has_landed(file, _brokers_landed(file, landed))]


def _brokers_landed(file: SourceFile, landed: Mapping[tuple[str, str], list[tuple[int, str]]]) -> set[int]:
    """For which brokers a file's content has landed; a console log's, before there was the kind, as another log."""
    kinds = LOGS if file.kind is FileKind.CONSOLE_LOG else (file.kind,)
    found = [at for kind in kinds for at in landed.get((file.digest, kind.value), [])]
    return {broker_id for broker_id, name in found if _is_of_same_partition(file, name)}


def _is_of_same_partition(file: SourceFile, name: str) -> bool:
    """Whether a file of the same content under another name tells of the same partition."""
    return not file.is_told_by_name or partition_by_name(file.kind, name) == file.named_partition


def _has_landed(file: SourceFile, of_brokers: set[int]) -> bool:
    """Whether a file has landed, given for which brokers its content has.

    Whose a log is, only the files beside it may have told, then or now.
    """
    may_be_untold = file.kind in LOGS and bool(of_brokers)
    return file.broker_id in of_brokers or (may_be_untold and NO_REPLICA in (file.broker_id, *of_brokers))


def landed_clusters(warehouse: Warehouse, cluster_id: str | None = None) -> list[str]:
    """The clusters that have deliveries, or the one that is named; a warehouse without any is an error."""
    rows = warehouse.read(SOURCE_FILES, cluster_id=cluster_id).select(C.CLUSTER_ID).distinct().collect()
    if not rows:
        message = f"{warehouse.path}: nothing has landed" + (f" for cluster {cluster_id}" if cluster_id else "")
        raise CouldNotRunError(message)
    return sorted(row[0] for row in rows)


def has_landed(warehouse: Warehouse, cluster_id: str) -> bool:
    """Whether an earlier delivery of this cluster has landed."""
    return not warehouse.read(SOURCE_FILES, cluster_id=cluster_id).isEmpty()


def next_transaction(warehouse: Warehouse, cluster_id: str, files: Iterable[SourceFile]) -> Transaction:
    """The transaction all appends of a delivery share; a retry after a withdrawal has a higher version."""
    version = warehouse.commits(EVENT_TABLES[0], limit=1)[0].version
    return Transaction(f"{_prefix(cluster_id)}{digest_of(files)}", version)


def withdraw_unfinished(warehouse: Warehouse, cluster_id: str) -> bool:
    """Delete the rows of a delivery that never reached `source_files`; True if there was one."""
    if _latest(warehouse, EVENT_TABLES[0], cluster_id) == _latest(warehouse, SOURCE_FILES, cluster_id):
        return False
    # A log that grew may come again under the same two names: what is behind its finished lines is left.
    ended = F.max(F.when(F.col(C.KIND).isin([kind.value for kind in LOGS]), F.col(C.LINES_READ)).otherwise(NO_END))
    finished = warehouse.read(SOURCE_FILES, cluster_id=cluster_id).groupBy(*LANDED_FROM).agg(ended.alias(ENDED))
    landed = reduce(DataFrame.unionAll, [_landed_from(warehouse, table, cluster_id) for table in EVENT_TABLES])
    joined = landed.join(finished, [str(column) for column in LANDED_FROM], "left").fillna(NOTHING, [ENDED])
    left = joined.where(F.col(C.SOURCE_LINE) > F.col(ENDED)).collect()
    for table in EVENT_TABLES:
        files = [row for row in left if row[C.TABLE_NAME] == table.name]
        if files:
            warehouse.delete(table, cluster_id, reduce(Column.__or__, map(_is_from, files)))
    return True


def _landed_from(warehouse: Warehouse, table: Table, cluster_id: str) -> DataFrame:
    """One row per file that a table has rows of: delivery, file, its last line there and the table's name."""
    rows = warehouse.read(table, cluster_id=cluster_id).groupBy(*LANDED_FROM)
    return rows.agg(F.max(C.SOURCE_LINE).alias(C.SOURCE_LINE), F.lit(table.name).alias(C.TABLE_NAME))


def _is_from(file: Row) -> Column:
    """Whether a row came with this delivery's file, behind what of it is finished."""
    is_from = (F.col(C.CAPTURE_ID) == file[C.CAPTURE_ID]) & (F.col(C.SOURCE_FILE) == file[C.SOURCE_FILE])
    is_left: Column = is_from & (F.col(C.SOURCE_LINE) > file[ENDED])
    return is_left


def take_back(warehouse: Warehouse, cluster_id: str, which: Column) -> None:
    """Delete landed rows; a table that has none of them is left alone, and so seen to have only grown."""
    found = [
        warehouse.read(table, cluster_id=cluster_id).where(which).select(F.lit(table.name)).limit(1)
        for table in EVENT_TABLES
    ]
    names = {row[0] for row in reduce(DataFrame.unionAll, found).collect()}
    for table in EVENT_TABLES:
        if table.name in names:
            warehouse.delete(table, cluster_id, which)


def ingested(commit: Commit) -> bool:
    """Whether a commit landed a delivery, of whatever cluster."""
    return commit.note.startswith(_INGEST)


def _prefix(cluster_id: str) -> str:
    """How the names of this cluster's transactions begin."""
    return f"{_INGEST}{cluster_id} "


def _latest(warehouse: Warehouse, table: Table, cluster_id: str) -> str:
    """Name of the last delivery of this cluster that the table has a commit of; '' for none."""
    names = (commit.note for commit in warehouse.commits(table))
    return next((name for name in names if name.startswith(_prefix(cluster_id))), "")
