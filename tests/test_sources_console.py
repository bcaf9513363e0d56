"""One stream of all of a broker's loggers: each line lands as from a log of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.files import FileKind
from sources import routing
from sources.coverage import coverage, found
from sources.files import discover
from sources.landing import land
from sources.lines import read_lines
from sources.log4j import in_kafkas_layout
from sources.source_file import SourceFile
from sources.stated_cluster import stated_cluster_id
from tests.captured import Tables, landed_from
from tests.frames import everything_in
from tests.log_lines import by_line, lines_of, stamped
from tests.one_stream import one_stream_a_broker
from tests.request_lines import fetch, produce

ISR = stamped("[Partition t-0 broker=1] ISR updated to 1  and version updated to 1", "kafka.cluster.Partition")
STARTED = stamped("[KafkaServer id=1] started", "kafka.server.KafkaServer")
TRACE = ["java.io.IOException: broken pipe", "\tat kafka.Kafka$.main(Kafka.scala:1)"]
REQUESTS = [produce(5), fetch((9, 1))]
OF_NETWORK = stamped("Unexpected error from /10.0.0.1", "kafka.network.RequestChannel$", "WARN")
ROLLING = stamped("Rolling over", "kafka.request.logger")


def file_of(root: Path, name: str, *lines: str) -> SourceFile:
    """The one file of a capture with these lines."""
    path = root / "broker-1" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return next(file for file in discover(root) if file.path == path)


@pytest.mark.parametrize("name", ["kafka-container.log", "kafka-request.log", "server.log", "state-change.log.1"])
@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ([STARTED, *REQUESTS], FileKind.CONSOLE_LOG),
        ([*REQUESTS, ISR], FileKind.CONSOLE_LOG),
        ([STARTED, *["x" * 1000] * 2000, *REQUESTS], FileKind.CONSOLE_LOG),
        ([*REQUESTS, OF_NETWORK, *TRACE, ROLLING, *REQUESTS], FileKind.REQUEST_LOG),
    ],
)
def test_what_a_log_is_all_its_lines_say(tmp_path: Path, name: str, lines: list[str], kind: FileKind) -> None:
    """Whatever it is called, and however late the first request comes."""
    assert file_of(tmp_path, name, *lines).kind is kind


def test_a_log_without_requests_is_what_its_name_says_unless_that_is_a_request_log(tmp_path: Path) -> None:
    """With nothing else in it a request log stays one."""
    assert file_of(tmp_path, "state-change.log", STARTED).kind is FileKind.STATE_CHANGE_LOG
    assert file_of(tmp_path, "kafka-request.log", ROLLING, *TRACE).kind is FileKind.REQUEST_LOG
    assert file_of(tmp_path, "kafka-request.log", STARTED).kind is FileKind.SERVER_LOG


def test_a_stream_is_no_state_change_log_for_a_few_lines_of_it(tmp_path: Path) -> None:
    """Then what begins a message of several lines would be a cut line."""
    role = stamped("[Broker id=1] Transitioning 1 partition(s) to local followers.", "state.change.logger")

    assert file_of(tmp_path, "all.log", "OpenJDK warning", role, STARTED).kind is FileKind.SERVER_LOG
    assert file_of(tmp_path, "thread.log", role, f"{STARTED[1:24]} {STARTED[26:]} [main]").kind is FileKind.SERVER_LOG
    assert file_of(tmp_path, "roles.log", role, role[:60], role).kind is FileKind.STATE_CHANGE_LOG


def test_other_layouts_and_damaged_ends_are_seen_too(tmp_path: Path) -> None:
    """A pattern puts the time elsewhere; a stream may end in the middle of a request."""
    lines = [f"INFO  21/11/2026 10:36:42.604 {STARTED[31:]}", f"DEBUG 21/11/2026 10:36:42.604 {REQUESTS[0][32:300]}"]

    assert file_of(tmp_path, "server.log", *lines).kind is FileKind.CONSOLE_LOG


def test_a_console_log_says_its_cluster(tmp_path: Path) -> None:
    """Among its requests."""
    it = file_of(tmp_path, "all.log", *REQUESTS, stamped("Cluster ID = 2WJtuVaeSIqjeG9A4BIH_Q", "kafka.server.Server"))

    assert stated_cluster_id([it]) == "2WJtuVaeSIqjeG9A4BIH_Q"


def test_gaps_of_a_console_log_are_those_of_its_requests(tmp_path: Path) -> None:
    """They are logged for minutes of a day of other lines."""
    day = [f"2025-02-06 {hour:02}:00" for hour in range(7, 19)]
    minutes = [f"2025-02-06 12:{minute:02}" for minute in range(31, 36)]
    it = coverage([*day, *minutes], FileKind.CONSOLE_LOG, "UTC", minutes)

    def at(hour: int, minute: int = 0) -> datetime:
        return datetime(2025, 2, 6, hour, minute, tzinfo=UTC)

    assert (it.first, it.last) == (at(7), at(18))
    assert it.gaps == ((at(7), at(12, 31)), (at(12, 35), at(18)))
    (told,) = found([file_of(tmp_path, "all.log", STARTED, *REQUESTS)], "UTC")
    assert told.allows == "leaders, ISRs, truncations, and each step of HW and LEO, but for 1 gaps"


@pytest.mark.spark
def test_each_line_goes_to_one_parser(spark: SparkSession) -> None:
    """What is left of a torn request goes where requests go; lines of other files to where their kind goes."""
    of_requests = [*REQUESTS, ROLLING, REQUESTS[0][60:], REQUESTS[1][-60:]]
    others = [STARTED, *TRACE, ISR, OF_NETWORK, "", "\tadvertised.listeners = null"]
    stream = lines_of(spark, [*of_requests, *others], FileKind.CONSOLE_LOG)
    both = stream.unionByName(lines_of(spark, [ISR, REQUESTS[0]], FileKind.SERVER_LOG, name="b.log"))

    def texts(lines: DataFrame) -> list[object]:
        return [text for (text,) in by_line(lines.orderBy(C.SOURCE_FILE), C.LINE_TEXT)]

    assert texts(routing.routed(stream, routing.WITH_REQUESTS)) == of_requests
    assert texts(routing.routed(stream, routing.WITH_OTHER_LINES)) == others
    assert routing.routed(both, routing.WITH_REQUESTS).count() == len(of_requests)
    assert routing.routed(both, routing.WITH_OTHER_LINES).count() == len(others) + 2
    assert routing.routed(both, frozenset({FileKind.SEGMENT_DUMP})).isEmpty()


@pytest.mark.spark
def test_a_request_log_is_read_by_one_parser_alone(spark: SparkSession, tmp_path: Path) -> None:
    """Also beside a console log."""
    file_of(tmp_path, "kafka-request.log", *REQUESTS)
    file_of(tmp_path, "server.log", STARTED)
    file_of(tmp_path, "console.log", *REQUESTS, STARTED)
    lines = read_lines(spark, discover(tmp_path))

    def names(kinds: frozenset[FileKind]) -> list[str]:
        return sorted(Path(uri).name for uri in routing.routed(lines, kinds).inputFiles())

    assert names(routing.WITH_REQUESTS) == ["console.log", "kafka-request.log"]
    assert names(routing.WITH_OTHER_LINES) == ["console.log", "server.log"]


@pytest.mark.spark
def test_stack_traces_and_torn_lines_have_their_reasons(spark: SparkSession, tmp_path: Path) -> None:
    """In a stream as in logs of their own, and the counts add up."""
    file_of(tmp_path, "console.log", *REQUESTS, REQUESTS[0][60:], STARTED, *TRACE, ISR, "bad \x01 byte")
    file_of(tmp_path, "kafka-request.log", REQUESTS[0], OF_NETWORK, *TRACE, REQUESTS[0][60:], "bad \x01 byte")
    files = discover(tmp_path)
    landing = land(read_lines(spark, files), files, cluster_id="c", capture_id="d", timezone="UTC", known={})
    counts = (C.LINES_READ, C.LINES_LANDED, C.LINES_REJECTED, C.LINES_IGNORED)
    told = {
        row[0]: row[1:] for row in landing.source_files.select(C.SOURCE_FILE, *counts, C.IGNORED_BY_REASON).collect()
    }

    assert T.FETCH_EVENTS.name not in landing.untold
    assert told["broker-1/console.log"] == (
        8, 3, 2, 3, {"continuation of a message": 2, "other message of kafka.server.KafkaServer": 1}
    )  # fmt: skip
    assert told["broker-1/kafka-request.log"] == (
        6, 1, 2, 3, {"continuation of a message": 2, "not a completed request": 1}
    )  # fmt: skip


@pytest.mark.spark
def test_times_without_a_fraction_are_a_second_early(spark: SparkSession, tmp_path: Path) -> None:
    """Strimzi's with Kafka 4: what a leader appended in its first second is of its epoch, whoever leads before."""
    led = (
        "[Broker id=1] Leader orders-0 with topic id Some(N5Izty95RDOz9nNout7QOQ) starts at leader epoch {} from "
        "offset 0 with partition epoch 0, high watermark 0, ISR [1], adding replicas [] and removing replicas [] . "
        "Previous leader None and previous leader epoch was -1."
    )
    lines = [
        f"2026-11-21 {at} {level} [main] logger:66 - {message}"
        for at, level, message in (
            ("09:59:50", "INFO ", led.format(3)),
            ("10:00:00", "INFO ", led.format(4)),
            ("10:00:00", "DEBUG", produce(5)[32:].removesuffix(" (kafka.request.logger)")),
        )
    ]
    (tmp_path / "stdout.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (file,) = files = discover(tmp_path)
    read = in_kafkas_layout(read_lines(spark, files), None)
    landing = land(read, files, cluster_id="c", capture_id="d", timezone="UTC", known={})

    assert (file.kind, file.broker_id, file.is_to_the_second) == (FileKind.CONSOLE_LOG, 1, True)
    assert not file_of(tmp_path, "console.log", STARTED, *REQUESTS).is_to_the_second
    appends = landing.tables[T.PRODUCE_EVENTS.name].select(C.BROKER_ID, C.BASE_OFFSET, C.LEADER_EPOCH).collect()
    assert [tuple(row) for row in appends] == [(1, 5, 4)]


@pytest.mark.spark
@pytest.mark.captured
@pytest.mark.parametrize("name", ["epoch_truncation", pytest.param("failover", marks=pytest.mark.long)])
def test_a_capture_lands_from_one_stream_a_broker_as_from_its_logs(
    spark: SparkSession, landed_capture: Callable[[str], Tables], captures: Path, tmp_path: Path, name: str
) -> None:
    """All rows but for where they stand; each line counted once, none rejected."""
    apart = landed_capture(name)
    streams = one_stream_a_broker(captures / name / "capture", tmp_path / "capture")
    together = landed_from(spark, streams, name)

    for table in T.LANDING_TABLES:
        if table is not T.SOURCE_FILES and table.name in apart:
            assert rows_of(together[table.name]) == rows_of(apart[table.name]), table.name
    assert rows_of(apart[T.LEADER_CHANGES.name])
    assert rows_of(apart[T.FETCH_EVENTS.name])
    assert counts_by_broker(together) == counts_by_broker(apart)
    kinds = together[T.SOURCE_FILES.name].where(F.endswith(C.SOURCE_FILE, F.lit("container.log"))).select(C.KIND)
    assert {row[0] for row in kinds.collect()} == {FileKind.CONSOLE_LOG}


def rows_of(frame: DataFrame) -> Counter[str]:
    """The rows without the lines they are from."""
    return Counter(everything_in(frame.drop(*T.LINE)))


def counts_by_broker(tables: Tables) -> dict[int, tuple[int, ...]]:
    """Lines read, landed, rejected and ignored of each broker."""
    counts = (C.LINES_READ, C.LINES_LANDED, C.LINES_REJECTED, C.LINES_IGNORED)
    sums = tables[T.SOURCE_FILES.name].groupBy(C.BROKER_ID).agg(*[F.sum(count).alias(count) for count in counts])
    return {row[0]: tuple(row[1:]) for row in sums.collect()}
