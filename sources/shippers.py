r"""What collectors of logs put before each line: a line is read as its broker wrote it, continuations too.

2026-11-21T10:36:42.604123456Z [2026-11-21 10:36:42,604] INFO …             kubectl --timestamps
2026-11-21T10:36:42.604123456+01:00 stdout F [2026-11-21 10:36:42,604] …    a container runtime's file (CRI)
[pod/kafka-0/kafka] [2026-11-21 10:36:42,604] INFO …                        kubectl --prefix
kafka-1  | [2026-11-21 10:36:42,604] INFO …                                 docker compose
Nov 21 10:36:42 host kafka[123]: [2026-11-21 10:36:42,604] INFO …           journald, syslog
2026-11-21T10:36:42+0100 host kafka[123]: [2026-11-21 10:36:42,604] …       the same with --output=short-iso

A time of a runtime has as many digits as it needs: where it might be the broker's own, the next one behind it tells.
Behind any of them may be a JSON object: `sources.json_lines`.
"""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

_NEXT = r"(?=\{\"|\[?\d{4}-\d\d-\d\d[ T])"
"""The begin of a line as its broker wrote it."""
ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
"""A time as a runtime or a syslog writes it."""
_BY_RUNTIME = (
    rf"{ISO} (?:std(?:out|err) [FP] |{_NEXT})"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(?:Z|[+-]\d\d:\d\d) "
)
_BY_COMPOSE = rf"[\w.-]+ +\| (?:(?=\s)|{_NEXT})"
_BY_POD = r"\[pod/[^\]\s]+\] "
BY_SYSLOG_TIME = rf"(?:<\d{{1,3}}>)?(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|{ISO})"
_BY_SYSLOG = (
    rf"{BY_SYSLOG_TIME} \S+ "
    rf"(?:[^\s\[]+\[\d+\]: |[^\s\[]+: (?:(?=\t)|{_NEXT}))"
)
SHIPPED = rf"^(?:{_BY_POD}|{_BY_COMPOSE})?(?:{_BY_SYSLOG}|{_BY_RUNTIME})?"
_SECOND_OF_RUNTIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:(\d\d)\.(\d{3,6})"
_SHIPPED_BYTES = re.compile(SHIPPED.encode(), re.MULTILINE)


def as_written(text: Column) -> Column:
    """The line as the broker wrote it."""
    return F.regexp_replace(text, SHIPPED, "")


def second_of_runtime(text: Column) -> tuple[Column, Column]:
    """Return the second and up to six digits of its fraction of the time a line begins with; empty for none."""
    second, fraction = (F.regexp_extract(text, _SECOND_OF_RUNTIME, group) for group in (1, 2))
    return second, fraction


def bytes_as_written(lines: bytes) -> bytes:
    """The same of one line or several."""
    return _SHIPPED_BYTES.sub(b"", lines)
