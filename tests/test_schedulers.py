"""The schedulers' examples: they compile, and every command they run is one that `tidegauge` takes."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from jobs.cli import tidegauge

EXAMPLES = Path(__file__).parent.parent / "examples" / "schedulers"
NAMES = {"TIDEGAUGE", "$TIDEGAUGE"}


def constants(tree: ast.Module) -> dict[str, str]:
    """Texts that the module gives names to."""
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def python_commands(path: Path) -> Iterator[list[str]]:
    """The commands of a Python example: lists and f-strings that begin with TIDEGAUGE."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.List) and node.elts and isinstance(node.elts[0], ast.Name) and node.elts[0].id in NAMES:
            yield [known[e.id] if isinstance(e, ast.Name) else ast.literal_eval(e) for e in node.elts][1:]
        if isinstance(node, ast.JoinedStr):
            text = "".join(part_of(value, known) for value in node.values)
            if text.startswith(known["TIDEGAUGE"]):
                yield shlex.split(text.replace("{{ ds }}", "2026-01-01"))[1:]  # as Airflow renders it


def part_of(value: ast.expr, known: dict[str, str]) -> str:
    """A part of an f-string: its text, or that of the constant it names."""
    if isinstance(value, ast.FormattedValue) and isinstance(value.value, ast.Name):
        return known.get(value.value.id, "?")
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else "?"


def cron_commands(path: Path) -> Iterator[list[str]]:
    """The commands of the cron lines."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line[:1].isdigit():
            assert len(line.split(None, 5)) == 6
            for command in line.split(None, 5)[5].replace("||", ";").replace("&&", ";").split(";"):
                words = shlex.split(command.split(">")[0])
                if words[0] in NAMES:
                    yield words[1:]


COMMANDS = [
    *cron_commands(EXAMPLES / "crontab"),
    *[command for path in sorted(EXAMPLES.glob("*.py")) for command in python_commands(path)],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_is_taken(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options are known, and their values are such."""
    monkeypatch.setattr(click.Path, "convert", lambda _self, value, *_: Path(value))  # no file of it is here
    named = tidegauge.commands[command[0]]

    assert str(named.make_context(command[0], command[1:]).params["warehouse"]) in (
        "/data/tidegauge/warehouse",
        "$WAREHOUSE",
    )


def test_each_example_ingests_reconstructs_and_checks() -> None:
    """A check of yesterday's tables would be no check."""
    assert sorted(command[0] for command in COMMANDS) == sorted(["ingest", "reconstruct", "check"] * 3 + ["report"])


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_compiles(path: Path) -> None:
    """The scheduler's own packages are not needed here: nothing is imported."""
    compile(path.read_text(encoding="utf-8"), str(path), "exec")
