"""How an answer is got to each of some questions to Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

Of = TypeVar("Of")
Answer = TypeVar("Answer")


class Each(Protocol):
    """As `map`: one after the other; or at once, which is for a job to say (`jobs.at_once`)."""

    def __call__(self, ask: Callable[[Of], Answer], of: Iterable[Of], /) -> Iterable[Answer]:
        """Return the answers, in the order of the questions."""
