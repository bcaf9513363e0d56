"""One file of several brokers: each line is of the broker whose stream it is in, requests too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.files import FileKind
from sources import broker_log
from sources.broker_settings import setting_rows
from sources.files import discover
from sources.lines import read_lines
from sources.log4j import in_kafkas_layout
from sources.streams import with_brokers_of_streams
from tests.log_lines import by_line, stamped

REQUEST = stamped('Completed request:{"requestHeader":{"requestApiKey":3}}', "kafka.request.logger", "DEBUG")
OTHER = stamped("Awaiting socket connections on 0.0.0.0:9092.", "kafka.network.DataPlaneAcceptor")
HEADER, SETTING = "[2026-11-21 10:36:4{},000] INFO KafkaConfig values: ", "\tmin.insync.replicas = {}"


def names(broker: int) -> str:
    """A line that a broker's own log has, and names it."""
    updated = "ISR updated to 1,2  and version updated to 9"
    return stamped(f"[Partition t-0 broker={broker}] {updated}", "kafka.cluster.Partition")


def lines(broker: int) -> list[str]:
    """What a broker writes: first what does not tell whose it is."""
    return [OTHER, HEADER.format(broker), SETTING.format(broker), REQUEST, names(broker)]


WAYS: dict[str, Callable[[int, str], str]] = {
    "docker compose": lambda broker, line: f"kafka-{broker}  | {line}",
    "docker compose of JSON": lambda broker, line: f"kafka-{broker}  | {json.dumps({'message': line})}",
    "kubectl": lambda broker, line: f"[pod/kafka-{broker}/kafka] {line}",
    "syslog": lambda broker, line: f"Nov 21 10:36:42 kafka{broker} kafka[12{broker}]: {line}",
    "syslog without ids": lambda broker, line: f"<30>2026-11-21T10:36:42.1+01:00 kafka{broker} kafka: {line}",
    "an export by pod": lambda broker, line: json.dumps(
        {"message": line, "kubernetes": {"namespace": "a", "pod": {"name": f"kafka-{broker}"}}, "pod": "no"}
    ),
    "an export by host": lambda broker, line: json.dumps({"host": f"h{broker}", "log": line}),
    "GKE": lambda broker, line: json.dumps(
        {"resource": {"labels": {"container_name": "kafka", "pod_name": f"kafka-{broker}"}}, "textPayload": line}
    ),
    "Vector": lambda broker, line: json.dumps(
        {"host": "node", "kubernetes": {"container_name": "kafka", "pod_name": f"kafka-{broker}"}, "message": line}
    ),
    "docker on one host": lambda broker, line: json.dumps(
        {"host": "node", "container_name": f"kafka-{broker}", "log": line}
    ),
    "Loki": lambda broker, line: json.dumps({"labels": {"pod": f"kafka-{broker}"}, "line": line}),
}


@pytest.mark.spark
def test_each_line_is_of_the_broker_of_its_stream(spark: SparkSession, tmp_path: Path) -> None:
    """However its collector tells; settings, too, are of the block above them in their own stream."""
    for way, write in WAYS.items():
        by_turns = zip(lines(1), lines(2), strict=True)
        mixed = [write(broker, line) for both in by_turns for broker, line in enumerate(both, 1)]
        (tmp_path / f"{way}.txt").write_text("\n".join(mixed) + "\n", encoding="utf-8")
    files = discover(tmp_path)
    assert {(file.kind, file.broker_id, file.brokers) for file in files} == {
        (FileKind.CONSOLE_LOG, -1, frozenset({1, 2}))
    }
    read = with_brokers_of_streams(read_lines(spark, files), {file.name: file.streams for file in files})
    told = in_kafkas_layout(read, None, has_objects=True)

    numbered = told.select(C.SOURCE_FILE, C.SOURCE_LINE, C.BROKER_ID).collect()
    brokers = {(name, (number + 1) % 2 + 1, broker) for name, number, broker in numbered}
    assert brokers == {(file.name, broker, broker) for file in files for broker in (1, 2)}
    settings = setting_rows(broker_log.parse(told, "UTC")).where(f"{C.NAME} = 'min.insync.replicas'")
    seen = by_line(settings.withColumn("s", F.second(C.EVENT_TIME)), C.SOURCE_FILE, C.BROKER_ID, C.VALUE, "s")
    assert set(seen) == {(file.name, n, str(n), 40 + n) for file in files for n in (1, 2)}


@pytest.mark.parametrize(
    "texts",
    [
        [f"kafka  | {names(1)}", f"kafka  | {names(2)}"],
        [f"kafka-1  | {names(1)}", f"kafka-1b  | {names(1)}"],
        [f"kafka-1  | {names(1)}", names(2)],
        [names(1), names(2)],
    ],
)
def test_what_does_not_tell_brokers_apart_is_no_stream(tmp_path: Path, texts: list[str]) -> None:
    """One name for two brokers, two for one, or lines without any: what a line itself tells is all there is."""
    (tmp_path / "all.log").write_text("\n".join(texts) + "\n", encoding="utf-8")

    assert [file.streams for file in discover(tmp_path)] == [()]
