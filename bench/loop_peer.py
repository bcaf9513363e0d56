"""The plain job as a Python loop, an event at a time: what one would write first. Small sizes only."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from bench.kernel import APPEND, FETCH, ISR, LEADS
from bench.wide import LEADERS, REPLICAS


def _rows(files: list[str], *columns: str) -> Iterator[tuple[object, ...]]:
    for file in files:
        table = pq.read_table(file, columns=list(columns))
        table = table.set_column(
            table.column_names.index("event_time"),
            "event_time",
            table.column("event_time").cast(pa.int64(), safe=False),
        )
        yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def events(files: dict[str, list[str]]) -> list[tuple[object, ...]]:
    """Every event of a leadership, in order."""
    key = ("partition", "leader_epoch", "event_time")
    began: dict[tuple[object, object], dict[object, object]] = {}
    for p, e, _, kind, offset in _rows(files["broker_statements"], *key, "kind", "offset"):
        began.setdefault((p, e), {})[kind] = offset
    found: list[tuple[object, ...]] = [
        (p, e, t, APPEND, -1, last + 1, -1, None)  # type: ignore[operator]
        for p, e, t, last in _rows(files["produce_events"], *key, "last_offset")
    ]
    for p, e, t, replica, asked, told, diverges in _rows(
        files["fetch_events"], *key, "replica_id", "fetch_offset", "response_high_watermark", "diverging_epoch"
    ):
        if diverges < 0 <= replica:  # type: ignore[operator]
            found.append((p, e, t, FETCH, replica, asked, told, None))
    for p, e, t, kind, leader, isr in _rows(files["leader_changes"], *key, "change_kind", "leader_id", "isr"):
        if kind == "become_leader":
            said = began[p, e]
            start = said["became_leader_log_end_offset"], said["became_leader_high_watermark"]
            found.append((p, e, t, LEADS, leader, *start, isr))
        elif kind == "isr_updated":
            found.append((p, e, t, ISR, leader, -1, -1, isr))
    found.sort(key=lambda event: event[:4])
    return found


def timelines(files: dict[str, list[str]], slots: int) -> Iterator[tuple[str, pa.RecordBatchReader]]:
    """Both timelines, one after the other; `slots` is not needed."""
    del slots
    leaders: list[tuple[object, ...]] = []
    replicas: list[list[object]] = []
    open_rows: dict[tuple[object, object, object], list[object]] = {}
    known: dict[object, int] = {}
    leader = log_end = hw = -1
    in_sync: list[int] = []
    for p, e, t, kind, replica, offset, told, isr in events(files):
        if kind == LEADS:
            leader, log_end, hw, known, in_sync = replica, offset, told, {}, isr  # type: ignore[assignment]
        elif kind == ISR:
            in_sync = isr  # type: ignore[assignment]
        elif kind == APPEND:
            log_end = max(log_end, offset)  # type: ignore[type-var,assignment]
        else:
            known[replica] = offset  # type: ignore[assignment]
            if (p, e, replica) in open_rows:
                _close(open_rows[p, e, replica], offset)  # type: ignore[arg-type]
            row = [p, replica, e, t, offset, told]
            open_rows[p, e, replica] = row
            replicas.append(row)
        hw = max(hw, min([log_end, *(known.get(one, -1) for one in in_sync if one != leader)]))
        leaders.append((p, e, t, kind, leader, replica, log_end, sum(known.values()), len(known), hw))
        replicas.append([p, leader, e, t, log_end, hw])
    for row in open_rows.values():
        _close(row, row[4])  # type: ignore[arg-type]
    yield LEADERS, _table(leaders, "partition epoch us kind leader_id replica_id log_end known heard hw")
    yield REPLICAS, _table(replicas, "partition replica_id epoch us leo hw")


def _close(row: list[object], next_asked: int) -> None:
    """What a follower had after a response is what it asks for next."""
    row[4], row[5] = next_asked, min(row[5], next_asked)  # type: ignore[type-var]


def _table(rows: list[tuple[object, ...]] | list[list[object]], names: str) -> pa.RecordBatchReader:
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(names.split(), map(list, columns), strict=True))).to_reader()
