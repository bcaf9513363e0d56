"""Lines within JSON, of collectors and of log4j's JSON layouts: each is read as its broker would have written it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from schemas import columns as C
from schemas.files import FileKind
from sources import broker_log, request_log
from sources.broker_settings import setting_rows
from sources.files import discover
from sources.json_lines import bytes_unpacked
from sources.log4j import in_kafkas_layout
from tests.log_lines import by_line, lines_of, stamped, verdicts
from tests.strategies import DRAWN

Wrap = Callable[[str, str, str], dict[str, Any]]
"""An object of a message, a logger and a level, all of one moment."""

LOGGER, MESSAGE = "kafka.cluster.Partition", "[Partition t-0 broker=2] ISR updated to 2,3  and version updated to 9"
AT = datetime(2026, 11, 21, 10, 36, 42, 604000)  # noqa: DTZ001 - as the session in UTC shows it
ISO, MILLIS = "2026-11-21T10:36:42.604Z", 1795257402604


def whole(field: str, **others: object) -> Wrap:
    """Kafka's own line, in a field among others."""
    return lambda message, logger, level: {**others, field: stamped(message, logger, level)}


def within(field: str, inner: Wrap, *, as_text: bool = False) -> Wrap:
    """An object in a field of another, itself or as text."""

    def wrap(*told: str) -> dict[str, Any]:
        return {"id": 7, field: json.dumps(inner(*told)) + "\n" if as_text else inner(*told)}

    return wrap


ECS: Wrap = lambda message, logger, level: {  # noqa: E731
    "@timestamp": ISO, "log.level": level, "message": message, "ecs.version": "1.2.0", "log.logger": logger,
}  # fmt: skip
NESTED_ECS: Wrap = lambda message, logger, level: {  # noqa: E731
    "@timestamp": ISO, "log": {"level": level, "logger": logger}, "message": message,
}  # fmt: skip
JSON_LAYOUT: Wrap = lambda message, logger, level: {  # noqa: E731
    "instant": {"epochSecond": MILLIS // 1000, "nanoOfSecond": 604_000_000}, "thread": "main", "level": level,
    "loggerName": logger, "message": message, "endOfBatch": False, "threadId": 1,
}  # fmt: skip
WRAPS: dict[str, Wrap] = {
    "docker": lambda *told: {"log": stamped(*told) + "\n", "stream": "stdout", "time": "2026-11-21T10:36:43.1Z"},
    "Filebeat": whole("message", **{"@timestamp": "2026-11-21T10:36:49.001Z", "log": {"offset": 7}, "host": {}}),
    "Loki": whole("line", labels={"pod": "kafka-0"}, timestamp="1795257402999000000"),
    "journald": whole("MESSAGE", _HOSTNAME="host", PRIORITY="6"),
    "Google Cloud": whole("textPayload", severity="INFO", timestamp=ISO),
    "CloudWatch": whole("message", timestamp=MILLIS + 9000),
    "Elasticsearch": within("_source", whole("message")),
    "Splunk": within("result", whole("_raw", _time="1795257402.604")),
    "ECS": ECS,
    "nested ECS": NESTED_ECS,
    "JsonLayout": JSON_LAYOUT,
    "JsonLayout before 2.11": lambda message, logger, level: {
        "timeMillis": MILLIS, "level": level, "loggerName": logger, "message": message,
    },
    "Logstash": lambda message, logger, level: {
        "@version": 1, "@timestamp": "2026-11-21T11:36:42.604+0100", "level": level, "logger_name": logger,
        "message": message,
    },
    "local time": lambda message, logger, level: {
        "timestamp": "2026-11-21 10:36:42,604", "level": level, "logger": logger, "message": message,
    },
    "a number of microseconds": lambda *told: {**ECS(*told), "@timestamp": MILLIS * 1000 + 7},
    "a number of nanoseconds": lambda *told: {**ECS(*told), "@timestamp": str(MILLIS * 1_000_000 + 7)},
    "nanoseconds": lambda *told: {**ECS(*told), "@timestamp": "2026-11-21T10:36:42.604000123Z"},
    "docker of ECS": within("log", ECS, as_text=True),
    "Elasticsearch of docker of JsonLayout": within("_source", within("log", JSON_LAYOUT, as_text=True)),
}  # fmt: skip


def lines(*told: str) -> list[str]:
    """The same in each way."""
    return [json.dumps(wrap(*told)) for wrap in WRAPS.values()]


@pytest.mark.spark
def test_each_is_the_line_of_its_broker(spark: SparkSession) -> None:
    """With its own time and not that at which it was collected."""
    behind = ["2026-11-21T10:36:43.604123456Z stdout F ", "kafka-1  | ", "Nov 21 10:36:43 host kafka[123]: "]
    texts = [*lines(MESSAGE, LOGGER, "INFO"), *[before + json.dumps(ECS(MESSAGE, LOGGER, "INFO")) for before in behind]]
    parsed = broker_log.parse(in_kafkas_layout(lines_of(spark, texts), None, has_objects=True), "UTC")

    names = [*WRAPS, *behind]
    found = zip(names, by_line(parsed, "outcome", C.EVENT_TIME), strict=True)
    assert dict(found) == dict.fromkeys(names, ("landed", AT))


@pytest.mark.spark
def test_a_request_is_within_as_a_text(spark: SparkSession) -> None:
    """Its own JSON is escaped there; to the same row as the line itself."""
    request = (
        'Completed request:{"requestHeader":{"requestApiKey":3,"requestApiVersion":1,"correlationId":1,"clientId":"a",'
        '"requestApiKeyName":"METADATA"},"request":{},"response":{},"totalTimeMs":1.5}'
    )
    texts = [stamped(request, "kafka.request.logger", "DEBUG"), *lines(request, "kafka.request.logger", "DEBUG")]
    read = in_kafkas_layout(lines_of(spark, texts, FileKind.REQUEST_LOG), None, has_objects=True)
    rows = by_line(request_log.parse(read, "UTC"), "outcome", C.REASON, "line_time", "api_name")

    assert set(rows) == {rows[0]}
    assert rows[0][-2:] == (AT, "METADATA")


@pytest.mark.spark
def test_what_is_no_line_of_a_broker_stays_as_it_is(spark: SparkSession) -> None:
    """One that was cut, one without a text, and what is no object."""
    texts = [json.dumps(ECS(MESSAGE, LOGGER, "INFO"))[:-9], '{"level":"INFO"}', '{"message":null}', "{", "[]", ""]
    read = in_kafkas_layout(lines_of(spark, texts), None, has_objects=True)

    assert [text for (text,) in by_line(read, C.LINE_TEXT)] == texts
    assert [bytes_unpacked(text.encode()).decode() for text in texts] == texts


@pytest.mark.spark
def test_a_block_of_settings_in_one_message(spark: SparkSession) -> None:
    """A collector joins what belongs together; the driver reads its first line alone."""
    block = "KafkaConfig values: \n\tadvertised.listeners = null\n\tmin.insync.replicas = 2\n\tnode.id = 2\n"
    texts = lines(f"{block}\treplica.lag.time.max.ms = 3000\n", "kafka.server.KafkaConfig", "INFO")
    parsed = broker_log.parse(in_kafkas_layout(lines_of(spark, texts), None, has_objects=True), "UTC").cache()

    assert set(verdicts(parsed)) == {"landed"}
    assert by_line(setting_rows(parsed), C.NAME, C.VALUE, C.EVENT_TIME) == [
        ("min.insync.replicas", "2", AT), ("replica.lag.time.max.ms", "3000", AT),
    ] * len(texts)  # fmt: skip
    assert all(b"KafkaConfig values" in bytes_unpacked(text.encode()) for text in texts)


@pytest.mark.spark
def test_a_number_that_is_no_time_ends_nothing(spark: SparkSession) -> None:
    """Nor does a time that no calendar has; the line says what it says, at no time."""
    numbers = (1e30, -1e30, "NaN", "Infinity", 2**70)
    texts = [json.dumps({**ECS(MESSAGE, LOGGER, "INFO"), "@timestamp": number}) for number in numbers]
    far = json.dumps({**JSON_LAYOUT(MESSAGE, LOGGER, "INFO"), "instant": {"epochSecond": 1e18, "nanoOfSecond": 0}})
    parsed = broker_log.parse(in_kafkas_layout(lines_of(spark, [*texts, far]), None, has_objects=True), "UTC")

    assert by_line(parsed, "outcome", C.EVENT_TIME) == [("rejected", None)] * 5 + [("ignored", None)]
    assert all(MESSAGE.encode() in bytes_unpacked(text.encode()) for text in [*texts, far])


@pytest.mark.parametrize("name", WRAPS)
def test_a_file_of_them_is_known(tmp_path: Path, name: str) -> None:
    """By what is in them, whatever its name: whose it is, and when."""
    text = json.dumps(WRAPS[name](MESSAGE, LOGGER, "INFO"))
    (tmp_path / "export.json").write_text(f"{text}\n{text[:30]}\n", encoding="utf-8")
    (file,) = discover(tmp_path)

    minutes = {minute.replace("T", " ") for minute in file.minutes}
    assert (file.kind, file.broker_id, file.has_objects) == (FileKind.SERVER_LOG, 2, True)
    assert minutes == {"2026-11-21 11:36" if name == "Logstash" else "2026-11-21 10:36"}


@DRAWN
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=9),
                    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
                        st.sampled_from(["message", "log", "instant", "timestamp", "level", "_source", "a"]), inner),
                    max_leaves=6))  # fmt: skip
def test_no_object_is_an_error(value: object) -> None:
    """Whatever it holds."""
    assert isinstance(bytes_unpacked(json.dumps({"log": value, "message": value}).encode()), bytes)


def test_brackets_without_end_are_no_error() -> None:
    """Python's reader gives up a thousand deep."""
    line = b'{"message":' + b"[" * 100_000

    assert bytes_unpacked(line) == line
