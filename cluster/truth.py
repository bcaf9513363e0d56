"""A broker's log at DEBUG and TRACE into rows of truth.jsonl.gz: one row a statement, in the order they were made."""

from __future__ import annotations

import gzip
import heapq
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cluster.statements import BECOMES, STATEMENTS, Statement

LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\] [A-Z]+ (.*) \([\w.$]+\)$")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TOLD_AS_TEXT = frozenset({"isr", "why"})

Row = dict[str, Any]


def truth_rows(broker: int, logs: Iterable[Iterable[str]]) -> Iterator[Row]:
    """What one broker stated in `logs`, merged by time; of two lines of one millisecond the earlier log's is first."""
    epochs: dict[tuple[str, int], int] = {}
    numbered = (_stated(broker, log, place) for place, log in enumerate(logs))
    for _, _, _, row in heapq.merge(*numbered, key=lambda stated: stated[:3]):
        of = row["topic"], row["partition"]
        if row["kind"] in BECOMES:
            epochs[of] = row["epoch"]
        yield {**row, "epoch": epochs.get(of)}


def write_truth(traces: Path, target: Path) -> int:
    """The rows of all brokers' folders under `traces` as gzipped JSON lines; how many."""
    count = 0
    with gzip.open(target, "wt", encoding="utf-8") as out:
        for folder in sorted(traces.glob("broker-*"), key=broker_of):
            for row in truth_rows(broker_of(folder), map(lines_of, _logs_of(folder))):
                out.write(json.dumps(row) + "\n")
                count += 1
    return count


def broker_of(folder: Path) -> int:
    """The id in a folder's name `broker-N`."""
    return int(folder.name.removeprefix("broker-"))


def lines_of(log: Path) -> Iterator[str]:
    """A log's lines, gzipped or not."""
    with gzip.open(log, "rt", encoding="utf-8") if log.suffix == ".gz" else log.open(encoding="utf-8") as lines:
        yield from lines


def _logs_of(folder: Path) -> list[Path]:
    """The state-change log first: where its lines are apart, a role begins before what the broker then does in it."""
    return sorted(folder.glob("*.log*"), key=lambda log: (not log.name.startswith("state-change"), log.name))


def _stated(broker: int, log: Iterable[str], place: int) -> Iterator[tuple[int, int, int, Row]]:
    """A log's statements, with the keys they merge by: a clock set back must not reorder one log."""
    latest = 0
    for number, line in enumerate(log):  # from 0, as in the captures that came before
        if (row := parse(line.rstrip("\n"))) is None:
            continue
        latest = max(latest, row["ts"])
        yield (
            latest,
            place,
            number,
            {"kind": row.pop("kind"), "ts": row.pop("ts"), "line": number, "broker": broker, **row},
        )


def parse(line: str) -> Row | None:
    """The statement of one line, or None where it makes none; internal topics are left out."""
    for statement in STATEMENTS:
        if statement.words in line and (row := _row(statement, line)) is not None:
            return row
    return None


def _row(statement: Statement, line: str) -> Row | None:
    if (parts := LINE.fullmatch(line)) is None or (found := statement.pattern.match(parts[3])) is None:
        return None
    told = found.groupdict()
    topic, _, partition = told.pop("topic_partition").rpartition("-")
    if topic.startswith("__"):
        return None
    values = {name: value if name in TOLD_AS_TEXT else int(value) for name, value in told.items()}
    if "isr" in values:
        values["isr"] = [int(replica) for replica in told["isr"].split(",") if replica]
    at = {"kind": statement.kind, "ts": _milliseconds(parts[1], parts[2])}
    return {**at, "topic": topic, "partition": int(partition), **values}


def _milliseconds(second: str, millisecond: str) -> int:
    """The brokers run in UTC and write a comma before the milliseconds."""
    moment = datetime.strptime(second, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(milliseconds=1) + int(millisecond)
