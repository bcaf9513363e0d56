"""What has been done to a cluster, and when: told to whoever watches, and kept for about.json."""

from __future__ import annotations

import time
from collections.abc import Callable

Say = Callable[[str], None]


class Acts:
    """The acts so far; time counts from the beginning of the load."""

    def __init__(self, say: Say) -> None:
        self.acts: list[dict[str, object]] = []
        self._say = say
        self._started = time.monotonic()

    def begin(self) -> None:
        """The load runs: time counts from now."""
        self._started = time.monotonic()
        self.note("load begins")

    @property
    def elapsed(self) -> float:
        """Seconds since the load began."""
        return time.monotonic() - self._started

    def note(self, act: str) -> None:
        """Tell and keep an act."""
        self.acts.append({"ts": time.time_ns() // 1_000_000, "seconds": round(self.elapsed, 1), "act": act})
        self._say(f"  {self.elapsed:>6.1f} s  {act}")
