"""The prefix of a log4j line, whichever log it is of.

    [2026-11-21 10:36:42,604] INFO message (logger)

Brackets around the time are the default of Kafka; without them, and with ` [thread]` after the logger, is Strimzi's.
A message of several lines has its logger on the last one only.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C

LOCAL_TIME = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[,.]\d{3,6})?(?:Z|[+-]\d\d(?::?\d\d)?)?"
TO_THE_SECOND = len("2026-11-21 10:36:42")
"""Characters of a local time before its fraction and its zone."""
STAMPED = rf"^\[?({LOCAL_TIME})\]?\s+(?:\[[^\]]*\]\s+)?(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s+(.*)$"
MESSAGE_OF_LOGGER = r"^(.*) \(([\w.$-]+)\)(?: \[[^\]]*\])?\s*$"

TIME_TEXT, LEVEL, MESSAGE, LOGGER = "time_text", "level", "message", "logger"


def with_prefix(lines: DataFrame, timezone: str) -> DataFrame:
    """The lines with time, level, message and logger; all empty but the time, NULL, on a line without a prefix.

    The logger is empty on the first line of a message of several lines, and on a line that was cut.
    """
    rest = F.regexp_extract(C.LINE_TEXT, STAMPED, 3)
    logger = F.regexp_extract("rest", MESSAGE_OF_LOGGER, 2)
    return (
        lines.withColumn("rest", rest)
        .withColumns({
            TIME_TEXT: F.regexp_extract(C.LINE_TEXT, STAMPED, 1),
            LEVEL: F.regexp_extract(C.LINE_TEXT, STAMPED, 2),
            LOGGER: logger,
            MESSAGE: F.when(logger == "", F.col("rest")).otherwise(F.regexp_extract("rest", MESSAGE_OF_LOGGER, 1)),
        })
        .withColumn(C.EVENT_TIME, instant(F.col(TIME_TEXT), timezone))
        .drop("rest")
    )  # fmt: skip


def instant(local: Column, timezone: str) -> Column:
    """A LOCAL_TIME, of `timezone` where it names no zone, as an instant; NULL for none. No session's zone is asked.

    Each line has one: what a pattern or `translate` would do is done by looking for single bytes.
    """
    rest = F.substr(local, F.lit(TO_THE_SECOND + 1))
    names_zone = rest.contains("Z") | rest.contains("+") | rest.contains("-")
    zone = F.when(names_zone, "").otherwise(f" {timezone}")
    return F.concat(F.replace(local, F.lit(","), F.lit(".")), zone).try_cast("timestamp")
