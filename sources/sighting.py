"""What a log shows at a glance, read once on the driver with its digest: brokers, minutes, and whose lines are in it.

Of a broker's own log every prefix in brackets names that broker (`[Partition t-0 broker=1]`, `[Broker id=1]`,
`[ReplicaFetcherManager on broker 1]`; in 0.11 `Partition [t,0] on broker 1: ` does too); lines of several brokers in
one file name each its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sources.json_lines import bytes_unpacked
from sources.parted_lines import is_part
from sources.streams import Streams

PREFIX_BYTES = 240
"""Enough for the time, the level and the prefix of a message: a topic's name has at most 249 letters, few do."""

_THREAD = rb"(?:\[[^\]\n]*\]\s+)?"
_LOGGER = (
    rb"(?:" + _THREAD + rb"[\w.$-]+(?::\d+)?\s*[-:|]\s+"
    rb"|" + _THREAD + rb"[\w$-]+(?:\.[\w$-]+)+\s+" + _THREAD + rb"(?:[-:|]\s+)?)?"
)
"""Before the message, where the logger is not behind it: `[thread] Partition:66 - `, `kafka.cluster.Partition: `."""
OF_BROKER = re.compile(
    rb"^\[?[\d :,.TZ+-]{19,35}\]?\s+" + _THREAD + rb"[A-Z]+\s+" + _LOGGER + rb"(?:Partition )?"
    rb"\[(?:(?:[^\]\n]* )?(?:id|broker|brokerId|nodeId|replicaId)=(\d{1,9})\b"
    rb"|[\w ]+ on broker (\d{1,9})\]|GroupCoordinator (\d{1,9})\]|Broker id=(\d{1,9})\]"
    rb"|[^\s,]+,\d+\] on broker (\d{1,9}):|Kafka Server (\d{1,9})\],)"
)
SETTING = re.compile(rb"^\s+(?:broker|node)\.id = (\d{1,9})\s*$")
MINUTE = re.compile(rb"^\[?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)$")

COMPLETED = b"Completed request:"
TIME_BYTES = 24
"""Enough for a line's own time and what comes next."""
TO_THE_SECOND = re.compile(rb"\d\d:\d\d:\d\d(?![.,]?\d)")
OTHER_LINE = re.compile(
    rb"\d\d:\d\d:\d\d.{0,60}\b(?:INFO|WARN|ERROR|FATAL)\b|\b(?:INFO|WARN|ERROR|FATAL)\b.{0,60}\d\d:\d\d:\d\d"
)
"""A time and a level that no request is logged at, in whichever layout."""
OF_FUTURE_LOG = b"-future"
"""The end of a directory that only a log being copied to another disk has."""
OF_REQUEST_LOG = (b"kafka.request.logger", b"kafka.network.")
"""Loggers that Kafka's own settings send to the request log."""


class Sighting:
    """What the chunks of a file have shown so far."""

    def __init__(self, *, names_brokers: bool) -> None:
        self._names_brokers = names_brokers
        self.is_of_log = False
        """Whether it is to be seen whose lines these are; a dump's millions need not be looked at."""
        self.has_requests = self.has_others = False
        """Whether completed requests are logged, and whether lines of other loggers are."""
        self.has_future_logs = False
        """Whether some directory of a future log is named."""
        self.streams = Streams()
        self.has_objects = False
        """Whether some line was within JSON."""
        self.is_to_the_second = False
        """Whether the first line with a time has one without a fraction."""
        self.has_parts = False
        """Whether some line goes on in the next one (`sources.parted_lines`)."""
        self._rest = b""
        self._length = self.longest_line = self.lines = self.size = 0
        self._heads: set[bytes] = set()
        self._request_heads: set[bytes] = set()
        self._brokers: set[int] = set()

    def see(self, chunk: bytes) -> None:
        """Take the next bytes of the file."""
        self.size += len(chunk)
        self.has_future_logs = self.has_future_logs or (self.is_of_log and OF_FUTURE_LOG in chunk)
        *ends, rest = chunk.split(b"\n")
        if ends:
            self.longest_line = max(self.longest_line, self._length + len(ends[0]), *map(len, ends))
            self._length = 0
            self.lines += len(ends)
            self._take([self._rest + ends[0], *ends[1:]])
            self._rest = b""
        self._length += len(rest)
        self._rest = (self._rest + rest)[:PREFIX_BYTES]

    def end(self) -> None:
        """Take what is left of a file whose last line has no end."""
        self.longest_line = max(self.longest_line, self._length)
        self.lines += self._length > 0
        self._take([self._rest])

    def _take(self, lines: Iterable[bytes]) -> None:
        for text in lines:
            line = self._as_written(text) if self.is_of_log and text[:3] != b"[20" else text
            head = b""
            if line[:3] == b"[20":  # a dump has millions of lines that begin otherwise, each its own way
                head = line[:17]
            elif line[:2] == b"20":
                head = line[:16]
            if head:
                if not self._heads:
                    self.is_to_the_second = TO_THE_SECOND.search(line[:TIME_BYTES]) is not None
                self._heads.add(head)
            if self.is_of_log:
                self._take_line_of_log(line[:PREFIX_BYTES], head)
            # A request names no broker as its own, and most lines are of requests.
            is_looked_at = self._names_brokers and COMPLETED not in line[:PREFIX_BYTES]
            if is_looked_at and (match := OF_BROKER.match(line[:PREFIX_BYTES]) or SETTING.match(line)):
                broker = int(next(group for group in match.groups() if group is not None))
                self._brokers.add(broker)
                self.streams.see(text, broker)

    def _as_written(self, text: bytes) -> bytes:
        line = bytes_unpacked(text)
        self.has_parts = self.has_parts or is_part(text)
        self.has_objects = self.has_objects or not text.endswith(line)
        return line

    def _take_line_of_log(self, prefix: bytes, head: bytes) -> None:
        if COMPLETED in prefix:
            self.has_requests = True
            self._request_heads.add(head)
        elif not self.has_others and OTHER_LINE.search(prefix):
            self.has_others = not any(name in prefix for name in OF_REQUEST_LOG)

    @property
    def brokers(self) -> frozenset[int]:
        """The brokers that lines name as their own."""
        return frozenset(self._brokers)

    @property
    def minutes(self) -> frozenset[str]:
        """The minutes that have lines, such as `2025-02-06 17:03`."""
        return _minutes(self._heads)

    @property
    def request_minutes(self) -> frozenset[str]:
        """The minutes in which requests were completed."""
        return _minutes(self._request_heads)


def _minutes(heads: Iterable[bytes]) -> frozenset[str]:
    matches = (MINUTE.match(head) for head in heads)
    return frozenset(f"{match[1].decode()} {match[2].decode()}" for match in matches if match)
