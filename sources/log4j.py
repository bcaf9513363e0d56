"""Another layout of log lines, as a log4j PatternLayout says it: rewritten to Kafka's own before anything is parsed.

`%d{dd/MM/yyyy HH:mm:ss.SSS} %-5p %c{1} [%t] - %m%n` becomes one regular expression, each line that matches it becomes
`[2026-11-21 10:36:42,604] INFO message (logger)`; another line stays as it is: a stack trace has no layout.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources.errors import CaptureError
from sources.file_kinds import LOGS
from sources.json_lines import bytes_unpacked, unpacked
from sources.shippers import as_written, second_of_runtime

OWN_DATE = "yyyy-MM-dd HH:mm:ss,SSS"
ISO8601 = "ISO8601"
DATE_FORMATS = {"": OWN_DATE, "DEFAULT": OWN_DATE, ISO8601: OWN_DATE}

CONVERSION = re.compile(r"%(?:(%)|(-?\d*(?:\.-?\d+)?)([a-zA-Z]+)((?:\{[^}]*\})*))")
DATE_PART = re.compile(r"(yyyy|MM|dd|HH|mm|ss|SSS+|Z|X{1,3})|'([^']*)'|(.)")
DIGITS = {"yyyy": r"(\d{4})", "MM": r"(\d\d)", "dd": r"(\d\d)", "HH": r"(\d\d)", "mm": r"(\d\d)", "ss": r"(\d\d)"}
MICROSECONDS = r"(\d{3,6})\d{0,3}"
ZONE = r"(Z|[+-]\d\d(?::?\d\d)?)"

CONVERSIONS = {
    "d": "date", "date": "date",
    "p": "level", "level": "level", "le": "level",
    "c": "logger", "logger": "logger", "lo": "logger",
    "m": "message", "msg": "message", "message": "message",
    "n": "end",
}  # fmt: skip
FIELDS = {"level": r"([A-Z]+)", "logger": r"([\w.$-]+)", "message": r"(.*)"}


@dataclass(frozen=True)
class Layout:
    """A layout as a regular expression, and what its groups make of a line."""

    regex: str
    rewritten: str
    """Kafka's own layout, with `$1` for a group."""
    is_to_the_second: bool = False
    """Whether its times have no fraction."""

    def is_of(self, line: bytes) -> bool:
        """Whether a line, as its collector wrote it, is in the layout."""
        return re.match(self.regex, bytes_unpacked(line).decode("utf-8", "replace")) is not None


def layout_of(pattern: str) -> Layout:
    """The layout of a log4j pattern; one that leaves out time, level, logger or message is refused."""
    regex, groups, at = "", [], 0
    for match in CONVERSION.finditer(pattern):
        regex += re.escape(pattern[at : match.start()])
        at = match.end()
        part, names = _conversion(match)
        regex += part
        groups += names
    place = {name: number for number, name in enumerate(groups, 1)}
    missing = [name for name in ("yyyy", "MM", "dd", "HH", "mm", "ss", *FIELDS) if name not in place]
    if missing:
        message = f"log pattern {pattern!r} does not tell {', '.join(missing)}"
        raise CaptureError(message)
    ms = f"${place['SSS']}" if "SSS" in place else "000"
    date = "-".join(f"${place[name]}" for name in ("yyyy", "MM", "dd"))
    time = ":".join(f"${place[name]}" for name in ("HH", "mm", "ss"))
    zone = f"${place['zone']}" if "zone" in place else ""
    rest = f"${place['level']} ${place['message']} (${place['logger']})"
    return Layout(f"^{regex}{re.escape(pattern[at:])}\\s*$", f"[{date} {time},{ms}{zone}] {rest}", "SSS" not in place)


def _conversion(match: re.Match[str]) -> tuple[str, list[str]]:
    """A conversion as a regular expression, and the names of its groups."""
    if match[1]:
        return "%", []
    kind = CONVERSIONS.get(match[3], "other")
    if kind == "end":
        return "", []
    if kind == "date":
        option = match[4][1:].split("}")[0] if match[4] else ""
        regex, names = _date(DATE_FORMATS.get(option, option))
        # Between day and time log4j2 writes a T, which log4j1 does not.
        return (regex.replace(re.escape(" "), "[ T]") if option == ISO8601 else regex), names
    if kind == "other":
        return ".*?", []
    # A field may be padded on either side.
    return rf"\s*{FIELDS[kind]}\s*" if match[2] else FIELDS[kind], [kind]


def _date(date_format: str) -> tuple[str, list[str]]:
    regex, names = "", []
    for name, quoted, literal in DATE_PART.findall(date_format):
        if name.startswith(("Z", "X")):
            names.append("zone")
            regex += ZONE
        elif name:
            names.append("SSS" if name.startswith("SSS") else name)
            regex += DIGITS.get(name, MICROSECONDS)
        else:
            regex += re.escape(quoted or literal)
    return regex, names


KNOWN = layout_of("%d{yyyy-MM-dd HH:mm:ss} %-5p [%t] %c{1}:%L - %m%n")
"""Strimzi's with Kafka 4, which nobody need name."""


def in_kafkas_layout(lines: DataFrame, layout: Layout | None, *, has_objects: bool = False) -> DataFrame:
    """The lines, those of logs as their broker wrote them and in Kafka's own layout; `None`: it was a known one.

    `has_objects`: some are JSON objects.
    """
    text = F.col(C.LINE_TEXT)
    of_log = F.col(C.KIND).isin([kind.value for kind in LOGS])
    if has_objects:
        lines = unpacked(lines, of_log)
    written = as_written(text)
    asked = KNOWN if layout is None else layout
    rewritten = F.regexp_replace(written, asked.regex, asked.rewritten)
    # Most lines are in Kafka's own, and long: of those no expression is asked, and of others each once: as a column.
    is_own = text.startswith("[20") if layout is None else F.lit(False)
    in_own = lines.withColumn(_REWRITTEN, F.when(of_log & ~is_own, rewritten))
    finer = F.when(F.col(_REWRITTEN).isNotNull(), _finer(text, F.col(_REWRITTEN)))
    return in_own.withColumn(C.LINE_TEXT, F.coalesce(finer, text)).drop(_REWRITTEN)


_SECOND_AT, _FRACTION_AT = 19, 22
"""Where a line in Kafka's own layout has them, from 1."""
_NO_FRACTION, _PREFIX_LENGTH = ",000", 100
_REWRITTEN = "rewritten"


def _finer(text: Column, rewritten: Column) -> Column:
    """Return the line as it was rewritten; of one without a fraction with that of its container's runtime.

    That is when the runtime read the line, a moment after it was written: where it has another second it tells nothing.
    """
    prefix = F.left(text, F.lit(_PREFIX_LENGTH))
    second, fraction = second_of_runtime(prefix)
    is_coarse = (F.substring(rewritten, _FRACTION_AT - 1, 4) == _NO_FRACTION) & ~prefix.contains(_NO_FRACTION)
    is_same = is_coarse & (F.substring(rewritten, _SECOND_AT, 2) == second)
    before, after = F.left(rewritten, F.lit(_FRACTION_AT - 1)), F.substr(rewritten, F.lit(_FRACTION_AT + 3))
    return F.when(is_same, F.concat(before, fraction, after)).otherwise(rewritten)
