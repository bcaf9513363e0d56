"""What becomes of a line of a broker's log, and why: it landed, it tells nothing, or it can not be used."""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.files import FileKind
from sources import outcomes
from sources.line_parts import FETCHER_STARTS, FETCHER_STARTS_BEFORE_2_7, METADATA_TOPIC, TOPIC_SETTINGS
from sources.line_patterns_of_server_log import NOTHING_CUT, SETTINGS_OF_TOPIC
from sources.log_lines import LEVEL, LOGGER
from sources.worded import HAS_CUE, SETTING, TOLD, WORDING, is_debug, is_known_logger, number, text
from sources.wording import IDS, OFFSETS


def verdict() -> Column:
    """The outcome of a line and, unless it landed, why: the first that applies."""
    wording, is_stamped = F.col(WORDING), F.col(LEVEL) != ""
    is_worded = wording.isNotNull()
    return (
        F.when(is_worded & wording["ignored"].isNotNull(), outcomes.ignored(wording["ignored"]))
        .when(is_worded & F.col(C.EVENT_TIME).isNull(), outcomes.rejected("no such time"))
        .when(is_worded & (text("topic") == METADATA_TOPIC), outcomes.ignored("metadata partition"))
        .when(is_worded & _is_out_of_range(), outcomes.rejected(outcomes.OUT_OF_RANGE))
        .when(is_worded & _cuts_nothing(), outcomes.ignored(NOTHING_CUT))
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
        F.when(is_debug(), outcomes.ignored("debug line"))
        .when((F.col(LOGGER) == "") & has_one_line_each, outcomes.rejected("cut line or unknown wording"))
        .when(F.col(LOGGER) == "", outcomes.ignored("first line of a message"))
        .when(is_known_logger(), outcomes.ignored(F.concat(F.lit("other message of "), F.col(LOGGER))))
        .otherwise(outcomes.ignored("other logger"))
    )


def _is_out_of_range() -> Column:
    """Some number of the line has too many digits, is less than Kafka's least, or an offset that none follows."""
    offsets = F.exists(F.array(*[F.lit(name) for name in OFFSETS]), lambda name: _is_none(name, "bigint", -1))
    ids = F.exists(F.array(*[F.lit(name) for name in IDS]), lambda name: _is_none(name, "int", -2))
    return offsets | ids


def _is_none(field: Column, number_type: str, least: int) -> Column:
    digits = F.nullif(F.try_element_at(F.col(TOLD), field), F.lit(""))
    number = digits.try_cast(number_type)
    return digits.isNotNull() & F.coalesce((number < least) | (number == outcomes.NONE_FOLLOWS), F.lit(True))


def _cuts_nothing() -> Column:
    """A log that reaches at least as far as the leader's begins goes on from its own end."""
    return F.coalesce(number("local_end") >= number("offset"), F.lit(False))


def _lacks_fetchers() -> Column:
    starts = text("fetchers")
    return starts.isNotNull() & ~starts.rlike(FETCHER_STARTS) & ~starts.rlike(FETCHER_STARTS_BEFORE_2_7)


def _lacks_broker() -> Column:
    """The line tells of a partition at a broker that neither it nor its file names."""
    wording = F.col(WORDING)
    tells = wording["change"].isNotNull() | (F.size(wording["states"]) > 0)
    return (F.col(C.BROKER_ID) < 0) & tells & F.array_contains(wording["fields"], "partition")


def _lacks_settings() -> Column:
    """A line tells some overrides, maybe none wanted here; a change of a topic's settings always tells all."""
    wording = F.col(WORDING)
    is_wanted = text("settings").rlike("|".join(map(re.escape, TOPIC_SETTINGS)))
    tells_some = F.array_contains(wording["fields"], "settings") & (wording["name"] != SETTINGS_OF_TOPIC)
    return tells_some & ~F.coalesce(is_wanted, F.lit(False))
