"""Runs that are killed (-9) at any moment, and run again: the tables are those of a run that nobody disturbed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from deltalake import DeltaTable

from schemas.tables import LANDING_TABLES, TIMELINE_TABLES
from tests.conftest import CAPTURES
from tests.info_view import info_view

pytestmark = [pytest.mark.long, pytest.mark.captured]

INGESTED = tuple(table.name for table in LANDING_TABLES)
REPLAYED = tuple(table.name for table in TIMELINE_TABLES)
MOMENTS = (0.0, 0.7)
"""Seconds after a table's commit has come: just after it, and on the way to the next."""
LIMIT = 900
TABLES = (*INGESTED, *REPLAYED)


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    """A command of tidegauge as a process of its own, its JVM in the same new group."""
    command = [sys.executable, "-m", "jobs.cli", *map(str, arguments)]
    return subprocess.Popen(
        command, env=dict(os.environ), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def pipeline(capture: Path, warehouse: Path) -> int:
    """A whole run, left to its end; its code."""
    return start("pipeline", capture, "--warehouse", warehouse).wait()


def kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and its JVM, without a chance to tidy up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def writes(warehouse: Path, table: str) -> int:
    """Commits that wrote rows of a table, or its first one, which makes it."""
    logs = (warehouse / table / "_delta_log").glob("*.json")
    return sum('"operation":"WRITE"' in log.read_text(encoding="utf-8") for log in logs)


def is_killed(process: subprocess.Popen[bytes], warehouse: Path, table: str, wait: float) -> bool:
    """Whether the process was killed once it had written a table; False where it had ended."""
    before, until = writes(warehouse, table), time.monotonic() + LIMIT
    while process.poll() is None and writes(warehouse, table) == before and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(wait)
    was_running = process.poll() is None
    if was_running:
        kill(process)
    return was_running


def rows(warehouse: Path, table: str) -> list[str]:
    """A table's rows as text, sorted."""
    found = DeltaTable(str(warehouse / table)).to_pyarrow_table().to_pylist()
    return sorted(repr(sorted((k, _plain(v)) for k, v in row.items())) for row in found)


def _plain(value: object) -> object:
    return sorted(value, key=repr) if isinstance(value, list) else value


def test_killed_runs_that_are_run_again_end_like_an_undisturbed_one(tmp_path: Path) -> None:
    """Killed after each table's rows came, and a moment later, in ingest and in replay; at last left to its end."""
    capture = info_view(CAPTURES / "hw_truncation" / "capture", tmp_path / "capture", beside=True)
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    assert pipeline(capture, whole) in (0, 2)

    kills = []
    for table in (name for name in INGESTED[:-1] if writes(whole, name)):  # one without rows is not written
        for wait in MOMENTS:
            ingest = start("ingest", capture, "--warehouse", torn)
            kills.append((table, wait, is_killed(ingest, torn, table, wait)))
    assert start("ingest", capture, "--warehouse", torn).wait() == 0
    for table in REPLAYED[:-1]:
        for wait in (*MOMENTS, 1.5, 2.5):
            replay = start("reconstruct", "--warehouse", torn)
            kills.append((table, wait, is_killed(replay, torn, table, wait)))
    assert pipeline(capture, torn) in (0, 2)

    assert len(kills) >= 24
    assert sum(was_killed for _, _, was_killed in kills) >= len(kills) - 2, kills
    assert {name: rows(torn, name) for name in TABLES} == {name: rows(whole, name) for name in TABLES}


def test_two_runs_at_once_on_one_warehouse_double_nothing(tmp_path: Path) -> None:
    """One succeeds, or both do; run once more, nothing is missing and nothing is there twice."""
    capture = info_view(CAPTURES / "hw_truncation" / "capture", tmp_path / "capture", beside=True)
    whole, shared = tmp_path / "whole", tmp_path / "shared"
    assert pipeline(capture, whole) in (0, 2)
    both = [start("pipeline", capture, "--warehouse", shared) for _ in range(2)]
    codes = [process.wait() for process in both]

    assert set(codes) & {0, 2}
    assert pipeline(capture, shared) in (0, 2)
    assert {name: rows(shared, name) for name in TABLES} == {name: rows(whole, name) for name in TABLES}
