"""How a job becomes a command: the options all jobs share, and how each way to end becomes an exit code."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from jobs.errors import ExitCode, reason
from sources.errors import CaptureError
from sources.log4j import Layout, layout_of

DEBUG = "TIDEGAUGE_DEBUG"
CLUSTER_ID = re.compile(r"[\w.:-]{1,128}")
DEFAULT_CLUSTER_ID = "default"
"""Of a delivery that names no cluster."""

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _check_timezone(_context: click.Context, _option: click.Parameter, name: str) -> str:
    """Refuse a time zone that the zone database does not have."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"{name!r} is no time zone; say for example UTC or Europe/Berlin."
        raise click.BadParameter(message) from error
    return name


def _check_cluster_id(_context: click.Context, _option: click.Parameter, cluster_id: str | None) -> str | None:
    """Refuse an id that could not stand in a table's predicate or a file name."""
    if cluster_id is not None and not CLUSTER_ID.fullmatch(cluster_id):
        message = f"{cluster_id!r}: letters, digits and _ . : - only, at most 128."
        raise click.BadParameter(message)
    return cluster_id


def _check_pattern(_context: click.Context, _option: click.Parameter, pattern: str | None) -> Layout | None:
    """Refuse a pattern that leaves out what every line must tell."""
    try:
        return None if pattern is None else layout_of(pattern)
    except CaptureError as error:
        raise click.BadParameter(str(error)) from error


def _switch_debug_on(_context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Remember the switch where Spark's start and the error handler look for it."""
    if wanted:
        os.environ[DEBUG] = "1"


def cluster_option(default: str) -> Callable[[Decorated], Decorated]:
    """`--cluster-id`; `default` says which it is where none is named."""
    text = f"Cluster's name. Default: {default}."
    return click.option("--cluster-id", metavar="ID", callback=_check_cluster_id, help=text)


EVERY_CLUSTER = cluster_option("every cluster of the warehouse")
capture_option = click.option(
    "--capture-id", metavar="ID", callback=_check_cluster_id, help="Delivery's name. Default: a digest of its files."
)
timezone_option = click.option(
    "--timezone",
    default="UTC",
    show_default=True,
    metavar="ZONE",
    callback=_check_timezone,
    help="Zone of the brokers' log lines, which do not tell it.",
)
pattern_option = click.option(
    "--log-pattern",
    "layout",
    metavar="PATTERN",
    callback=_check_pattern,
    help="log4j pattern of the brokers' log lines, where it is not Kafka's own: '%d{ISO8601} %-5p %c{1} - %m%n'. "
    "Where the date is not as Kafka writes it, only folders broker-N tell whose the logs are.",
)
debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_switch_debug_on,
    help=f"Show tracebacks and Spark's own log ({DEBUG}=1 does too).",
)


def options(*decorators: Callable[[Decorated], Decorated]) -> Callable[[Decorated], Decorated]:
    """Apply options in the order in which `--help` is to list them."""

    def decorate(function: Decorated) -> Decorated:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def say_error(error: Exception) -> None:
    """Print why something could not be done, as one line on stderr, under its traceback with --debug."""
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    click.echo(f"tidegauge: {reason(error)}", err=True)


def run(command: click.Command, argv: Sequence[str] | None = None) -> int:
    """Run `command` and return its exit code; errors are one line on stderr, tracebacks only with --debug."""
    stdout = sys.stdout
    try:
        result = command.main(args=None if argv is None else list(argv), standalone_mode=False)
    except click.UsageError as error:
        error.show()
        return ExitCode.USAGE
    except click.exceptions.Abort:
        click.echo("tidegauge: interrupted", err=True)
        return ExitCode.COULD_NOT_RUN
    except SystemExit as exit_:  # of a library: PySpark takes `python -c` for its own tests, and ends it with 0
        # Where nobody reads any more, as in `tidegauge show … | head`, Click puts a stream in place that does not mind.
        if sys.stdout is stdout:
            click.echo(f"tidegauge: a library ended the job (exit code {exit_.code}); run it as a program", err=True)
        return ExitCode.COULD_NOT_RUN
    except Exception as error:  # noqa: BLE001 - Python would exit with 1, and a scheduler read "only warnings"
        say_error(error)
        return ExitCode.COULD_NOT_RUN
    return result if isinstance(result, int) else ExitCode.OK
