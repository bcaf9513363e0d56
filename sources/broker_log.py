"""state-change.log and server.log: a line of text to what it says. Its logger matters, not which log it is in.

The wordings are data (sources/line_patterns.py) and stay data here: a literal array that each line is looked up in, and
not a chain of CASEs as long as the table, which Spark can neither compile nor plan in decent time. Rows come of the
result in sources/state_change_log.py (leaders and ISRs) and sources/server_log.py (offsets and settings).
"""

from __future__ import annotations

import re
from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import FileKind
from sources import outcomes
from sources.line_parts import (
    BROKER_SETTINGS,
    CONFIG_LINE,
    FETCHER_STARTS,
    FETCHER_STARTS_BEFORE_2_7,
    TOPIC_SETTINGS,
)
from sources.line_patterns import (
    IDS,
    OFFSETS,
    SAME_LOGGER,
    WORDINGS,
    Wording,
)
from sources.log_lines import LEVEL, LOGGER, MESSAGE, with_prefix

METADATA_TOPIC = "__cluster_metadata"

LOGGER_CLASS, HAS_CUE, WORDING, TOLD, SETTING = "logger_class", "has_cue", "wording", "told", "setting"
"""Last part of the logger's name; whether some wording's cue is in the line; the wording, a struct, NULL for none; its
fields by name, as text; the name of the setting on a line of a "KafkaConfig values" block."""

LOGGERS = tuple(sorted({wording.logger for wording in WORDINGS}))
CUES = "|".join(sorted({re.escape(wording.cue) for wording in WORDINGS if wording.is_cue_specific}))
GENERAL_CUES = "|".join(sorted({re.escape(wording.cue) for wording in WORDINGS}))


def parse(lines: DataFrame, timezone: str) -> DataFrame:
    """Each line with its outcome and reason, its time, its wording and what that tells."""
    prefixed = with_prefix(lines, timezone).withColumn(LOGGER_CLASS, _logger_class())
    worded = prefixed.withColumns({WORDING: _wording(), HAS_CUE: _has_cue(), SETTING: _setting()})
    heard = worded.withColumn(TOLD, _told())
    attributed = heard.withColumn(C.BROKER_ID, _broker_id())
    judged = outcomes.with_outcome(attributed, _verdict())
    return judged.select(*outcomes.OUTCOME_COLUMNS, C.EVENT_TIME, MESSAGE, WORDING, TOLD, SETTING)


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


def _logger_class() -> Column:
    """The last part of the logger's name, of a renamed one the name that the wordings have."""
    last = F.substring_index(LOGGER, ".", -1)
    renamed = F.create_map(*[F.lit(name) for pair in SAME_LOGGER.items() for name in pair])
    return F.coalesce(F.try_element_at(renamed, last), last)


@cache
def _table() -> str:
    """The wordings as an SQL literal."""
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


def _wording() -> Column:
    """The first wording that matches. The cheap tests come first: most lines fail those."""
    matching = F.filter(
        F.expr(_table()),
        lambda w: (
            (w["logger"] == F.col(LOGGER_CLASS))
            & F.col(MESSAGE).contains(w["cue"])
            & F.rlike(F.col(MESSAGE), w["regex"])
        ),
    )
    return F.when(_is_known_logger() & ~_is_debug() & F.col(MESSAGE).rlike(GENERAL_CUES), F.get(matching, F.lit(0)))


def _told() -> Column:
    wording = F.col(WORDING)
    # Of the functions that give a group, only this one takes an expression from a column; the whole line is one match.
    matches = F.transform(
        wording["fields"], lambda _, group: F.regexp_extract_all(MESSAGE, wording["regex"], group + 1)
    )
    values = F.transform(matches, lambda match: F.get(match, F.lit(0)))
    return F.map_from_arrays(wording["fields"], values)


def _is_known_logger() -> Column:
    return F.col(LOGGER_CLASS).isin(*LOGGERS)


def _is_debug() -> Column:
    return F.col(LEVEL).isin("DEBUG", "TRACE")


def _has_cue() -> Column:
    """The line is of a kind that is wanted, whole or cut: its logger may be what is missing, or its time stamp."""
    is_headless = F.col(LEVEL) == ""
    is_tail = F.col(C.LINE_TEXT).rlike(r"\((?:state\.change\.logger|(?:[\w-]+\.)+(?:" + "|".join(LOGGERS) + r"))\)$")
    is_cut = F.when(is_headless, is_tail).otherwise(F.col(LOGGER) == "")
    return ~_is_debug() & (_is_known_logger() | is_cut) & F.col(C.LINE_TEXT).rlike(CUES)


def _setting() -> Column:
    name = F.regexp_extract(C.LINE_TEXT, CONFIG_LINE, 1)
    return F.when((F.col(LEVEL) == "") & name.isin(*BROKER_SETTINGS), name)


def _broker_id() -> Column:
    """The folder's broker; where the file is in none, the line's own word."""
    stated = F.coalesce(text("broker").try_cast("int"), F.lit(C.NO_REPLICA))
    return F.when(F.col(C.BROKER_ID) >= 0, F.col(C.BROKER_ID)).otherwise(stated)


def _verdict() -> Column:
    """The outcome of a line and, unless it landed, why: the first that applies."""
    wording, is_stamped = F.col(WORDING), F.col(LEVEL) != ""
    is_worded = wording.isNotNull()
    return (
        F.when(is_worded & wording["ignored"].isNotNull(), outcomes.ignored(wording["ignored"]))
        .when(is_worded & F.col(C.EVENT_TIME).isNull(), outcomes.rejected("no such time"))
        .when(is_worded & (text("topic") == METADATA_TOPIC), outcomes.ignored("metadata partition"))
        .when(is_worded & _is_out_of_range(), outcomes.rejected("number out of range"))
        .when(is_worded & _lacks_fetchers(), outcomes.rejected("unreadable fetchers"))
        .when(is_worded & _lacks_broker(), outcomes.rejected("no broker named, in a file of several"))
        .when(is_worded & _lacks_settings(), outcomes.ignored("no setting that bears on replication"))
        .when(is_worded | F.col(SETTING).isNotNull(), outcomes.landed())
        .when(F.col(HAS_CUE) & is_stamped, outcomes.rejected("cut line or unknown wording"))
        .when(F.col(HAS_CUE), outcomes.rejected("no time stamp"))
        .when(is_stamped, _verdict_of_other())
        .when(F.col(C.LINE_TEXT).rlike(outcomes.NOT_TEXT), outcomes.rejected("not text"))
        .otherwise(outcomes.ignored(outcomes.CONTINUATION))
    )


def _verdict_of_other() -> Column:
    has_one_line_each = F.col(C.KIND) == FileKind.STATE_CHANGE_LOG.value
    return (
        F.when(_is_debug(), outcomes.ignored("debug line"))
        .when((F.col(LOGGER) == "") & has_one_line_each, outcomes.rejected("cut line or unknown wording"))
        .when(F.col(LOGGER) == "", outcomes.ignored("first line of a message"))
        .when(_is_known_logger(), outcomes.ignored(F.concat(F.lit("other message of "), F.col(LOGGER))))
        .otherwise(outcomes.ignored("other logger"))
    )


def _is_out_of_range() -> Column:
    """Some number of the line has too many digits to be one."""
    offsets = F.exists(F.array(*[F.lit(name) for name in OFFSETS]), lambda name: _overflows(name, "bigint"))
    ids = F.exists(F.array(*[F.lit(name) for name in IDS]), lambda name: _overflows(name, "int"))
    return offsets | ids


def _overflows(field: Column, number_type: str) -> Column:
    digits = F.nullif(F.try_element_at(F.col(TOLD), field), F.lit(""))
    return digits.isNotNull() & digits.try_cast(number_type).isNull()


def _lacks_fetchers() -> Column:
    starts = text("fetchers")
    return starts.isNotNull() & ~starts.rlike(FETCHER_STARTS) & ~starts.rlike(FETCHER_STARTS_BEFORE_2_7)


def _lacks_broker() -> Column:
    """The line tells of a partition at a broker that neither it nor its file names."""
    wording = F.col(WORDING)
    tells = wording["change"].isNotNull() | (F.size(wording["states"]) > 0)
    return (F.col(C.BROKER_ID) < 0) & tells & F.array_contains(wording["fields"], "partition")


def _lacks_settings() -> Column:
    """A log is created with some overrides, maybe none wanted here; a change of settings always tells all."""
    is_wanted = text("settings").rlike("|".join(map(re.escape, TOPIC_SETTINGS)))
    return (F.col(WORDING)["name"] == "log created") & ~F.coalesce(is_wanted, F.lit(False))
