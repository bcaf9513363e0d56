"""Deliveries of a capture: which of its files are new.

`source_files` is written last and is the mark that a delivery has landed. A file is known by its content, kind and
broker: checkpoints of two brokers are often the same bytes and yet two statements. So are those of two partitions
where only the name of the file, or of its folder, tells which.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.commits import Commit, Transaction
from jobs.errors import CouldNotRunError
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.files import FileKind
from schemas.tables import LANDING_TABLES, SOURCE_FILES
from sources.file_kinds import LOGS
from sources.partition_names import partition_by_name
from sources.source_file import SourceFile

EVENT_TABLES = tuple(table for table in LANDING_TABLES if table is not SOURCE_FILES)
"""Landing tables in the order in which they are written, before `source_files`."""

IDENTITY = (C.DIGEST, C.KIND, C.BROKER_ID)
_INGEST = "ingest "


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


def require_unused(warehouse: Warehouse, cluster_id: str, capture_id: str, files: Iterable[SourceFile]) -> None:
    """Refuse files under whose name another content has landed with a delivery of the same id.

    A row is known by its delivery, its file and its line: two would be one, and the check find what no broker did.
    """
    is_of_id = (F.col(C.CAPTURE_ID) == capture_id) & (F.col(C.LINES_READ) > 0)
    rows = warehouse.read(SOURCE_FILES, cluster_id=cluster_id).where(is_of_id).select(C.SOURCE_FILE, C.DIGEST).collect()
    landed: dict[str, set[str]] = defaultdict(set)
    for name, digest in rows:
        landed[name].add(digest)
    used = [file.name for file in files if landed[file.name] - {file.digest}]
    if used:
        message = (
            f"a delivery {capture_id} of cluster {cluster_id} has landed with another content of {used[0]}: "
            "give this one a --capture-id of its own, or none"
        )
        raise CouldNotRunError(message)


def _brokers_landed(file: SourceFile, landed: Mapping[tuple[str, str], list[tuple[int, str]]]) -> set[int]:
    """For which brokers a file's content has landed; that of a stream of all loggers maybe as another log."""
    kinds = LOGS if file.kind in (FileKind.CONSOLE_LOG, FileKind.SERVER_LOG) else (file.kind,)
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


def require_one(clusters: Sequence[str], of: str) -> None:
    """Refuse what several clusters have: of one name, it would be told as one history."""
    if len(clusters) > 1:
        message = f"{of} is of the clusters {', '.join(clusters)}: name one by --cluster-id"
        raise CouldNotRunError(message)


def has_landed(warehouse: Warehouse, cluster_id: str) -> bool:
    """Whether an earlier delivery of this cluster has landed."""
    return not warehouse.read(SOURCE_FILES, cluster_id=cluster_id).isEmpty()


def next_transaction(warehouse: Warehouse, cluster_id: str, files: Iterable[SourceFile]) -> Transaction:
    """The transaction all appends of a delivery share; a retry after a withdrawal has a higher version."""
    version = warehouse.commits(EVENT_TABLES[0], limit=1)[0].version
    return Transaction(f"{name_of_ingest(cluster_id)}{digest_of(files)}", version)


def ingested(commit: Commit) -> bool:
    """Whether a commit landed a delivery, of whatever cluster."""
    return commit.note.startswith(_INGEST)


def name_of_ingest(cluster_id: str) -> str:
    """How the names of this cluster's transactions begin."""
    return f"{_INGEST}{cluster_id} "
