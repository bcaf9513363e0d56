"""How runs of the check are told: on stdout, and in the files that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from jobs.check_formats import as_json, print_verdicts, write_junit
from jobs.check_run import CheckRun, worst
from jobs.command import say_error
from jobs.errors import ExitCode
from jobs.progress import say
from jobs.warehouse import Warehouse


@dataclass(frozen=True)
class Outputs:
    """Where and how the verdicts are told."""

    wants_json: bool
    junit: Path | None
    data_docs: Path | None


def tell(warehouse: Warehouse, runs: Sequence[CheckRun], code: ExitCode, outputs: Outputs, fail_on: str | None) -> int:
    """Write the files that are asked for and print the verdicts; the exit code.

    The verdicts are kept, and no news to a next run: a file that cannot be written does not hide a broken rule.
    """
    files = [
        *([partial(write_junit, runs, outputs.junit, fail_on)] if outputs.junit else []),
        *([partial(write_documents, warehouse, runs, outputs.data_docs)] if outputs.data_docs else []),
    ]
    if [write for write in files if not is_done(write)]:
        code = worst([code, ExitCode.COULD_NOT_RUN])
    if outputs.wants_json:
        click.echo(as_json(runs, code))
    else:
        for done in runs:
            print_verdicts(done)
    return code


def is_done(work: Callable[[], None]) -> bool:
    """Whether something was kept or written; why not is said."""
    try:
        work()
    except Exception as error:  # noqa: BLE001 - whatever Great Expectations raises, the verdict stands
        say_error(error)
        return False
    return True


def write_documents(warehouse: Warehouse, runs: Sequence[CheckRun], folder: Path) -> None:
    """Write Great Expectations' Data Docs of the runs."""
    from expectations.data_docs import write_data_docs  # noqa: PLC0415 - it takes seconds, and few ask for it

    for done in runs:
        place = str(folder.absolute())
        write_data_docs(warehouse.spark, place, done.run_id, done.cluster_id, done.judgement.tallies)
    say(f"  Data Docs: {folder / 'index.html'}")
