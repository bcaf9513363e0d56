"""Options from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from jobs.cli import tidegauge
from jobs.command import run
from jobs.run_config import COMMANDS, Configured

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = "conf/run-example.yaml"


@click.command("check", cls=Configured)
@click.option("--warehouse", required=True)
@click.option("--fail-on", type=click.Choice(["warn"]))
@click.option("--days", type=int, default=1)
def check(warehouse: str, fail_on: str | None, days: int) -> None:
    """Tell what was given."""
    click.echo(f"{warehouse} {fail_on} {days}")


def written(folder: Path, text: str) -> str:
    """A file of this text."""
    file = folder / "run.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_the_command_line_goes_before_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file gives what is required; sections of other commands say nothing here."""
    file = written(tmp_path, "common: {warehouse: lake}\ncheck: {fail-on: warn, days: 3}\ningest: {timezone: UTC}")

    assert run(check, ["--run-config", file, "--days", "5"]) == 0
    assert capsys.readouterr().out == "lake warn 5\n"


def test_show_config_tells_whence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each option with its source, and nothing is done."""
    file = written(tmp_path, "common: {warehouse: lake}")

    assert run(check, ["--run-config", file, "--fail-on", "warn", "--show-config"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "warehouse: lake  # run configuration",
        "fail-on: warn  # command line",
        "days: 1  # default",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("check: {fail-in: warn}", "there is no check.fail-in"),
        ("common: {fail-on: warn}", "there is no common.fail-on"),
        ("chekc: {days: 1}", "there is no chekc"),
        ("check: {days: soon}", "'soon' is not a valid integer"),
        ("check: [1, 2]", "a section a command"),
        ("check: {days: 1", "no YAML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str) -> None:
    """Exit code 64."""
    assert run(check, ["--warehouse", "lake", "--run-config", written(tmp_path, text)]) == 64
    assert words in capsys.readouterr().err


def test_every_command_takes_one(capsys: pytest.CaptureFixture[str]) -> None:
    """The sections are the commands; the example is one."""
    configured = {name for name, command in tidegauge.commands.items() if isinstance(command, Configured)}

    assert configured == set(tidegauge.commands) <= set(COMMANDS)
    assert run(tidegauge, ["check", "--run-config", EXAMPLE, "--show-config"]) == 0
    assert "warehouse: /data/tidegauge  # run configuration" in capsys.readouterr().out
