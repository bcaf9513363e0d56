"""Landing rows as they are where no dump was taken: a request line names no producer."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
Landing = Mapping[str, Sequence[Row]]


def without_producers(landing: Landing, clusters: Container[str] | None = None) -> dict[str, list[Row]]:
    """The rows, appends of some clusters, or of all, without their producer; markers have theirs from a request."""
    return _appends(landing, clusters, {"producer_id": -1})


def before_2_8(landing: Landing) -> dict[str, list[Row]]:
    """The same of text: nor does a line tell whether the append is of a transaction."""
    return _appends(landing, None, {"producer_id": -1, "is_transactional": None})


def _appends(landing: Landing, clusters: Container[str] | None, values: Row) -> dict[str, list[Row]]:
    rows = [
        row if row["is_control"] or (clusters is not None and row["cluster_id"] not in clusters) else {**row, **values}
        for row in landing["produce_events"]
    ]
    return {**{table: [*rows] for table, rows in landing.items()}, "produce_events": rows}
