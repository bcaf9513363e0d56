"""Any folder: whose log a file is, what it covers, and layouts of lines that are not Kafka's own."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.files import FileKind
from sources import broker_log
from sources.coverage import coverage, found
from sources.errors import CaptureError
from sources.files import discover
from sources.log4j import in_kafkas_layout, layout_of
from tests.log_lines import by_line, lines_of, stamped, verdicts

OF_BROKER = "[2025-02-06 17:{:02d}:38,337] INFO [Partition t-0 broker={}] Log loaded (kafka.cluster.Partition)\n"
QUIET = "[2025-02-06 19:40:38,337] INFO Client requested connection close (org.apache.kafka.clients.NetworkClient)\r\n"
STATE, PARTITION = "state.change.logger", "kafka.cluster.Partition"
OF_STRIMZI = "2025-02-06 17:03:38 INFO  [main] Partition:66 - [Partition t-0 broker={}] Log loaded\n"
FOLLOWER = (
    "[Broker id={}] Follower t-0 starts at leader epoch 7 from offset 11 with partition epoch 9 and high watermark 10. "
    "Current leader is 3. Previous leader epoch was 6."
)


def folder_of(tmp_path: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


def test_three_brokers_in_one_folder_are_told_by_their_lines(tmp_path: Path) -> None:
    """A quiet file belongs to those of its name; a log of several brokers to none."""
    files = {
        "kafka1.server.log.2025-02-06-17": OF_BROKER.format(1, 1),
        "kafka1.server.log.2025-02-06-19": QUIET,
        "kafka1.state-change.log": QUIET,
        "server.log.2025-02-06-17.kafka2": OF_BROKER.format(1, 2),
        "server.log.2025-02-06-18.kafka2": QUIET,
        "server-3.log.2025-02-06-17": OF_BROKER.format(1, 3),
        "old/server.log": "[2025-02-06 17:03:38,337] INFO Partition [t,0] on broker 5: x (kafka.cluster.Partition)\n",
        "older/server.log": "[2025-02-06 17:03:38,337] INFO [Kafka Server 6], started (kafka.server.KafkaServer)\n",
        "strimzi.log": OF_STRIMZI.format(7),
        "after.log": f"2025-02-06 17:03:38,337 INFO {PARTITION}: [Partition t-0 broker=8] Log loaded\n",
        "threads.log": f"[2025-02-06 17:03:38,337] INFO {PARTITION} [main] - [Partition t-0 broker=9] Log loaded\n",
        "all.log": "".join(OF_BROKER.format(broker, broker) for broker in (1, 2, 3)),
        "somewhere/else/server.log.1": QUIET,
        "somewhere/else/server.log": "\tnode.id = 4\n" + QUIET,
    }
    whose = {file.name: file.broker_id for file in discover(folder_of(tmp_path, files))}

    assert whose == {
        "kafka1.server.log.2025-02-06-17": 1, "kafka1.server.log.2025-02-06-19": 1, "kafka1.state-change.log": 1,
        "server.log.2025-02-06-17.kafka2": 2, "server.log.2025-02-06-18.kafka2": 2, "server-3.log.2025-02-06-17": 3,
        "old/server.log": 5, "older/server.log": 6, "all.log": -1,
        "strimzi.log": 7, "after.log": 8, "threads.log": 9,
        "somewhere/else/server.log.1": 4, "somewhere/else/server.log": 4,
    }  # fmt: skip


def test_coverage_joins_rotated_files_and_shows_what_is_missing(tmp_path: Path) -> None:
    """Two hours without a line of a broker's log are a gap; so are two minutes without a request."""
    files = {
        "b.server.log.2025-02-06-17": OF_BROKER.format(1, 1) + OF_BROKER.format(59, 1),
        "b.server.log.2025-02-06-18": OF_BROKER.replace("17:", "18:").format(30, 1),
        "b.server.log.2025-02-06-22": OF_BROKER.replace("17:", "22:").format(30, 1),
    }
    (it,) = found(discover(folder_of(tmp_path, files)), "Europe/Berlin")

    def at(hour: int, minute: int) -> datetime:
        return datetime(2025, 2, 6, hour, minute, tzinfo=UTC)

    assert (it.kind, it.brokers, it.files) == (FileKind.SERVER_LOG, (1,), 3)
    assert (it.covered.first, it.covered.last) == (at(16, 1), at(21, 30))
    assert it.covered.gaps == ((at(17, 30), at(21, 30)),)
    assert it.allows.endswith("but for 1 gaps")
    assert coverage(["2025-02-06 17:00", "2025-02-06 17:03"], FileKind.REQUEST_LOG, "UTC").gaps != ()
    assert coverage(["2025-02-06 17:00", "2026-02-06 17:03"], FileKind.STATE_CHANGE_LOG, "UTC").gaps == ()
    assert coverage(["2025-99-06 17:00"], FileKind.REQUEST_LOG, "UTC").first is None


@pytest.mark.spark
def test_lines_of_several_brokers_in_one_file_name_each_its_own(spark: SparkSession) -> None:
    """One that names none tells nothing of a partition."""
    cut = "[UnifiedLog partition=t-0, dir=/d] Truncating to offset 5"
    lines = [
        stamped(FOLLOWER.format(5), STATE), stamped(FOLLOWER.format(6), STATE), stamped(cut, "kafka.log.UnifiedLog"),
    ]  # fmt: skip
    parsed = broker_log.parse(lines_of(spark, lines, broker=-1), "UTC")

    assert by_line(parsed, C.BROKER_ID) == [(5,), (6,), (-1,)]
    assert verdicts(parsed) == ["landed", "landed", "rejected: no broker named, in a file of several"]


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("[%d] %p %m (%c)%n", "[2026-11-21 10:36:42,604] INFO a message (a.b.C)"),
        ("%d{ISO8601} %-5p [%t] %c{1}: %m%n", "2026-11-21 10:36:42,604 INFO  [main-1] a.b.C: a message"),
        ("%d{dd/MM/yyyy HH:mm:ss.SSS} %5level %logger - %msg%n", "21/11/2026 10:36:42.604  INFO a.b.C - a message"),
        ("%d{yyyy-MM-dd'T'HH:mm:ss,SSS}|%p|%c|%m%n", "2026-11-21T10:36:42,604|INFO|a.b.C|a message"),
        ("[%d{ISO8601}] %p %m (%c)%n", "[2026-11-21T10:36:42,604] INFO a message (a.b.C)"),
    ],
)
def test_a_log4j_pattern_is_read_as_kafkas_own(pattern: str, line: str) -> None:
    """Whatever comes first."""
    layout = layout_of(pattern)
    rewritten = re.sub(layout.regex, re.sub(r"\$(\d+)", r"\\\1", layout.rewritten), line)

    assert rewritten == "[2026-11-21 10:36:42,604] INFO a message (a.b.C)"


@pytest.mark.spark
def test_a_zone_in_the_date_of_a_pattern_is_heeded(spark: SparkSession) -> None:
    """And not the one that the capture is said to be of; of a finer time the microseconds are."""
    dates = {
        "yyyy-MM-dd HH:mm:ss,SSSZ": "2026-11-21 10:36:42,604+0100",
        "yyyy-MM-dd HH:mm:ss,SSS Z": "2026-11-21 10:36:42,604 +0100",
        "yyyy-MM-dd'T'HH:mm:ss.SSSX": "2026-11-21T10:36:42.604+01",
        "yyyy-MM-dd'T'HH:mm:ssXX": "2026-11-21T10:36:42+0100",
        "yyyy-MM-dd'T'HH:mm:ss.SSSSSSSSSXXX": "2026-11-21T09:36:42.604123999Z",
        "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'": "2026-11-21T04:36:42.604Z",
    }
    texts = [f"[{date}] INFO {STATE} - {FOLLOWER.format(5)}" for date in dates.values()]
    read = [
        in_kafkas_layout(lines_of(spark, [text], name=f"{n}.log"), layout_of(f"[%d{{{pattern}}}] %p %c - %m%n"))
        for n, (pattern, text) in enumerate(zip(dates, texts, strict=True))
    ]
    parsed = broker_log.parse(reduce(DataFrame.unionByName, read), "America/New_York")
    times = dict(parsed.select(C.SOURCE_FILE, F.date_format(C.EVENT_TIME, "HH:mm:ss.SSSSSS")).collect())

    assert [times[f"{n}.log"] for n in range(len(dates))] == [
        "09:36:42.604000", "09:36:42.604000", "09:36:42.604000", "09:36:42.000000", "09:36:42.604123", "09:36:42.604000"
    ]  # fmt: skip


@pytest.mark.parametrize("pattern", ["%m%n", "%d{HH:mm:ss} %p %c %m", ""])
def test_a_pattern_that_leaves_something_out_is_refused(pattern: str) -> None:
    """Without a date no line has its place."""
    with pytest.raises(CaptureError, match="does not tell"):
        layout_of(pattern)


@pytest.mark.spark
def test_lines_in_another_layout_are_parsed(spark: SparkSession) -> None:
    """And those that are not in it stay as they are."""
    lines = [f"21/11/2026 10:36:42.604 INFO {STATE} - {FOLLOWER.format(5)}", "\tat kafka.Kafka$.main(Kafka.scala:1)"]
    layout = layout_of("%d{dd/MM/yyyy HH:mm:ss.SSS} %p %c - %m%n")
    parsed = broker_log.parse(in_kafkas_layout(lines_of(spark, lines), layout), "UTC")

    assert verdicts(parsed) == ["landed", "ignored: continuation of a message"]
    assert by_line(parsed, C.EVENT_TIME)[0] == (datetime(2026, 11, 21, 10, 36, 42, 604000),)  # noqa: DTZ001
