"""What landed and is told better by a later delivery: read anew, each line once, each append once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.commits import Transaction
from jobs.delivery import delivery_of
from jobs.ingest_delivery import ingest_delivery
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.files import FileKind
from schemas.tables import (
    FETCH_EVENTS,
    LANDING_TABLES,
    LEADER_CHANGES,
    PRODUCE_EVENTS,
    REJECTED_LINES,
    SOURCE_FILES,
    Table,
)
from sources.files import OTHER_LAYOUT, UNKNOWN_LAYOUT, discover, with_unknown_layouts
from sources.log4j import layout_of
from tests.frames import rows as literal_rows
from tests.log_lines import stamped
from tests.request_lines import ORDERS_ID, fetch, produce
from tests.telling_capture import BATCH

PATTERN = "%d{dd/MM/yyyy HH:mm:ss.SSS} %p %c - %m%n"
ISR = "[Partition orders-0 broker={}] ISR updated to 1,2  and version updated to {}"
OF_OTHER_LAYOUT = "21/11/2026 10:36:42.604 INFO kafka.cluster.Partition - {}\n"
LEADER = (
    f"[Broker id=1] Leader orders-0 with topic id Some({ORDERS_ID}) starts at leader epoch 3 from offset 0 with "
    "partition epoch 0, high watermark 0, ISR [1,2], adding replicas [] and removing replicas [] . "
    "Previous leader None and previous leader epoch was -1."
)


def put(root: Path, name: str, *lines: str) -> Path:
    """A file of a capture; the capture."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line.rstrip("\n") + "\n" for line in lines), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse with another cluster's file; each test works in a cluster of its own."""
    made = Warehouse(spark, str(tmp_path_factory.mktemp("lake")))
    for table in LANDING_TABLES:
        made.create(table)
    file = {"cluster_id": "prod", "lines_read": 0, "lines_landed": 0, "lines_rejected": 0, "lines_ignored": 0}
    made.append(SOURCE_FILES, literal_rows(spark, SOURCE_FILES, file), Transaction("ingest prod 0", 1))
    return made


def ingest(warehouse: Warehouse, cluster: str | None, capture: Path, pattern: str | None = None) -> int:
    """Land a capture; how many rows that made, in all tables."""
    delivery = delivery_of(
        capture, cluster_id=cluster, capture_id=None, timezone="UTC", layout=layout_of(pattern) if pattern else None,
        redact=frozenset(), redact_key_file=None,
    )  # fmt: skip
    return sum(ingest_delivery(warehouse, delivery).values())


def rows(warehouse: Warehouse, cluster: str, table: Table, *columns: str) -> list[tuple[object, ...]]:
    """The columns of a cluster's rows, sorted."""
    return sorted(map(tuple, warehouse.read(table, cluster_id=cluster).select(*columns).collect()), key=str)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.delta
def test_with_its_layout_a_log_is_read_anew(warehouse: Warehouse, tmp_path: Path) -> None:
    """One that landed before anybody named it, and one that has grown since; nothing of them is told twice."""
    capture = put(tmp_path, "broker-1/server.log", OF_OTHER_LAYOUT.format(ISR.format(1, 1)))
    put(tmp_path, "broker-2/server.log", *[OF_OTHER_LAYOUT.format(ISR.format(2, 2))] * 2)
    ingest(warehouse, "layout", capture)
    untold = rows(warehouse, "layout", REJECTED_LINES, C.SOURCE_FILE, C.REASON)
    with (capture / "broker-2" / "server.log").open("a", encoding="utf-8") as log:
        log.write(OF_OTHER_LAYOUT.format(ISR.format(2, 3)))
    ingest(warehouse, "layout", capture, PATTERN)

    names = ["broker-1/server.log", "broker-2/server.log"]
    assert [(name, reason) for name, reason in untold if reason == UNKNOWN_LAYOUT] == [
        (name, UNKNOWN_LAYOUT) for name in names
    ]
    told = rows(warehouse, "layout", LEADER_CHANGES, C.SOURCE_FILE, C.SOURCE_LINE, C.PARTITION_EPOCH)
    assert told == [(names[0], 1, 1), (names[1], 1, 2), (names[1], 2, 2), (names[1], 3, 3)]
    assert rows(warehouse, "layout", REJECTED_LINES, C.REASON) == []
    counted = rows(warehouse, "layout", SOURCE_FILES, C.SOURCE_FILE, C.LINES_READ, C.LINES_LANDED)
    assert counted == [(names[0], 1, 1), (names[1], 3, 3)]
    assert ingest(warehouse, "layout", capture, PATTERN) == ingest(warehouse, "layout", capture) == 0


def test_a_layout_that_no_line_has_is_told_too(tmp_path: Path) -> None:
    """With none, and with the wrong one; a file in Kafka's own needs none."""
    put(tmp_path, "broker-1/server.log", "\tat java.base", OF_OTHER_LAYOUT.format("a message"))
    put(tmp_path, "broker-2/server.log", stamped("a message", "a.B"))
    files = discover(tmp_path)
    told = {
        pattern: [file.problem for file in with_unknown_layouts(files, pattern and layout_of(pattern))]
        for pattern in (None, PATTERN, "%d %p %c - %m%n")
    }

    assert list(told.values()) == [[UNKNOWN_LAYOUT, None], [None, None], [OTHER_LAYOUT, None]]


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.delta
def test_a_stream_is_of_another_kind_when_it_has_grown(warehouse: Warehouse, tmp_path: Path) -> None:
    """A state-change.log by its first line, then a console: only its new lines land."""
    texts = [
        stamped(LEADER, "state.change.logger"),
        stamped(ISR.format(1, 1), "kafka.cluster.Partition"),
        fetch((9, 0), {0: 5}, {0: {"highWatermark": 5}}, at=60_000),
    ]
    for count in (1, 3):
        capture = put(tmp_path, "broker-1/stdout.txt", *texts[:count])
        ingest(warehouse, "stream", capture)

    landed = rows(warehouse, "stream", SOURCE_FILES, C.KIND, C.LINES_READ, C.LINES_LANDED)
    assert landed == [(FileKind.CONSOLE_LOG.value, 3, 2), (FileKind.STATE_CHANGE_LOG.value, 1, 1)]
    assert len(rows(warehouse, "stream", LEADER_CHANGES, C.SOURCE_LINE)) == 2
    assert rows(warehouse, "stream", FETCH_EVENTS, C.SOURCE_LINE) == [(3,)]


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.delta
def test_an_append_that_a_dump_bore_witness_to_is_there_once(
    warehouse: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its request may land later: then the dump is the witness of others alone. No line of either tells the cluster."""
    first, second = tmp_path / "first", tmp_path / "second"
    put(first, "broker-1/state-change.log", stamped(LEADER, "state.change.logger", time="2026-11-21 09:00:00,000"))
    put(first, "broker-1/segments/orders-0.txt", *[BATCH.format(offset) for offset in (7, 8, 9)])
    put(second, "broker-1/kafka-request.log", produce(8, at=1000), produce(10, at=2000))
    ingest(warehouse, None, first)
    by_dump = rows(warehouse, "default", PRODUCE_EVENTS, C.BASE_OFFSET, C.APPEND_SOURCE)
    ingest(warehouse, None, second)

    assert by_dump == [(offset, "segment") for offset in (7, 8, 9)]
    assert rows(warehouse, "default", PRODUCE_EVENTS, C.BASE_OFFSET, C.APPEND_SOURCE) == [
        (10, "request"), (7, "segment"), (8, "request"), (9, "segment"),
    ]  # fmt: skip
    assert {epoch for (epoch,) in rows(warehouse, "default", PRODUCE_EVENTS, C.LEADER_EPOCH)} == {3}
    told = [line for line in capsys.readouterr().err.splitlines() if "it lands as default" in line]
    assert len(told) == 2
    assert all("prod" in line and "--cluster-id" in line for line in told)
