"""state-change.log and server.log: a line of text to what it says. Its logger matters, not which log it is in.

The wordings are data (sources/line_patterns.py) and stay data here: a literal array that each line is looked up in, and
not a chain of CASEs as long as the table, which Spark can neither compile nor plan in decent time. Rows come of the
result in sources/state_change_log.py (leaders and ISRs), server_log.py (offsets) and broker_settings.py.
"""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources import outcomes
from sources.broker_verdict import verdict
from sources.json_lines import BREAK
from sources.line_parts import BROKER_SETTINGS, CONFIG_HEADER, CONFIG_LINE
from sources.line_patterns import SAME_LOGGER, WORDINGS
from sources.log_lines import LEVEL, LOGGER, MESSAGE, with_prefix
from sources.worded import (
    HAS_CUE,
    LOGGER_CLASS,
    LOGGERS,
    SETTING,
    TOLD,
    WORDING,
    is_debug,
    is_known_logger,
    text,
    wordings,
)

CUES = "|".join(sorted({re.escape(wording.cue) for wording in WORDINGS if wording.is_cue_specific}))
GENERAL_CUES = "|".join(sorted({re.escape(wording.cue) for wording in WORDINGS}))


def parse(lines: DataFrame, timezone: str) -> DataFrame:
    """Each line with its outcome and reason, its time, its wording and what that tells."""
    prefixed = with_prefix(lines, timezone).withColumn(LOGGER_CLASS, _logger_class())
    worded = prefixed.withColumns({WORDING: _wording(), HAS_CUE: _has_cue(), SETTING: _setting()})
    heard = worded.withColumn(TOLD, _told())
    attributed = heard.withColumn(C.BROKER_ID, _broker_id())
    judged = outcomes.with_outcome(attributed, verdict())
    return judged.select(*outcomes.OUTCOME_COLUMNS, C.EVENT_TIME, MESSAGE, WORDING, TOLD, SETTING)


def _logger_class() -> Column:
    """The last part of the logger's name, of a renamed one the name that the wordings have."""
    last = F.substring_index(LOGGER, ".", -1)
    renamed = F.create_map(*[F.lit(name) for pair in SAME_LOGGER.items() for name in pair])
    return F.coalesce(F.try_element_at(renamed, last), last)


def _wording() -> Column:
    """The first wording that matches. The cheap tests come first: most lines fail those."""
    matching = F.filter(
        F.expr(wordings()),
        lambda w: (
            (w["logger"] == F.col(LOGGER_CLASS))
            & F.col(MESSAGE).contains(w["cue"])
            & F.rlike(F.col(MESSAGE), w["regex"])
        ),
    )
    return F.when(is_known_logger() & ~is_debug() & F.col(MESSAGE).rlike(GENERAL_CUES), F.get(matching, F.lit(0)))


def _told() -> Column:
    wording = F.col(WORDING)
    # Of the functions that give a group, only this one takes an expression from a column; the whole line is one match.
    matches = F.transform(
        wording["fields"], lambda _, group: F.regexp_extract_all(MESSAGE, wording["regex"], group + 1)
    )
    values = F.transform(matches, lambda match: F.get(match, F.lit(0)))
    return F.map_from_arrays(wording["fields"], values)


def _has_cue() -> Column:
    """The line is of a kind that is wanted, whole or cut: its logger may be what is missing, or its time stamp."""
    is_headless = F.col(LEVEL) == ""
    is_tail = F.col(C.LINE_TEXT).rlike(r"\((?:state\.change\.logger|(?:[\w-]+\.)+(?:" + "|".join(LOGGERS) + r"))\)$")
    is_cut = F.when(is_headless, is_tail).otherwise(F.col(LOGGER) == "")
    return ~is_debug() & (is_known_logger() | is_cut) & F.col(C.LINE_TEXT).rlike(CUES)


def _setting() -> Column:
    """The setting that the line is of; of a message with a whole block of them its header."""
    name = F.regexp_extract(C.LINE_TEXT, CONFIG_LINE, 1)
    is_block = F.col(MESSAGE).contains(CONFIG_HEADER) & F.col(MESSAGE).contains(BREAK)
    return F.when((F.col(LEVEL) == "") & name.isin(*BROKER_SETTINGS), name).when(is_block, CONFIG_HEADER)


def _broker_id() -> Column:
    """The folder's broker; where the file is in none, the line's own word."""
    stated = F.coalesce(text("broker").try_cast("int"), F.lit(C.NO_REPLICA))
    return F.when(F.col(C.BROKER_ID) >= 0, F.col(C.BROKER_ID)).otherwise(stated)
