"""Where a warehouse and what its brokers said differ: each value, with the events and the lines around it."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import click
from pyspark.sql import Row
from pyspark.sql import functions as F

from jobs.progress import print_table, say
from jobs.step_table import HEAD, lines_of, timed
from jobs.warehouse import Warehouse
from replay.agreement.compared import REBUILT_MS
from replay.agreement.known_otherwise import AT_MS, WHAT
from schemas import columns as C
from schemas.tables import LEADER_TIMELINE

AROUND = 5
"""Events before and after a disagreement that are shown."""


def neighbourhood(warehouse: Warehouse, cluster_id: str, value: Row) -> list[Row]:
    """The partition's events around a value, in time order."""
    near = timed(warehouse.read(LEADER_TIMELINE, cluster_id=cluster_id)).where(
        (F.col(C.TOPIC) == value[C.TOPIC]) & (F.col(C.PARTITION) == value[C.PARTITION])
    )
    at = F.unix_micros(C.EVENT_TIME) / 1000 - F.lit(value[AT_MS])
    before = near.where(at <= 0).orderBy(F.desc(C.EVENT_TIME), F.desc(C.EVENT_SEQ)).limit(AROUND).collect()
    after = near.where(at > 0).orderBy(C.EVENT_TIME, C.EVENT_SEQ).limit(AROUND).collect()
    return [*reversed(before), *after]


def raw_lines(capture: Path, rows: Sequence[Row]) -> list[str]:
    """The lines of the capture that the events were read from, cut to what fits."""
    wanted: dict[str, set[int]] = {}
    for row in rows:
        if row[C.SOURCE_FILE]:
            wanted.setdefault(row[C.SOURCE_FILE], set()).add(row[C.SOURCE_LINE])
    found = []
    for name, numbers in wanted.items():
        path = capture / name
        if not path.is_file():
            continue
        with gzip.open(path, "rt", errors="replace") if path.suffix == ".gz" else path.open(errors="replace") as lines:
            told = (f"{name}:{n}: {line.rstrip()[:300]}" for n, line in enumerate(lines, start=1) if n in numbers)
            found += list(told)
    return found


def show_disagreement(target: Warehouse, cluster_id: str, capture: Path, value: Row, number: int) -> None:
    """Print a value, the first of all or a later one, with the partition's events and lines around it."""
    kind = "stated, not rebuilt" if value[REBUILT_MS] is None else "rebuilt, not stated"
    where = f"{value[C.TOPIC]}-{value[C.PARTITION]}, epoch {value[C.LEADER_EPOCH]}, replica {value[C.REPLICA_ID]}"
    nth = "first disagreement" if number == 1 else f"disagreement {number}"
    say(f"{nth}: {value[WHAT]} {value[C.OFFSET]} of {where} is {kind}")
    rows = neighbourhood(target, cluster_id, value)
    print_table(HEAD, lines_of(rows))
    folder = capture / "capture"
    for line in raw_lines(folder if folder.is_dir() else capture, rows):
        click.echo(line)
