"""A capture as containers would have written it: all logs of a broker in one file, by time."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from heapq import merge
from pathlib import Path
from shutil import copytree, ignore_patterns

LOGS = ("server.log.gz", "state-change.log.gz", "kafka-request.log.gz")
"""In the order of what one does within a millisecond: a log is loaded, then its role is taken, then it is asked."""
LINE = re.compile(r"^\[(\S+ \S+),\d{3}\] (\w+) (.*) \(([\w.$-]+)\)$")
STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]")


def as_it_is(line: str) -> str:
    """The line."""
    return line


def one_stream_a_broker(
    capture: Path, into: Path, name: str = "kafka-container.log", written: Callable[[str], str] = as_it_is
) -> Path:
    """The capture with one log a broker, each line as it is `written`; all other files as they are."""
    copytree(capture, into, ignore=ignore_patterns(*LOGS))
    for broker in capture.glob("broker-*"):
        logs = merge(*[_stamped(broker / log) for log in LOGS], key=lambda pair: pair[0])
        text = "".join(written(line) for _, line in logs)
        (into / broker.name / name).write_text(text, encoding="utf-8")
    return into


def as_strimzi_has_it(line: str) -> str:
    """A line in Strimzi's layout for Kafka 4, whose times have no fraction."""
    match = LINE.match(line)
    if match is None:
        return line
    time, level, message, logger = match.groups()
    return f"{time} {level:<5} [main] {logger.rpartition('.')[2]}:66 - {message}\n"


def _stamped(log: Path) -> Iterator[tuple[str, str]]:
    """The lines, each with its time; one that has none, with that of the line above."""
    stamp = ""
    with gzip.open(log, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            stamp = match[1] if (match := STAMP.match(line)) else stamp
            yield stamp, line
