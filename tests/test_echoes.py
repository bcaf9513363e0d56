"""A console's lines: those that another file of the broker tells, and those that it alone has."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from schemas import columns as C
from sources.echoes import IS_ECHO, consoles, originals, with_echoes_told
from sources.files import discover
from sources.lines import read_lines
from sources.source_file import SourceFile

FIRST, SECOND, THIRD = (f"[2026-11-21 10:00:0{n},000] INFO line {n} (kafka.log.LogManager)\n" for n in range(3))


@pytest.fixture
def found(tmp_path: Path) -> dict[str, SourceFile]:
    """A broker with a log and a console, one with a console alone, one whose console is its log, byte by byte."""
    for name, text in {
        "broker-1/server.log": FIRST + SECOND + FIRST,
        "broker-1/kafka-request.log": "",
        "broker-1/kafkaServer.out": "warning: from the JVM\n" + FIRST + SECOND + THIRD + THIRD,
        "broker-2/kafkaServer.out": FIRST,
        "broker-3/server.log": FIRST,
        "broker-3/kafkaServer.out": FIRST,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return {file.name: file for file in discover(tmp_path)}


def test_a_console_is_a_log_that_its_name_does_not_tell(found: dict[str, SourceFile]) -> None:
    """Beside one that it does, of the same broker and of other content."""
    files = list(found.values())
    copies = consoles(files, files)

    assert [file.name for file in copies] == ["broker-1/kafkaServer.out"]
    assert [file.name for file in originals(copies, files)] == ["broker-1/server.log"]
    assert consoles(files, []) == []


@pytest.mark.spark
def test_only_lines_that_stand_elsewhere_are_echoes(spark: SparkSession, found: dict[str, SourceFile]) -> None:
    """A line that the console alone has stays, as often as it is there."""
    copies = consoles(list(found.values()), list(found.values()))
    lines = read_lines(spark, copies)
    told = with_echoes_told(lines, read_lines(spark, originals(copies, list(found.values()))))

    assert [tuple(row) for row in told.orderBy(C.SOURCE_LINE).select(C.SOURCE_LINE, IS_ECHO).collect()] == [
        (1, False), (2, True), (3, True), (4, False), (5, False)
    ]  # fmt: skip
    assert read_lines(spark, copies[:0]).columns == lines.columns
