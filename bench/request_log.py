"""A large request log for the benchmark of the ingest: a real broker's, told again and again as if it had gone on.

Each copy of the bundled lines is later than the one before it, its offsets lie behind those, and its fetch sessions go
on where they were: so every line is another one, and a session is as long as that of a broker that runs for days.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from shutil import copyfile
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
BROKER = REPOSITORY / "examples" / "captures" / "steady" / "capture" / "broker-1"
"""Without an election: whatever is told again then fits what was told before."""

REQUEST_LOG = "kafka-request.log"
BESIDE = ("server.log.gz", "state-change.log.gz")
"""Small files without which no request's topic has a name."""

JSON_LINES = "requests.jsonl"
"""What a JSON reader takes: of each line what stands between the prefix and the logger."""

OFFSETS = ("fetchOffset", "highWatermark", "lastStableOffset", "baseOffset")
STAMP = len("2026-11-21 10:33:23,357")

Json = Any


@dataclass(frozen=True)
class Line:
    """A line of the bundled log, taken apart."""

    at: datetime
    request: Json


@dataclass(frozen=True)
class Span:
    """By how much a copy is behind the one before it."""

    time: timedelta
    offset: int
    turns: Mapping[int, int]
    """Requests of each fetch session."""


def large_log(folder: Path, megabytes: int) -> Path:
    """A capture with a request log of that size, and its requests as JSON lines beside it; made once and kept."""
    made = folder / f"requests-{megabytes}"
    if not (made / JSON_LINES).exists():
        broker = made / "capture" / "broker-1"
        broker.mkdir(parents=True, exist_ok=True)
        for name in BESIDE:
            copyfile(BROKER / name, broker / name)
        _write(broker / REQUEST_LOG, made / "unfinished", megabytes << 20)
        (made / "unfinished").rename(made / JSON_LINES)  # last: it says that all of it is there
    return made


def _write(log: Path, json_lines: Path, size: int) -> None:
    lines = _lines()
    span, written = _span(lines), 0
    with log.open("w", encoding="utf-8") as of_log, json_lines.open("w", encoding="utf-8") as of_json:
        for copy in count():
            if written >= size:
                break
            for stamp, text in _copy(lines, span, copy):
                written += of_log.write(f"[{stamp}] DEBUG Completed request:{text} (kafka.request.logger)\n")
                of_json.write(text + "\n")


def _lines() -> list[Line]:
    with gzip.open(BROKER / f"{REQUEST_LOG}.gz", "rt", encoding="utf-8") as log:
        return [_line(text) for text in log]


def _line(text: str) -> Line:
    begin, end = text.index("{"), text.rindex("}") + 1
    return Line(datetime.strptime(text[1 : 1 + STAMP], "%Y-%m-%d %H:%M:%S,%f"), json.loads(text[begin:end]))  # noqa: DTZ007 - a log line has no zone


def _span(lines: list[Line]) -> Span:
    """Times from the first line to the last, offsets beyond the highest, turns beyond the last of each session."""
    offsets = [number for line in lines for number in _offsets(line.request)]
    turns: dict[int, int] = {}
    for line in lines:
        asked = line.request["request"]
        if asked.get("sessionId", 0):
            turns[asked["sessionId"]] = max(turns.get(asked["sessionId"], 0), asked["sessionEpoch"] + 1)
    time = max(line.at for line in lines) - min(line.at for line in lines)
    return Span(time + timedelta(milliseconds=1), max(offsets) + 1, turns)


def _copy(lines: list[Line], span: Span, copy: int) -> Iterator[tuple[str, str]]:
    """The stamp and the request of each line, told for the `copy`th time."""
    for line in lines:
        stamp = (line.at + copy * span.time).isoformat(" ", "milliseconds").replace(".", ",")
        yield stamp, json.dumps(_later(line.request, span, copy), separators=(",", ":"))


def _later(request: Json, span: Span, copy: int) -> Json:
    """The request as it would have been later: offsets further on, and the session not a new one."""
    if copy == 0:
        return request
    moved = _moved(request, copy * span.offset)
    asked = moved["request"]
    if _is_first(request):
        asked["sessionId"] = moved["response"]["sessionId"]
    if asked.get("sessionId", 0):
        asked["sessionEpoch"] += copy * span.turns[asked["sessionId"]]
    return moved


def _moved(value: Json, by: int) -> Json:
    """The value with the offsets in it moved; -1 is none."""
    if isinstance(value, list):
        return [_moved(member, by) for member in value]
    if isinstance(value, Mapping):
        return {k: v + by if k in OFFSETS and v >= 0 else _moved(v, by) for k, v in value.items()}
    return value


def _offsets(value: Json) -> Iterator[int]:
    if isinstance(value, list):
        for member in value:
            yield from _offsets(member)
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from [member] if name in OFFSETS else _offsets(member)


def _is_first(request: Json) -> bool:
    """Whether it is a full fetch that opened a session."""
    return request["request"].get("sessionEpoch") == 0 and request["response"].get("sessionId", 0) != 0
