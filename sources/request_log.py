"""The request log (`kafka.request.logger` at DEBUG): a line of text to the request, its response and its times.

    [2026-11-21 10:33:23,357] DEBUG Completed request:{"isForwarded":false,…} (kafka.request.logger)

A line is written after the response was sent, in the order of completion and not of work. Going back from it:
`line_time - sendTimeMs - responseQueueTimeMs` is when the response was complete, `line_time - totalTimeMs +
requestQueueTimeMs` when a handler began the work, which took `localTimeMs`. Before 2.8 there is no JSON: `request_text`
makes it.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources import log_lines, outcomes, request_text
from sources.request_fields import missing_field
from sources.request_schema import CORRUPT, PRODUCE, READ, REQUEST_LINE
from sources.request_verdict import REQUEST_LOGGER, verdict

LINE_TIME = "line_time"
"""timestamp: when the line was written."""
TOTAL_TIME_US = "total_time_us"
"""bigint: microseconds from when the request came to when its response was sent."""
BESIDES_THE_WORK = ("request_queue_time_us", "response_queue_time_us", "send_time_us")
"""bigint: how long of it the request, and then the response, only waited or was sent."""
COMPLETED = "Completed request:"
API_NAME_KEY, API_NAME = '"requestApiKeyName":"', r'^([A-Z_0-9]{1,60})"'
NO_RESPONSE = '"response":""'
"""How acks=0 is logged; an empty string is no struct."""
SIGN_OF_IT = NO_RESPONSE[4:]
"""Looked for in each produce: Spark compares wherever a text begins alike, and few letters of a request are a `p`."""

PREFIX_LENGTH = 300
"""Characters that hold a line's time stamp, level and thread. A pattern is not to be led over all of a long line."""
NAME_LENGTH = 64
"""Characters that hold an API's name and the quote behind it."""

ZERO_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""`Uuid.ZERO_UUID`: a topic without an id."""


def parse(lines: DataFrame, timezone: str) -> DataFrame:
    """Each line with its outcome and reason; the request, response and times of those that landed."""
    dissected = lines.withColumn("before", F.substring_index(C.LINE_TEXT, COMPLETED, 1)).select(
        *outcomes.LINE_COLUMNS,
        log_lines.instant(F.regexp_extract(_prefix(), log_lines.STAMPED, 1), timezone).alias(LINE_TIME),
        _behind(C.LINE_TEXT, COMPLETED).alias("json"),
    )
    return (
        dissected.withColumn("before", F.substring_index("json", API_NAME_KEY, 1))
        .withColumn("api_name", F.coalesce(_api_name(), F.lit("")))
        .withColumn("line", _parsed_json())
        .withColumn("missing", missing_field(F.col("line")))
        .transform(outcomes.with_outcome, verdict())
        .withColumn(C.LINE_TEXT, outcomes.text_of_rejected())  # kept with all the rest, it would be half of it
        .select(*outcomes.OUTCOME_COLUMNS, LINE_TIME, "api_name", *_fields())
    )


def is_of_requests(text: Column) -> Column:
    """Whether a line among those of all loggers is the request log's: a completed request, or what is left of one."""
    return text.contains(COMPLETED) | text.contains(REQUEST_LOGGER) | text.contains(API_NAME_KEY)


def landed(parsed: DataFrame, api_name: str) -> DataFrame:
    """The usable lines of one API."""
    return outcomes.having(parsed, outcomes.LANDED).where(F.col("api_name") == api_name)


def event_time() -> Column:
    """When a handler began the work: what it did, it did within `localTimeMs` from here."""
    return _before_line_time(F.col(TOTAL_TIME_US) - F.col("request_queue_time_us"))


def response_time() -> Column:
    """When the response was complete: what it says was true no later."""
    return _before_line_time(F.col("send_time_us") + F.col("response_queue_time_us"))


def topic_id(column: Column) -> Column:
    """A request's topic id; empty where there is none."""
    return F.coalesce(F.nullif(column, F.lit(ZERO_TOPIC_ID)), F.lit(""))


def _before_line_time(microseconds: Column) -> Column:
    return F.timestamp_micros(F.unix_micros(F.col(LINE_TIME)) - microseconds)


def _prefix() -> Column:
    """What stands before a completed request, or where there is none might."""
    return F.when(_is_found(C.LINE_TEXT), F.col("before")).otherwise(F.left(C.LINE_TEXT, F.lit(PREFIX_LENGTH)))


def _behind(text: str, words: str, length: int = 2**31 - 1) -> Column:
    """So many bytes of what follows `words` in the text, of which "before" is what precedes them; NULL without them.

    By bytes: of a text Spark first counts all characters (`UTF8String.substringSQL`), a microsecond of a line.
    """
    begin = F.octet_length("before") + len(words) + 1
    part = F.substring(F.col(text).cast("binary"), begin, F.lit(length)).cast("string")
    return F.when(_is_found(text), part)


def _is_found(text: str) -> Column:
    return F.octet_length("before") < F.octet_length(text)


def _is_text() -> Column:
    return F.col("json").startswith(request_text.BEGINS)


def _api_name() -> Column:
    """The API's name, empty or NULL where the line was cut before it."""
    in_json = F.regexp_extract(_behind("json", API_NAME_KEY, NAME_LENGTH), API_NAME, 1)
    return F.when(_is_text(), F.regexp_extract("json", request_text.API_NAME, 1)).otherwise(in_json)


def _parsed_json() -> Column:
    """The JSON of the APIs that are read, else NULL; the logger's name behind it is no part of it."""
    with_null = F.replace(F.col("json"), F.lit(NO_RESPONSE), F.lit('"response":null'))
    complete = (
        # A text that another line was written into has no second place where it must stop being one.
        F.when(_is_text() & F.col("json").contains(COMPLETED), F.lit("{"))
        .when(_is_text(), request_text.as_json(F.col("json")))
        .when((F.col("api_name") == PRODUCE) & F.col("json").contains(SIGN_OF_IT), with_null)
        .otherwise(F.col("json"))
    )
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    return F.when(F.col("api_name").isin(*READ), F.from_json(complete, REQUEST_LINE, options))


def _fields() -> list[Column]:
    """The fields that every line has: who asked, and how long each stage took."""
    header, line = F.col("line.requestHeader"), F.col("line")
    times = {
        TOTAL_TIME_US: "totalTimeMs",
        "request_queue_time_us": "requestQueueTimeMs",
        C.LOCAL_TIME_US: "localTimeMs",
        "remote_time_us": "remoteTimeMs",
        "response_queue_time_us": "responseQueueTimeMs",
        "send_time_us": "sendTimeMs",
    }
    return [
        header["requestApiVersion"].alias("api_version"),
        F.coalesce(header["clientId"], F.lit("")).alias(C.CLIENT_ID),
        *[F.round(line[ms] * 1000).try_cast("bigint").alias(us) for us, ms in times.items()],
        line["request"].alias("request"),
        line["response"].alias("response"),
    ]
