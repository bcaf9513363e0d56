"""The ways a job ends otherwise than well: the exit code of each, and the one line that says why."""

from __future__ import annotations

from enum import IntEnum

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from expectations.errors import PolicyError
from sources.errors import CaptureError


class ExitCode(IntEnum):
    """What a job's exit code says; the values are a contract with schedulers."""

    OK = 0
    WARNINGS = 1
    RULE_BROKEN = 2
    COULD_NOT_RUN = 3
    USAGE = 64  # sysexits' EX_USAGE: click's own 2 would read as "a rule is broken"


class CouldNotRunError(Exception):
    """A missing table or column, an empty input, Spark not starting: its message is one clear line."""


def reason(error: Exception) -> str:
    """Why a job could not run, in one line; a kind of error nobody foresaw is named."""
    if isinstance(error, CaptureError | PolicyError | CouldNotRunError):
        return str(error)
    if isinstance(error, Py4JJavaError):
        return _first_line(str(error.java_exception))
    if isinstance(error, PySparkException):
        return _first_line(str(error))
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return f"{type(error).__name__}: {_first_line(str(error))} (--debug shows where)"


def _first_line(message: str) -> str:
    """The first line that says something; below it Spark prints plans and stacks."""
    return next((line.strip() for line in message.splitlines() if line.strip()), "no message")
