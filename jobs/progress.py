"""What a person sees while a job runs (stderr, one line per step) and when it has ended (stdout, one table)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

UNWRAPPED = 2**31
"""Characters of a line that no table is as wide as: beyond its width a value would be cut short."""


@dataclass
class Step:
    """A step under way; who runs it says how many rows it wrote."""

    name: str
    rows: int | None = None
    note: str = ""
    started: float = field(default_factory=time.monotonic)

    def line(self) -> str:
        """The step as one line: name, rows, seconds, note."""
        rows = "" if self.rows is None else f"{self.rows:,} rows"
        return f"  {self.name:<24}{rows:>18}{time.monotonic() - self.started:>8.1f} s  {self.note}".rstrip()


def say(line: str) -> None:
    """Print a line of progress to stderr: stdout is for results."""
    click.echo(line, err=True)


@contextmanager
def step(name: str) -> Iterator[Step]:
    """Time a step and print its line when it is done; a step that fails prints nothing, its error does."""
    current = Step(name)
    yield current
    say(current.line())


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table to stdout, as wide as the terminal, unwrapped where stdout is no terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=UNWRAPPED)
    table = Table(box=None, pad_edge=False)
    for name in map(Text, columns):  # Text: a name such as keys[topic], or a value such as [red], is no markup
        table.add_column(name)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
