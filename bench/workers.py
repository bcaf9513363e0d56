"""CPU of Spark's Python workers, which its task metrics leave out."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def _stat(pid: str) -> list[str]:
    """The fields of a process after its name; none where it has ended."""
    try:
        return Path("/proc", pid, "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def worker_cpu_seconds() -> float:
    """CPU of the Python processes below this one, those that have ended included."""
    stats = {
        pid: fields
        for pid in (entry.name for entry in Path("/proc").iterdir())
        if pid.isdigit() and (fields := _stat(pid))
    }
    ours = {str(os.getpid())}
    while more := {pid for pid, fields in stats.items() if fields[1] in ours and pid not in ours}:
        ours |= more
    python = [pid for pid in ours - {str(os.getpid())} if b"pyspark" in _command(pid) and b"java" not in _command(pid)]
    # utime, stime, and the same of children that were waited for: fields 14 to 17 of proc(5).
    return sum(sum(map(int, stats[pid][11:15])) for pid in python) / _TICKS


def _command(pid: str) -> bytes:
    try:
        return Path("/proc", pid, "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
