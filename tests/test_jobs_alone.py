"""Two runs on one warehouse: the second waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.alone import LOCK, alone
from jobs.cli import main
from jobs.errors import ExitCode
from tests.turns import taken_in_turn


def test_the_second_run_waits_for_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says so; then it has its turn."""
    order: list[str] = []
    said = taken_in_turn(lambda: alone(str(tmp_path)), capsys, order)

    assert order == ["first", "second"]
    assert "waiting for its end" in said


def test_a_uri_of_this_machine_has_the_same_lock(tmp_path: Path) -> None:
    """Whichever way a folder is named, it is one warehouse."""
    with alone(f"file://{tmp_path}"):
        assert (tmp_path / LOCK).exists()


def test_a_store_elsewhere_has_no_lock() -> None:
    """Nothing is made on this machine."""
    with alone("s3a://bucket/lake"):
        assert not Path("s3a:").exists()


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("job", ["reconstruct", "what-if"])
def test_a_warehouse_that_is_not_there_is_not_made(
    job: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a job that needs one: of a name that was typed wrong no folder is left."""
    assert main([job, "--warehouse", str(tmp_path / "lkae")]) == ExitCode.COULD_NOT_RUN
    assert capsys.readouterr().err == f"tidegauge: {tmp_path / 'lkae'} has no table source_files\n"
    assert not (tmp_path / "lkae").exists()
