"""Two runs on one warehouse: the second waits."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from jobs.alone import alone


def test_the_second_run_waits_for_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says so; then it has its turn."""
    order: list[str] = []
    has_begun = threading.Event()

    def second() -> None:
        has_begun.set()
        with alone(str(tmp_path)):
            order.append("second")

    with alone(str(tmp_path)):
        other = threading.Thread(target=second)
        other.start()
        has_begun.wait()
        other.join(0.3)
        order.append("first")
    other.join()

    assert order == ["first", "second"]
    assert "waiting for its end" in capsys.readouterr().err


def test_a_store_elsewhere_has_no_lock() -> None:
    """Nothing is made on this machine."""
    with alone("s3a://bucket/lake"):
        assert not Path("s3a:").exists()
