r"""Whose each line is in a file of several brokers: by the container, pod or host that a collector names with it.

    kafka-1  | [2026-11-21 10:36:42,604] INFO …                                docker compose logs
    [pod/kafka-0/kafka] [2026-11-21 10:36:42,604] INFO …                       kubectl logs --prefix
    Nov 21 10:36:42 kafka1 kafka[123]: [2026-11-21 10:36:42,604] INFO …        a central syslog
    {"message":"[2026-11-21 10:36:42,604] INFO …","kubernetes":{"pod":{"name":"kafka-0"}}}    an export

All lines of one name are a stream. A broker's own lines name it, a line of its request log does not; so a stream is of
the one broker that its lines name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources.shippers import BY_SYSLOG_TIME

_NAMING = ("pod|pod_name|podName", "container_name|containerName", "hostname|host|_HOSTNAME")
"""Keys of an object, wherever in it, the surest first: the containers of all brokers' pods have one name, and several
brokers may run on a host."""
_OBJECT = "|".join(
    # Within a text of the object every quote has a backslash before it.
    rf'^(?:\S+ std(?:out|err) [FP] )?\{{.*?(?<!\\)"(?:{keys})"\s*:\s*(?:\{{"name"\s*:\s*)?"([^"\\]+)"'
    for keys in _NAMING
)
_STREAM = (
    r"^\[pod/([^\]\s]+)\] |^([\w.-]+) +\| "
    rf"|^{BY_SYSLOG_TIME} (\S+) [^\s\[:]+(?:\[\d+\])?: |{_OBJECT}"
)
_STREAM_OF_BYTES = re.compile(_STREAM.encode())


class Streams:
    """The streams of a file, and the brokers that the lines of each have named so far."""

    def __init__(self) -> None:
        self._brokers: dict[str, set[int]] = defaultdict(set)

    def see(self, line: bytes, broker: int) -> None:
        """Take a line, as its collector wrote it, that names a broker as its own."""
        if match := _STREAM_OF_BYTES.search(line):
            name = next(group for group in match.groups() if group is not None)
            self._brokers[name.decode("utf-8", "replace")].add(broker)

    @property
    def of_brokers(self) -> tuple[tuple[str, int], ...]:
        """Name and broker of each stream, where several brokers have streams of their own; else none."""
        own = {name: next(iter(brokers)) for name, brokers in self._brokers.items() if len(brokers) == 1}
        is_told_apart = len(own) == len(self._brokers) and len(set(own.values())) > 1
        return tuple(sorted(own.items())) if is_told_apart else ()


def with_brokers_of_streams(lines: DataFrame, streams: Mapping[str, Iterable[tuple[str, int]]]) -> DataFrame:
    """The lines, as their collector wrote them, each with the broker of its stream; `streams` is by file."""
    known = [
        F.lit(value)
        for file, of_file in streams.items()
        for name, broker in of_file
        for value in (f"{file}\n{name}", broker)
    ]
    if not known:
        return lines
    groups = range(1, _STREAM_OF_BYTES.groups + 1)
    stream = F.concat(*[F.regexp_extract(C.LINE_TEXT, _STREAM, group) for group in groups])
    broker = F.try_element_at(F.create_map(*known), F.concat_ws("\n", C.SOURCE_FILE, stream))
    return lines.withColumn(C.BROKER_ID, F.coalesce(broker, C.BROKER_ID))
