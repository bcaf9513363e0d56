r"""What collectors of logs put before each line: a line is read as its broker wrote it, continuations too.

2026-11-21T10:36:42.604123456Z [2026-11-21 10:36:42,604] INFO …             kubectl --timestamps
2026-11-21T10:36:42.604123456+01:00 stdout F [2026-11-21 10:36:42,604] …    a container runtime's file (CRI)
[pod/kafka-0/kafka] [2026-11-21 10:36:42,604] INFO …                        kubectl --prefix
kafka-1  | [2026-11-21 10:36:42,604] INFO …                                 docker compose
Nov 21 10:36:42 host kafka[123]: [2026-11-21 10:36:42,604] INFO …           journald, syslog
2026-11-21T10:36:42+0100 host kafka[123]: [2026-11-21 10:36:42,604] …       the same with --output=short-iso
{"log":"[2026-11-21 10:36:42,604] INFO …\\n","stream":"stdout","time":…}    docker's json-file

A time of a runtime has as many digits as it needs: where it might be the broker's own, the next one behind it tells.
"""

from __future__ import annotations

import json
import re

from pyspark.sql import Column
from pyspark.sql import functions as F

_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_BY_RUNTIME = (
    rf"{_ISO} (?:std(?:out|err) [FP] |(?=\[?\d{{4}}-\d\d-\d\d[ T]))"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(?:Z|[+-]\d\d:\d\d) "
)
_BY_COMPOSE = r"[\w.-]+ +\| (?=\s|\[?\d{4}-\d\d-\d\d[ T])"
_BY_POD = r"\[pod/[^\]\s]+\] "
_BY_SYSLOG = (
    rf"(?:<\d{{1,3}}>)?(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|{_ISO}) \S+ "
    r"(?:[^\s\[]+\[\d+\]: |[^\s\[]+: (?=\[?\d{4}-\d\d-\d\d[ T]))"
)
SHIPPED = rf"^(?:{_BY_POD}|{_BY_COMPOSE})?(?:{_BY_SYSLOG}|{_BY_RUNTIME})?"
_SHIPPED_BYTES = re.compile(SHIPPED.encode(), re.MULTILINE)

JSON_FILE = '{"log":"'
"""How each line begins that docker's json-file driver wrote."""
_JSON_LINE = re.compile(rb"^" + re.escape(JSON_FILE.encode()) + rb"[^\n]*", re.MULTILINE)


def as_written(text: Column) -> Column:
    """The line as the broker wrote it."""
    of_json = F.rtrim(F.get_json_object(text, "$.log"), F.lit("\r\n"))
    unpacked = F.when(text.startswith(JSON_FILE), F.coalesce(of_json, text)).otherwise(text)
    return F.regexp_replace(unpacked, SHIPPED, "")


def bytes_as_written(lines: bytes) -> bytes:
    """The same of one line or several."""
    unpacked = _JSON_LINE.sub(_unpacked, lines) if JSON_FILE.encode() in lines else lines
    return _SHIPPED_BYTES.sub(b"", unpacked)


def _unpacked(line: re.Match[bytes]) -> bytes:
    """What docker packed; a line that was cut as it is."""
    try:
        packed = json.loads(line[0])
    except ValueError:
        return line[0]
    return str(packed["log"]).encode("utf-8", "replace").rstrip(b"\r\n")
