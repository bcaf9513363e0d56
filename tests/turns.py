"""Two runs in one process, of which the second wants what the first has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest


def taken_in_turn(
    hold: Callable[[], AbstractContextManager[object]], capsys: pytest.CaptureFixture[str], order: list[str]
) -> str:
    """What is said until the second waits for the first; `order` has whose work was done, in turn."""

    def second() -> None:
        with hold():
            order.append("second")

    with hold():
        other = threading.Thread(target=second)
        other.start()
        said = capsys.readouterr().err
        while "waiting for its end" not in said and other.is_alive():
            said += capsys.readouterr().err
            other.join(0.02)
        order.append("first")
    other.join()
    return said
