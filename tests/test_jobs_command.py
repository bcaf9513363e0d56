"""What a scheduler sees of a job: its exit code, one line on stderr, help that shows how."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from pyspark.errors import AnalysisException

from jobs import __version__
from jobs.cli import main, tidegauge
from jobs.command import run
from jobs.errors import ExitCode

COMMANDS = sorted(tidegauge.commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command: str) -> None:
    """Each command says what it is for and how it is called."""
    result = CliRunner().invoke(tidegauge, [command, "--help"])

    assert result.exit_code == 0
    assert f"Example: tidegauge {command}" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["ingest"], "Missing argument 'CAPTURE'"),
        (["ingest", "x"], "Missing option '--warehouse'"),
        (["ingest", "x", "--warehouse", "w", "--timezone", "Mars/Base"], "'Mars/Base' is no time zone"),
        (["pipeline", "x", "--warehouse", "w", "--cluster-id", "a' OR 'a"], "letters, digits"),
        (["sql", "--warehouse", "w", "--limit", "0"], "x>=1"),
        (["no-such-command"], "No such command"),
        (["ingest", "x", "--warehouse", "w", "--no-such-option"], "No such option"),
    ],
)
def test_usage_errors_exit_with_64(argv: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Not with click's 2, which a scheduler would read as a broken rule."""
    assert main(argv) == ExitCode.USAGE
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("command", ["pipeline", "agree"])
@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_that_is_no_capture_is_told_at_once(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code 3, one line that names the folder, no traceback, and no warehouse begun."""
    (tmp_path / "empty").mkdir()
    code = main([command, str(tmp_path / name), "--warehouse", str(tmp_path / "lake")])
    shown = capsys.readouterr()

    assert code == ExitCode.COULD_NOT_RUN
    assert shown.err.count("\n") == 1
    assert str(tmp_path / name) in shown.err
    assert shown.out == ""
    assert not (tmp_path / "lake").exists()


def test_a_file_is_neither_a_capture_nor_a_warehouse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Said before Spark starts, with its name."""
    log = tmp_path / "server.log"
    log.write_text("[2026-11-21 10:36:41,000] INFO starting (kafka.server.KafkaServer)\n", encoding="utf-8")

    assert main(["ingest", str(log), "--warehouse", str(tmp_path / "lake")]) == ExitCode.COULD_NOT_RUN
    assert capsys.readouterr().err == f"tidegauge: {log}: a file; name the folder that it lies in\n"
    assert main(["ingest", str(tmp_path), "--warehouse", str(log)]) == ExitCode.COULD_NOT_RUN
    assert capsys.readouterr().err.splitlines()[-1] == f"tidegauge: {log}: File exists"


def failing(error: BaseException) -> click.Command:
    """A command that fails."""

    @click.command()
    def fail() -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (AnalysisException("[TABLE_OR_VIEW_NOT_FOUND] no t\n'Project [1]\n+- x"), "[TABLE_OR_VIEW_NOT_FOUND] no t"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero (--debug shows where)"),
        (PermissionError(errno.EACCES, "Permission denied", "/lake/x"), "/lake/x: Permission denied"),
        (KeyError(), "KeyError: no message (--debug shows where)"),
        (SystemExit(0), "a library ended the job (exit code 0); run it as a program"),
    ],
)
def test_any_failure_is_one_line_and_code_3(
    error: BaseException, line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's own 1 would read as "only warnings", so that not even a defect may exit with it."""
    monkeypatch.delenv("TIDEGAUGE_DEBUG", raising=False)

    assert run(failing(error), []) == ExitCode.COULD_NOT_RUN
    assert capsys.readouterr().err == f"tidegauge: {line}\n"


def test_where_nobody_reads_any_more_nothing_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `tidegauge show … | head`; the code says that not all was told."""
    for stream in ("stdout", "stderr"):  # Click puts its own in their place
        monkeypatch.setattr(sys, stream, getattr(sys, stream))

    assert run(failing(BrokenPipeError(errno.EPIPE, "Broken pipe")), []) == ExitCode.COULD_NOT_RUN
    assert capsys.readouterr() == ("", "")


def test_debug_shows_where(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With TIDEGAUGE_DEBUG the traceback comes before the line, and the code stays."""
    monkeypatch.setenv("TIDEGAUGE_DEBUG", "1")

    assert run(failing(ZeroDivisionError("x")), []) == ExitCode.COULD_NOT_RUN
    assert "Traceback" in capsys.readouterr().err


def test_a_command_says_its_exit_code() -> None:
    """What a command returns is the process's code: the check's verdict reaches the shell."""

    @click.command()
    def broken() -> int:
        return ExitCode.RULE_BROKEN

    assert run(broken, []) == 2


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """The version is the package's."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tidegauge {__version__}\n"
