"""Lines of a broker's log in the known wordings: the wordings as Spark looks them up, and what a line of one tells."""

from __future__ import annotations

from functools import cache

from pyspark.sql import Column
from pyspark.sql import functions as F

from sources.line_patterns import WORDINGS
from sources.log_lines import LEVEL
from sources.wording import Wording

LOGGER_CLASS, HAS_CUE, WORDING, TOLD, SETTING = "logger_class", "has_cue", "wording", "told", "setting"
"""Last part of the logger's name; whether some wording's cue is in the line; the wording, a struct, NULL for none; its
fields by name, as text; the name of the setting on a line of a "KafkaConfig values" block."""

LOGGERS = tuple(sorted({wording.logger for wording in WORDINGS}))


def text(field: str) -> Column:
    """A field of the line's wording; NULL where the wording has none such, or leaves it out."""
    return F.nullif(F.try_element_at(TOLD, F.lit(field)), F.lit(""))


def number(field: str) -> Column:
    """A field as a number."""
    return text(field).try_cast("bigint")


def numbers(field: str) -> Column:
    """A field that lists numbers, such as `1, 2,3`; empty where it lists none."""
    digits = F.regexp_extract_all(F.try_element_at(TOLD, F.lit(field)), F.lit(r"(\d+)"))
    return F.transform(digits, lambda digit: digit.try_cast("int"))


def is_known_logger() -> Column:
    """Whether some wording is of the logger."""
    return F.col(LOGGER_CLASS).isin(*LOGGERS)


def is_debug() -> Column:
    """Whether the line is of a level that no broker writes by default."""
    return F.col(LEVEL).isin("DEBUG", "TRACE")


@cache
def wordings() -> str:
    """The wordings of `sources.line_patterns` as an SQL literal: an array of structs."""
    return f"array({', '.join(_row(wording) for wording in WORDINGS)})"


def _row(wording: Wording) -> str:
    states = ", ".join(f"struct({_sql(kind.value)} AS kind, {_sql(field)} AS field)" for kind, field in wording.states)
    values = {
        "name": _sql(wording.name),
        "logger": _sql(wording.logger),
        "cue": _sql(wording.cue),
        "regex": _sql(wording.regex),
        "fields": f"cast(array({', '.join(map(_sql, wording.fields))}) AS array<string>)",
        "change": _sql(wording.change.value if wording.change else None),
        "states": f"cast(array({states}) AS array<struct<kind: string, field: string>>)",
        "ignored": _sql(wording.ignored),
    }
    return f"struct({', '.join(f'{value} AS {name}' for name, value in values.items())})"


def _sql(value: str | None) -> str:
    return "cast(NULL AS string)" if value is None else "r'" + value + "'" if "'" not in value else f'r"{value}"'
