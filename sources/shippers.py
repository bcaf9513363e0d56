r"""What collectors of logs put before each line: a line is read as its broker wrote it, continuations too.

2026-11-21T10:36:42.604123456Z [2026-11-21 10:36:42,604] INFO …             kubectl --timestamps
2026-11-21T10:36:42.604123456Z stdout F [2026-11-21 10:36:42,604] INFO …    a container runtime's file (CRI)
kafka-1  | [2026-11-21 10:36:42,604] INFO …                                 docker compose
Nov 21 10:36:42 host kafka[123]: [2026-11-21 10:36:42,604] INFO …           journald, syslog
"""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

_BY_RUNTIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}Z (?:std(?:out|err) [FP] )?"
_BY_COMPOSE = r"[\w.-]+ +\| (?=\s|\[?\d{4}-\d\d-\d\d[ T])"
_BY_SYSLOG = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s\[]+\[\d+\]: "
SHIPPED = rf"^(?:{_BY_RUNTIME}|{_BY_COMPOSE}|{_BY_SYSLOG})"
_SHIPPED_BYTES = re.compile(SHIPPED.encode(), re.MULTILINE)


def as_written(text: Column) -> Column:
    """The line as the broker wrote it."""
    return F.regexp_replace(text, SHIPPED, "")


def bytes_as_written(lines: bytes) -> bytes:
    """The same of one line or several."""
    return _SHIPPED_BYTES.sub(b"", lines)
