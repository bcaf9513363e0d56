"""One run at a time: on a warehouse, where what one takes back as unfinished may be what another is about to finish."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.places import on_this_machine
from jobs.progress import say

LOCK = ".tidegauge.lock"
"""File below the warehouse; the lock on it ends with the process that holds it, however that ends."""


@contextmanager
def alone(warehouse: str) -> Iterator[None]:
    """Wait until no other run writes to the warehouse; in an object store nobody can know. Where none is, none does."""
    folder = on_this_machine(warehouse)
    if folder is None or not folder.is_dir():
        yield
        return
    with in_turn(folder / LOCK, f"  another run writes to {warehouse}: waiting for its end"):
        yield


@contextmanager
def in_turn(lock_file: Path, waiting: str) -> Iterator[None]:
    """Hold the lock on the file, made where there is none; say `waiting` if another process has it, and wait for it."""
    with lock_file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(waiting)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
