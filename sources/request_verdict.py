"""What becomes of a line of the request log, and why: it landed, it tells nothing, or it can not be used."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from schemas import columns as C
from sources import outcomes
from sources.line_parts import METADATA_TOPIC
from sources.request_fields import is_out_of_range
from sources.request_schema import CORRUPT

REQUEST_LOGGER = "(kafka.request.logger)"

TORN_REQUEST = r'^\[?20\d\d-|":'
"""What an unstamped line has that is of a request: what a line begins with, or a name of a field."""

METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def verdict() -> Column:
    """The outcome of a line and, unless it landed, why: the first that applies."""
    text, api_name, line, missing = F.col(C.LINE_TEXT), F.col("api_name"), F.col("line"), F.col("missing")
    return (
        F.when(F.trim(text) == "", outcomes.ignored("blank line"))
        .when(F.col("line_time").isNull(), _verdict_of_unstamped())
        .when(F.col("json").isNull(), outcomes.ignored("not a completed request"))
        .when(api_name == "", outcomes.rejected("cut line"))
        .when(line.isNull(), outcomes.ignored(F.concat(F.lit("other request: "), api_name)))
        .when(line[CORRUPT].isNotNull(), outcomes.rejected("cut line"))
        .when(missing.isNotNull(), outcomes.rejected(F.concat(F.lit("missing field: "), missing)))
        .when(is_out_of_range(line), outcomes.rejected(outcomes.OUT_OF_RANGE))
        .when(F.coalesce(line["response"]["errorCode"], F.lit(0)) != 0, outcomes.ignored(_refusal(line)))
        .when(_is_of_metadata_topic(line), outcomes.ignored(f"fetch of {METADATA_TOPIC}"))
        .otherwise(outcomes.landed())
    )


def _verdict_of_unstamped() -> Column:
    """A stack trace tells nothing; what is left of a request without its beginning is a loss."""
    text = F.col(C.LINE_TEXT)
    is_torn = F.col("json").isNotNull() | text.contains(REQUEST_LOGGER) | text.rlike(TORN_REQUEST)
    return (
        F.when(is_torn, outcomes.rejected("no time stamp"))
        .when(text.rlike(outcomes.NOT_TEXT), outcomes.rejected("not text"))
        .otherwise(outcomes.ignored(outcomes.CONTINUATION))
    )


def _refusal(line: Column) -> Column:
    """A request refused as a whole (a bad fetch session, a stale controller): no partition was touched."""
    return F.concat(F.lit("refused with error "), line["response"]["errorCode"].cast("string"))


def _is_of_metadata_topic(line: Column) -> Column:
    topic = F.get(line["request"]["topics"], F.lit(0))
    return F.coalesce((topic["topic"] == METADATA_TOPIC) | (topic["topicId"] == METADATA_TOPIC_ID), F.lit(False))
