"""Replicas that move to another disk of their broker: what is said of the copy is not said of the replica."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from schemas import columns as C
from sources import broker_log
from sources.files import discover
from sources.future_logs import without_future_logs
from sources.server_log import statement_rows
from tests.log_lines import by_line, lines_of, stamped

LOADED, CUT = "loaded_high_watermark", "truncated_to"
PARTITION, LOG, MANAGER = "kafka.cluster.Partition", "kafka.log.UnifiedLog", "kafka.log.LogManager"


def load(high_watermark: int, topic: str = "t-0") -> str:
    """A log is loaded: of the replica, or of its copy."""
    text = f"[Partition {topic} broker=2] Log loaded for partition {topic} with initial high watermark {high_watermark}"
    return stamped(text, PARTITION)


def cut(disk: str, offset: int) -> str:
    """A log is cut, on one of the disks."""
    return stamped(f"[UnifiedLog partition=t-0, dir={disk}] Truncating to offset {offset}", LOG)


COPYING = stamped("Created log for partition t-0 in /b/t-0.c3-future with properties {}", MANAGER)
IN_PLACE = stamped("The current replica is successfully replaced with the future replica for t-0", MANAGER)
FOUND = stamped(
    "Completed load of Log(dir=/b/t-0.c3-future, topicId=1vDJC378Tw2AvQYNxpXPlg, topic=t, partition=0, "
    "highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=7) with 1 segments in 5ms (1/2 loaded in /b)",
    MANAGER,
)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([load(4), COPYING, load(0), load(1, "t-1")], [(LOADED, 4), (LOADED, 1)]),
        ([COPYING, load(0), cut("/b", 3), cut("/a", 5), IN_PLACE, cut("/b", 6)], [(CUT, 5), (CUT, 6)]),
        ([COPYING, load(0), IN_PLACE, load(9)], [(LOADED, 9)]),
        ([FOUND, load(8), load(2), load(9)], [(LOADED, 8), (LOADED, 9)]),
    ],
    ids=[
        "of its own partition",
        "until it is in the replica's place",
        "a load after that",
        "found half made at a start",
    ],
)
def test_what_is_said_of_the_copy_is_ignored(
    spark: SparkSession, lines: list[str], told: list[tuple[str, int]]
) -> None:
    """By its directory; a load, which tells none, by what came before."""
    judged = without_future_logs(broker_log.parse(lines_of(spark, lines), "UTC"))

    assert by_line(statement_rows(judged), C.KIND, C.OFFSET) == told
    assert judged.count() == len(lines)


def test_a_log_that_names_such_a_copy_is_known(tmp_path: Path) -> None:
    """Only then are its lines looked at for them."""
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text(f"{load(4)}\n{COPYING}\n")
    (tmp_path / "broker-1" / "server.log.1").write_text(f"{load(4)}\n")

    assert [file.has_future_logs for file in discover(tmp_path)] == [True, False]
