r"""Lines that are JSON objects: a collector's, with the broker's own line in a field, or those of log4j's JSON layouts.

    {"log":"[2026-11-21 10:36:42,604] INFO …\n","stream":"stdout","time":…}               docker's json-file
    {"@timestamp":…,"message":"[2026-11-21 10:36:42,604] INFO …","host":{…}}               Filebeat, Fluent Bit, Vector
    {"labels":{…},"line":"[2026-11-21 10:36:42,604] INFO …","timestamp":…}                  Loki's logcli -o jsonl
    {"MESSAGE":"[2026-11-21 10:36:42,604] INFO …","_HOSTNAME":…}                            journalctl -o json
    {"@timestamp":"2026-11-21T10:36:42.604Z","log.level":"INFO","message":"ISR updated …","log.logger":"…"}      ECS
    {"instant":{"epochSecond":…,"nanoOfSecond":…},"level":"INFO","loggerName":"…","message":"…"}      log4j's JsonLayout

The broker's own line is taken out; where there is none, one in Kafka's own layout is made of time, level, message and
logger. One object may be within another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources.json_text import object_of
from sources.shippers import ISO, as_written, bytes_as_written

WITHIN = ("_source", "jsonPayload", "result")
"""Fields that hold the object of the line, in exports from Elasticsearch, Google Cloud and Splunk."""
TEXTS = ("message", "msg", "MESSAGE", "line", "_raw", "textPayload", "body", "log")
"""Fields that hold the broker's line, or its message."""
TIMES = ("@timestamp", "timestamp", "time", "timeMillis")
LEVELS = ("log.level", "level", "severity")
LOGGERS = ("log.logger", "loggerName", "logger_name", "logger")

BREAK = "\v"
"""Stands for the end of a line within a message: what was one line stays one."""
_MOST_WITHIN = 3
_IS_WHOLE = r"^(?:\{|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d)"
"""How a text begins that is a line with its time, or another object; else it is a message alone."""
_BY_RUNTIME = rf"^{ISO}"
_IS_COARSE = r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[ \]]"
"""How a line begins whose time has no fraction: docker's own time beside it has one (`sources.log4j`)."""
_TOO_FINE = r"([.,]\d{6})\d+"
_LEAST_MILLIS, _LEAST_MICROS, _LEAST_NANOS = 1e11, 1e14, 1e17
"""A smaller number of a time than all of these is of seconds."""
_MOST_MILLIS = 253402300799999
"""The end of the year 9999: beyond it is no time."""


def unpacked(lines: DataFrame, is_of_log: Column) -> DataFrame:
    """The lines, those of logs as their broker wrote them where they are within JSON; one that was cut as it is.

    For files with such lines alone: Spark interprets what is done here, each row by itself.
    """
    text = F.col(C.LINE_TEXT)
    for _ in range(_MOST_WITHIN):
        # A line that begins with its runtime's time keeps it: of that is the fraction, if its own has none.
        is_other = is_of_log & ~text.startswith("[20") & ~text.startswith("{")
        bare = F.when(is_other, as_written(text)).otherwise(text)
        fields = F.when(is_of_log & bare.startswith("{"), F.from_json(bare, "map<string,string>"))
        taken = F.transform(F.array(fields), _line)  # of an argument all is computed once
        lines = lines.withColumn(
            C.LINE_TEXT, F.coalesce(F.get(taken, F.lit(0)), F.when(is_other & text.rlike(_BY_RUNTIME), text), bare)
        )
    return lines


def _line(fields: Column) -> Column:
    """The line that the fields of an object tell; NULL for none."""

    def first(names: Sequence[str]) -> Column:
        return F.coalesce(*[F.try_element_at(fields, F.lit(name)) for name in names])

    ecs = F.try_element_at(fields, F.lit("log"))
    inner = [F.try_element_at(fields, F.lit(name)) for name in WITHIN]
    within = F.coalesce(*[F.when(value.startswith("{"), value) for value in inner])
    text = F.regexp_replace(F.rtrim(first(TEXTS), F.lit("\r\n")), r"\r?\n", BREAK)
    level = F.coalesce(first(LEVELS), F.get_json_object(ecs, "$.level"))
    logger = F.coalesce(first(LOGGERS), F.get_json_object(ecs, "$.logger"))
    time = F.coalesce(_instant(F.try_element_at(fields, F.lit("instant"))), _time(first(TIMES)))
    made = F.concat(F.lit("["), time, F.lit("] "), level, F.lit(" "), text, F.lit(" ("), logger, F.lit(")"))
    by_docker = F.when(F.try_element_at(fields, F.lit("log")) == first(TEXTS), F.try_element_at(fields, F.lit("time")))
    finer = F.when(text.rlike(_IS_COARSE) & by_docker.rlike(_BY_RUNTIME), F.concat(by_docker, F.lit(" "), text))
    return F.coalesce(within, finer, F.when(text.rlike(_IS_WHOLE), text), made, text)


def _time(told: Column) -> Column:
    """A time as Kafka's lines have it: as it is written, or of a number of seconds or parts of one since 1970."""
    number = told.try_cast("double")
    millis = (
        F.when(number >= _LEAST_NANOS, number / 1_000_000)
        .when(number >= _LEAST_MICROS, number / 1000)
        .when(number >= _LEAST_MILLIS, number)
        .otherwise(number * 1000)
    )
    return F.coalesce(_in_utc(millis), F.regexp_replace(told, _TOO_FINE, "$1"))


def _instant(told: Column) -> Column:
    seconds, nanos = (F.get_json_object(told, f"$.{name}").try_cast("double") for name in _INSTANT)
    return _in_utc(seconds * 1000 + F.floor(nanos / 1_000_000))


_INSTANT = ("epochSecond", "nanoOfSecond")


def _in_utc(millis: Column) -> Column:
    known = F.when(millis.between(-_MOST_MILLIS, _MOST_MILLIS), millis)
    at = F.to_utc_timestamp(F.timestamp_millis(known.cast("bigint")), F.current_timezone())
    return F.concat(F.date_format(at, "yyyy-MM-dd HH:mm:ss.SSS"), F.lit("Z"))


def bytes_unpacked(line: bytes) -> bytes:
    """The same of one line, on the driver; its message is cut where its own first line ends."""
    for _ in range(_MOST_WITHIN):
        line = bytes_as_written(line)
        if line[:1] != b"{":
            break
        fields = object_of(line.decode("utf-8", "replace"))
        if fields is None:
            break
        told = {k: v if isinstance(v, str) else json.dumps(v) for k, v in fields.items() if v is not None}
        within = _bytes_line(told)
        if within is None:
            break
        line = within
    return line


def _bytes_line(fields: dict[str, str]) -> bytes | None:
    def first(names: Sequence[str]) -> str | None:
        return next((fields[name] for name in names if name in fields), None)

    within = next((fields[name] for name in WITHIN if fields.get(name, "").startswith("{")), None)
    if within is not None:
        return within.encode("utf-8", "replace")
    told = first(TEXTS)
    if told is None:
        return None
    text = told.rstrip("\r\n")
    ecs = object_of(fields.get("log", "")) or {}
    level, logger = first(LEVELS) or ecs.get("level"), first(LOGGERS) or ecs.get("logger")
    time = _bytes_time(fields.get("instant"), first(TIMES))
    if not re.match(_IS_WHOLE, text) and level and logger and time:
        text = f"[{time}] {level} {text} ({logger})"
    return text.split("\n", 1)[0].encode("utf-8", "replace")


def _bytes_time(instant: str | None, told: str | None) -> str | None:
    try:
        if instant:
            seconds = float((object_of(instant) or {})[_INSTANT[0]])
        else:
            number = float(told or "")
            parts = (1_000_000_000, _LEAST_NANOS), (1_000_000, _LEAST_MICROS), (1000, _LEAST_MILLIS)
            seconds = number / next((part for part, least in parts if number >= least), 1)
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3] + "Z"
    except (ValueError, TypeError, KeyError, OverflowError, OSError):
        return told and re.sub(_TOO_FINE, r"\1", told)
