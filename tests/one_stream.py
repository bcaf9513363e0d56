"""A capture as containers would have written it: all logs of a broker in one file, by time."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from heapq import merge
from pathlib import Path
from shutil import copytree, ignore_patterns

LOGS = ("state-change.log.gz", "server.log.gz", "kafka-request.log.gz")
STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]")


def one_stream_a_broker(capture: Path, into: Path, name: str = "kafka-container.log") -> Path:
    """The capture with one log a broker; all other files as they are."""
    copytree(capture, into, ignore=ignore_patterns(*LOGS))
    for broker in capture.glob("broker-*"):
        text = "".join(line for _, line in merge(*[_stamped(broker / log) for log in LOGS], key=lambda pair: pair[0]))
        (into / broker.name / name).write_text(text, encoding="utf-8")
    return into


def _stamped(log: Path) -> Iterator[tuple[str, str]]:
    """The lines, each with its time; one that has none, with that of the line above."""
    stamp = ""
    with gzip.open(log, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            stamp = match[1] if (match := STAMP.match(line)) else stamp
            yield stamp, line
