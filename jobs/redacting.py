"""`--redact`: what is replaced as it lands, the key that does it, and that a warehouse has one of both, or none."""

from __future__ import annotations

import os
from pathlib import Path

import click

from jobs.deliveries import EVENT_TABLES
from jobs.errors import CouldNotRunError
from jobs.warehouse import Warehouse
from sources.redaction import Redacted, Redaction

KEY = "TIDEGAUGE_REDACT_KEY"
"""Environment variable with the key; never an option, for a command line is there for all to see."""

LEAST_BYTES = 16
"""A shorter key is guessed."""

REDACTION_PROPERTY = "tidegauge.redaction"


def _words(_context: click.Context, _option: click.Parameter, given: str | None) -> frozenset[Redacted]:
    """What is asked for; a word that is none of the three is refused, also one that a script left empty."""
    try:
        return frozenset() if given is None else frozenset(Redacted(word.strip()) for word in given.split(","))
    except ValueError as error:
        message = f"{error}; it takes {', '.join(Redacted)}, joined by commas."
        raise click.BadParameter(message) from error


redact_option = click.option(
    "--redact",
    metavar="WORDS",
    callback=_words,
    help=f"Replace names as they land: topics,hosts,principals. The key is in {KEY} or --redact-key-file.",
)
redact_key_option = click.option(
    "--redact-key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"File with the key of --redact, {LEAST_BYTES} bytes or more.",
)


def redacting(what: frozenset[Redacted], key_file: Path | None) -> Redaction:
    """What is replaced, and with which key; a key without --redact is refused as --redact without a key is."""
    if not what:
        if key_file is not None:
            message = "--redact-key-file says nothing without --redact"
            raise click.UsageError(message)
        return Redaction()
    key = os.environ.get(KEY, "").encode() if key_file is None else key_file.read_bytes()
    key = key.rstrip(b"\r\n")
    if len(key) < LEAST_BYTES:
        message = f"--redact needs a key of {LEAST_BYTES} bytes or more, in {KEY} or in the file of --redact-key-file"
        raise click.UsageError(message)
    return Redaction(what, key)


def require_same(warehouse: Warehouse, redaction: Redaction) -> dict[str, str]:
    """The fact that each table is to carry; a warehouse with another one is refused: its rows would never meet."""
    if warehouse.has(EVENT_TABLES[0]):
        found = warehouse.facts(EVENT_TABLES[0]).get(REDACTION_PROPERTY, Redaction().fingerprint)
        if found != redaction.fingerprint:
            message = f"{warehouse.path}: {_difference(found.split()[0], redaction)}; use another warehouse"
            raise CouldNotRunError(message)
    return {REDACTION_PROPERTY: redaction.fingerprint}


def _difference(found: str, redaction: Redaction) -> str:
    """What the warehouse has that this run has not, or the other way round."""
    asked = redaction.fingerprint.split()[0]
    if found == asked:
        return "its names were redacted with another key"
    if found == Redaction().fingerprint:
        return "its names are not redacted, and --redact was given"
    other = "another one" if redaction.what else "none"
    return f"its names were redacted with --redact {found}, and this run has {other}"
