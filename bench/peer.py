"""Another engine on the landed files, in a process of its own: `bench.peer NAME FILES TARGET` prints its CPU."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from pathlib import Path

from deltalake import DeltaTable

from bench.costs import Cost
from bench.wide import write_widened
from schemas.tables import BROKER_STATEMENTS, FETCH_EVENTS, LEADER_CHANGES, PRODUCE_EVENTS

SLOTS = 3


def files_of(warehouse: Path) -> dict[str, list[str]]:
    """The Parquet files that make up each landing table now."""
    tables = (PRODUCE_EVENTS, FETCH_EVENTS, LEADER_CHANGES, BROKER_STATEMENTS)
    return {table.name: DeltaTable(warehouse / table.name).file_uris() for table in tables}


def cost_of(peer: str, warehouse: Path, target: Path) -> Cost:
    """What a peer cost: CPU of its process from when it had started, imports left out."""
    command = [sys.executable, "-m", "bench.peer", peer, json.dumps(files_of(warehouse)), str(target)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    cpu, wall = json.loads(done.stdout.splitlines()[-1])
    return Cost(cpu, wall)


def main(peer: str, files: str, target: str) -> None:
    """Run a peer and write what it makes, as wide as the engine; print its CPU and wall seconds."""
    module = importlib.import_module(f"bench.{peer}")
    cpu, wall = time.process_time(), time.monotonic()
    for timeline, rows in module.timelines(json.loads(files), SLOTS):
        write_widened(Path(target), timeline, rows)
    print(json.dumps([time.process_time() - cpu, time.monotonic() - wall]))


if __name__ == "__main__":
    main(*sys.argv[1:])
