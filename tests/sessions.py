"""Fetch sessions of literal rows: since when each is unbroken, as an ingest of these rows' lines would have it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

Row = Mapping[str, Any]
Session = tuple[Any, ...]
_SINCE = "session_unbroken_since"


def with_unbroken(fetches: Iterable[Row]) -> list[Row]:
    """The rows with `session_unbroken_since`: each request that no row bears witness to is lost.

    Of a run of fetches that name nothing the last has a row, and bears witness to all of them since the row before:
    they ask for what that asked for. Where the offset is another one, a fetch that named it is lost.
    """
    rows = list(fetches)
    of_partitions: dict[Session, list[Row]] = defaultdict(list)
    for row in rows:
        if _is_in_one(row):
            of_partitions[*_session(row), row.get("topic"), row.get("partition")].append(row)
    logged: dict[Session, set[int]] = defaultdict(set)
    for of_partition in of_partitions.values():
        epochs = logged[_session(of_partition[0])]
        of_partition.sort(key=lambda row: row["session_epoch"])
        epochs.update(row["session_epoch"] for row in of_partition)
        for row, then in pairwise(of_partition):
            if _ends_run(then) and then.get("fetch_offset") == row.get("fetch_offset"):
                epochs.update(range(row["session_epoch"], then["session_epoch"]))
    since = {session: _since(epochs) for session, epochs in logged.items()}

    def known(row: Row) -> Row:
        is_told = row.get(_SINCE) is not None or not _is_in_one(row)
        return row if is_told else {**row, _SINCE: since[_session(row)][row["session_epoch"]]}

    return [known(row) for row in rows]


def _since(epochs: set[int]) -> dict[int, int]:
    since: dict[int, int] = {}
    for epoch in sorted(epochs):
        since[epoch] = since.get(epoch - 1, epoch)
    return since


def _session(row: Row) -> Session:
    return tuple(row.get(name) for name in ("cluster_id", "broker_id", "session_id"))


def _is_in_one(row: Row) -> bool:
    return bool(row.get("session_id")) and row.get("session_epoch", -1) >= 0


def _ends_run(row: Row) -> bool:
    return bool(row.get("is_implied")) and row.get("response_high_watermark", -1) < 0
