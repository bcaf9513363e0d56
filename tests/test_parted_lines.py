"""A container's log, in which its runtime has cut the long lines: read as if it had not."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.ingest_events import main
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas import tables as T
from schemas.files import FileKind
from sources import request_log
from sources.files import discover
from sources.lines import read_lines
from sources.log4j import in_kafkas_layout
from sources.parted_lines import REST, is_part, with_parts_joined
from tests.captured import Tables
from tests.log_lines import by_line, stamped, verdicts

ENOUGH = 100
"""Characters that the runtime writes as one here; a real one writes 16 KiB."""
LINES = [
    stamped(
        'Completed request:{"requestHeader":{"requestApiKey":3,"requestApiVersion":1,"clientId":"ä\\"",'
        f'"requestApiKeyName":"METADATA"}},"request":{{}},"response":{{}},"totalTimeMs":{n}.5}}',
        "kafka.request.logger",
        "DEBUG",
        f"2026-11-21 10:36:42,60{n}",
    )
    for n in range(4)
]
AT = "2026-11-21T10:36:43.123456789Z"


def parts(line: str) -> Iterator[tuple[str, bool]]:
    """What the runtime takes at a time, and whether the line goes on."""
    for at in range(0, len(line), ENOUGH):
        yield line[at : at + ENOUGH], at + ENOUGH < len(line)


def by_cri(line: str, stream: str) -> list[str]:
    """As containerd and CRI-O write it."""
    return [f"{AT} {stream} {'P' if goes_on else 'F'} {text}" for text, goes_on in parts(line)]


def by_docker(line: str, stream: str) -> list[str]:
    """As docker's json-file has it."""
    return [
        json.dumps({"log": text + "\n" * (not goes_on), "stream": stream, "time": AT}, separators=(",", ":"))
        for text, goes_on in parts(line)
    ]


def warned(lines: list[str], warning: list[str]) -> list[str]:
    """The lines with one of the other stream between the parts of the first."""
    return [lines[0], *warning, *lines[1:]]


Runtime = Callable[[str, str], list[str]]


@pytest.mark.spark
@pytest.mark.parametrize("runtime", [by_cri, by_docker])
def test_a_line_is_read_in_one_piece(spark: SparkSession, tmp_path: Path, runtime: Runtime) -> None:
    """To the same rows; its parts but the first are continuations, one of another stream is none of it."""
    cut = [part for line in LINES for part in warned(runtime(line, "stdout"), runtime("a warning", "stderr"))]
    (tmp_path / "whole.log").write_text("\n".join([*LINES, ""]), encoding="utf-8")
    (tmp_path / "cut.log").write_text("\n".join([*cut, ""]), encoding="utf-8")
    files = {file.name: file for file in discover(tmp_path)}
    read = in_kafkas_layout(
        with_parts_joined(read_lines(spark, files.values()), files.values()), None, has_objects=True
    )
    parsed = request_log.parse(read, "UTC").cache()
    told = {
        name: by_line(
            parsed.where(F.col(C.SOURCE_FILE) == name), "outcome", C.REASON, "line_time", "api_name", C.CLIENT_ID
        )
        for name in files
    }
    requests = [row for row in told["cut.log"] if row[-2] == "METADATA"]

    assert (files["cut.log"].kind, files["cut.log"].has_parts) == (FileKind.REQUEST_LOG, True)
    assert not files["whole.log"].has_parts
    assert requests == told["whole.log"]
    assert len(requests) == len(LINES)
    assert len(told["cut.log"]) == len(cut)
    assert {row[:2] for row in told["cut.log"]} - {row[:2] for row in requests} == {
        ("ignored", "continuation of a message")
    }


@pytest.mark.spark
def test_a_line_that_its_process_did_not_end(spark: SparkSession, tmp_path: Path) -> None:
    """Is cut; the one after it is not taken for its rest, nor what a file begins with for another one's."""
    first, second = by_cri(LINES[0], "stdout"), by_cri(LINES[1], "stdout")
    lines = [*first[1:], first[0], *second, first[0]]
    (tmp_path / "cut.log").write_text("\n".join([*lines, ""]), encoding="utf-8")
    files = discover(tmp_path)
    read = with_parts_joined(read_lines(spark, files), files)
    outcomes = verdicts(request_log.parse(in_kafkas_layout(read, None), "UTC"))
    texts = [text for (text,) in by_line(read, C.LINE_TEXT)]

    assert outcomes == [
        "rejected: no time stamp",
        *["ignored: continuation of a message"] * (len(first) - 2),
        "rejected: cut line",
        "ignored: other request: METADATA",
        *["ignored: continuation of a message"] * (len(second) - 1),
        "rejected: cut line",
    ]
    assert texts.count(REST) == len(first) - 2 + len(second) - 1


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.captured
def test_a_cut_capture_lands_as_the_whole_one(
    spark: SparkSession, tmp_path: Path, captures: Path, landed_capture: Callable[[str], Tables]
) -> None:
    """A broker's files as containerd keeps them, another's as docker does, the third's as they are."""
    whole = captures / "epoch_truncation" / "capture"
    ways: dict[str, Runtime] = {"broker-1": by_cri, "broker-2": by_docker, "broker-3": lambda line, _: [line]}
    for broker, runtime in ways.items():
        shutil.copytree(whole / broker, tmp_path / "capture" / broker, ignore=shutil.ignore_patterns("*.log.gz"))
        for log in (whole / broker).glob("*.log.gz"):
            lines = gzip.decompress(log.read_bytes()).decode().splitlines()
            cut = [part for line in lines for part in runtime(line, "stdout")]
            (tmp_path / "capture" / broker / log.stem).write_text("\n".join([*cut, ""]), encoding="utf-8")

    assert main([str(tmp_path / "capture"), "--warehouse", str(tmp_path / "lake")]) == 0
    warehouse, expected = Warehouse(spark, str(tmp_path / "lake")), landed_capture("epoch_truncation")
    for table in (T.FETCH_EVENTS, T.LEADER_CHANGES, T.BROKER_STATEMENTS):
        of_delivery = (C.CLUSTER_ID, C.CAPTURE_ID, C.SOURCE_FILE, C.SOURCE_LINE)
        columns = [F.col(field) for field in table.columns if field not in of_delivery]
        landed, told = (frame.select(columns).collect() for frame in (warehouse.read(table), expected[table.name]))
        assert sorted(map(str, landed)) == sorted(map(str, told))
        assert told


def test_what_goes_on_in_the_next_line() -> None:
    """The runtime says so: by its letter, or by the end of the line that is not there."""
    for runtime in (by_cri, by_docker):
        *parted, last = runtime(LINES[0], "stdout")
        assert [is_part(line.encode()) for line in parted] == [True] * len(parted)
        assert not is_part(last.encode())
    assert not is_part(LINES[0].encode())
