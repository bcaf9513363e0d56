"""Lines as collectors of logs keep them: what they put before is taken off, and known layouts need no naming."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.delivery import delivery_of
from schemas import columns as C
from schemas.files import FileKind
from sources import broker_log, request_log
from sources.files import discover
from sources.log4j import in_kafkas_layout
from tests.log_lines import by_line, lines_of, stamped, verdicts

ISR = "[Partition t-0 broker=2] ISR updated to 2,3  and version updated to 9"
LINE = stamped(ISR, "kafka.cluster.Partition")
TRACE = "\tat kafka.Kafka$.main(Kafka.scala:1)"
SHIPPED = [
    "2026-11-21T10:36:42.604123456Z ",
    "2026-11-21T10:36:42.604123456Z stdout F ",
    "kafka-1  | ",
    "Nov 21 10:36:42 host kafka[123]: ",
    "",
    "2026-11-21T10:36:43.604123456+01:00 stdout F ",
    "2026-11-21T10:36:43.6041Z stderr F ",
    "2026-11-21T10:36:43.604123456-05:00 ",
    "[pod/kafka-0/kafka] ",
    "kafka-1  | 2026-11-21T10:36:43.604123456Z ",
    "<30>Nov  1 10:36:43.604 host kafka[123]: ",
    "2026-11-21T10:36:43+0100 host kafka[123]: ",
    "2026-11-21T10:36:43.604123+01:00 host kafka-server-start.sh[123]: ",
]
BEFORE_A_TIME = ["2026-11-21T10:36:43.60412Z ", "2026-11-21T10:36:43+02:00 ", "Nov 21 10:36:43 host kafka: "]
"""What might be the time of the broker, or a word of its message."""
STRIMZI_4 = f"2026-11-21 10:36:42 INFO  [AlterPartition-0] Partition:66 - {ISR}"
AT = datetime(2026, 11, 21, 10, 36, 42, 604000)  # noqa: DTZ001 - as the session in UTC shows it


@pytest.mark.spark
def test_what_a_collector_put_before_is_no_part_of_the_line(spark: SparkSession) -> None:
    """Nor of what goes on on the next one."""
    lines = [before + text for before in SHIPPED for text in (LINE, TRACE, "\tmin.insync.replicas = 2")]
    parsed = broker_log.parse(in_kafkas_layout(lines_of(spark, lines), None), "UTC")

    assert verdicts(parsed) == ["landed", "ignored: continuation of a message", "landed"] * len(SHIPPED)
    assert by_line(parsed, C.EVENT_TIME)[::3] == [(AT,)] * len(SHIPPED)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("line", "at"),
    [
        (STRIMZI_4, AT.replace(microsecond=0)),
        (LINE.replace("42,604", "42,604+0200"), AT.replace(hour=8)),
        (LINE.replace(" 10:", "T10:").replace("42,604", "42.604Z"), AT),
        (LINE.replace("42,604", "42"), AT.replace(microsecond=0, hour=9)),
    ],
)
def test_a_line_is_of_its_time(spark: SparkSession, line: str, at: datetime) -> None:
    """By the zone that it names, else by that of the delivery; to the second, where it says no more."""
    zone = "UTC" if line == STRIMZI_4 else "+01:00"
    parsed = broker_log.parse(in_kafkas_layout(lines_of(spark, [line]), None), zone)

    assert verdicts(parsed) == ["landed"]
    assert by_line(parsed, C.EVENT_TIME) == [(at,)]


@pytest.mark.spark
def test_a_line_behind_a_time_is_of_its_own_time(spark: SparkSession) -> None:
    """A broker's own time with a `T` and a zone is no collector's."""
    lines = [
        *[before + LINE for before in BEFORE_A_TIME],
        LINE.replace(" 10:", "T10:").replace("42,604", "42.604+00:00"),
    ]
    parsed = broker_log.parse(in_kafkas_layout(lines_of(spark, lines), None), "UTC")

    assert by_line(parsed, "outcome", C.EVENT_TIME) == [("landed", AT)] * len(lines)


@pytest.mark.spark
def test_a_request_is_read_behind_a_prefix(spark: SparkSession) -> None:
    """Its line is not asked for a layout where it is in Kafka's own."""
    request = stamped('Completed request:{"requestHeader":{"requestApiKey":3}}', "kafka.request.logger", "DEBUG")
    lines = lines_of(spark, [before + request for before in SHIPPED], FileKind.REQUEST_LOG)
    outcomes = verdicts(request_log.parse(in_kafkas_layout(lines, None), "UTC"))

    assert len(set(outcomes)) == 1
    assert "time stamp" not in outcomes[0]


@pytest.mark.parametrize("before", SHIPPED)
def test_a_file_is_known_behind_a_prefix(tmp_path: Path, before: str) -> None:
    """By its lines, whatever its name: whose it is, and when."""
    (tmp_path / "some.txt").write_text(f"{before}{LINE}\n{before}{TRACE}\n", encoding="utf-8")
    (file,) = discover(tmp_path)

    assert (file.kind, file.broker_id, file.minutes) == (FileKind.SERVER_LOG, 2, {"2026-11-21 10:36"})


def test_a_log_in_no_known_layout_is_not_taken_for_continuations(tmp_path: Path) -> None:
    """It is read for what can be had of it, and says what to do."""
    (tmp_path / "server.log").write_text(f"21/11/2026 10:36:42 INFO Partition - {ISR}\n", encoding="utf-8")
    (tmp_path / "state-change.log").write_text(LINE + "\n", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "server.log").write_text("", encoding="utf-8")
    delivery = delivery_of(
        tmp_path,
        cluster_id=None,
        capture_id=None,
        timezone="UTC",
        layout=None,
        redact=frozenset(),
        redact_key_file=None,
    )
    problems = {file.name: file.problem for file in delivery.files}

    assert "--log-pattern" in str(problems.pop("server.log"))
    assert set(problems.values()) == {None}
