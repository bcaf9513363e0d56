"""Times without a fraction: the lines of a second are spread over it, in the order of the log."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.keeping import keeping
from schemas import columns as C
from schemas import tables as T
from sources.files import discover, with_unknown_layouts
from sources.log4j import in_kafkas_layout, layout_of
from tests.captured import Tables, landed_from, timelines_of
from tests.conftest import CAPTURES
from tests.log_lines import lines_of
from tests.one_stream import as_strimzi_has_it, one_stream_a_broker
from tests.request_lines import fetch, produce
from tests.truth import truth_of

pytestmark = pytest.mark.spark

LED = (
    "[2026-11-21 10:00:00,020] INFO [Broker id=1] Leader orders-0 with topic id Some(N5Izty95RDOz9nNout7QOQ) starts at "
    "leader epoch 3 from offset 0 with partition epoch 0, high watermark 0, ISR [1,2], adding replicas [] and removing "
    "replicas [] . Previous leader None and previous leader epoch was -1. (state.change.logger)"
)
QUICK = {"totalTimeMs": 0, "localTimeMs": 0, "requestQueueTimeMs": 0, "responseQueueTimeMs": 0, "sendTimeMs": 0}


def landed(spark: SparkSession, root: Path, *lines: str) -> Tables:
    """What lands of a broker's console log, the lines in Strimzi's layout."""
    log = root / "broker-1" / "console.log"
    log.parent.mkdir()
    log.write_text("".join(as_strimzi_has_it(line) for line in lines), encoding="utf-8")
    return landed_from(spark, root, "c")


def second_of(rows: DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """The milliseconds of their time since 10:00:00, and other columns, in the order of the log."""
    ms = F.unix_millis(C.EVENT_TIME) - int(datetime(2026, 11, 21, 10, tzinfo=UTC).timestamp() * 1000)
    return [tuple(row) for row in rows.orderBy(C.SOURCE_LINE).select(ms, *columns).collect()]


def test_lines_of_a_second_are_evenly_apart(spark: SparkSession, tmp_path: Path) -> None:
    """Of four lines the first is at an eighth of it, whatever they tell; the next second begins anew."""
    stream = [LED, produce(0, **QUICK), produce(1, **QUICK), produce(2, **QUICK), produce(3, at=1_000, **QUICK)]
    tables = landed(spark, tmp_path, *stream)

    assert second_of(tables[T.LEADER_CHANGES.name], C.LEADER_EPOCH) == [(125, 3)]
    appends = tables[T.PRODUCE_EVENTS.name]
    assert second_of(appends, C.BASE_OFFSET) == [(375, 0), (625, 1), (875, 2), (1500, 3)]


def test_a_fetcher_asks_when_it_was_answered(spark: SparkSession, tmp_path: Path) -> None:
    """Its second fetch is said to have taken 900 ms: it came a third of a second ago, when the first was answered."""
    lines = [LED, *[fetch((7, n), {0: n}, {0: {}}) for n in (1, 2)]]
    lines[2] = lines[2].replace('"totalTimeMs":10.5', '"totalTimeMs":900.0')
    rows = landed(spark, tmp_path, *lines)[T.FETCH_EVENTS.name]

    # Written at 500 and 833 ms; the work begins when the request has waited 1.25 ms, of the first 10.5 ms before that.
    assert second_of(rows, C.FETCH_OFFSET) == [(490, 1), (501, 2)]
    assert rows.where(F.col(C.RESPONSE_TIME) < F.col(C.EVENT_TIME)).isEmpty()


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("2026-11-21T09:00:00.604123456Z ", "604123"),
        ("2026-11-21T10:00:00.604123456+01:00 stdout F ", "604123"),
        ("2026-11-21T09:00:01.000123456Z stdout F ", "000"),  # read in the second after
        ("", "000"),
    ],
)
def test_the_time_of_a_runtime_is_finer(spark: SparkSession, before: str, expected: str) -> None:
    """Of the same second, in whatever zone; Kafka's own fraction stays as it is."""
    own = "[2026-11-21 10:00:00,000] INFO started (kafka.server.KafkaServer)"
    lines = [before + as_strimzi_has_it(own).rstrip(), before + own]
    read = in_kafkas_layout(lines_of(spark, lines), None).orderBy(C.SOURCE_LINE).select(C.LINE_TEXT).collect()

    assert [row[0] for row in read] == [own.replace(",000", f",{expected}").replace("kafka.server.", ""), own]


def test_the_time_that_docker_wrote_is_finer(spark: SparkSession) -> None:
    """Beside the line; that at which a collector read it is not, nor one beside a line behind a runtime's time."""
    own = "[2026-11-21 10:00:00,000] INFO started (kafka.server.KafkaServer)"
    coarse, fine = as_strimzi_has_it(own), "2026-11-21T09:00:00.604123456Z"
    objects = [
        {"log": coarse, "stream": "stdout", "time": fine}, {"log": coarse, "time": fine.replace(":00.", ":01.")},
        {"log": coarse, "@timestamp": fine}, {"message": coarse, "@timestamp": fine}, {"log": own + "\n", "time": fine},
    ]  # fmt: skip
    lines = [*map(json.dumps, objects), f"{fine} stdout F {coarse.rstrip()}"]
    read = in_kafkas_layout(lines_of(spark, lines), None, has_objects=True).orderBy(C.SOURCE_LINE).collect()

    found = [re.search(r",(\d+)\]", row[C.LINE_TEXT]) for row in read]
    assert [match and match[1] for match in found] == ["604123", "000", "000", "000", "000", "604123"]


@pytest.mark.parametrize(("pattern", "expected"), [("%d{dd.MM.yyyy HH:mm:ss} %p %m (%c)%n", True),
                                                   ("%d{dd.MM.yyyy HH:mm:ss,SSS} %p %m (%c)%n", False)])  # fmt: skip
def test_a_layout_that_is_named_tells_it(tmp_path: Path, pattern: str, *, expected: bool) -> None:
    """Of a log in it whose dates are not as Kafka writes them."""
    date = "21.11.2026 10:00:00" + ("" if expected else ",001")
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text(f"{date} INFO started (kafka.server.KafkaServer)\n")
    (file,) = with_unknown_layouts(discover(tmp_path), layout_of(pattern))

    assert (file.problem, file.is_to_the_second) == (None, expected)


@pytest.mark.captured
@pytest.mark.long
@pytest.mark.parametrize("name", ["isr_shrink", "failover"])
def test_a_capture_in_strimzis_layout_has_the_truncations_that_were(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    """Those that its brokers told: hundreds more were told while all of a second was at its begin."""
    capture = one_stream_a_broker(CAPTURES / name / "capture", tmp_path / "capture", written=as_strimzi_has_it)
    tables = landed_from(spark, capture, name)
    with keeping() as keep:
        timelines = timelines_of(tables, keep)
        cuts = timelines.truncations.where(~F.startswith(C.TOPIC, F.lit("__")))
        found = {tuple(row) for row in cuts.select(C.TOPIC, C.PARTITION, C.REPLICA_ID, C.TO_OFFSET).collect()}

    said = (told for told in truth_of(CAPTURES / name) if told["kind"] == "truncate")
    assert found == {(told["topic"], told["partition"], told["broker"], told["to"]) for told in said}
