"""The schedulers' examples: they compile, and every command they run is one that `tidegauge` takes."""

from __future__ import annotations

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

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
            for command in re.split(r"\|\||&&|[;()]", line.split(None, 5)[5]):
                words = shlex.split(command.split(">")[0])
                if words and words[0] in NAMES:
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


@pytest.mark.parametrize("failing", ["ingest", "reconstruct", "check", "none"])
def test_the_cron_line_prints_what_failed(failing: str, tmp_path: Path) -> None:
    """And nothing else, for all that it prints is mailed; the check is run in any case."""
    tool = tmp_path / "tidegauge"
    tool.write_text(f'#!/bin/sh\necho "$1 ran" | tee -a {tmp_path}/ran\n[ "$1" != {failing} ]\n')
    tool.chmod(0o755)
    (line,) = [line for line in (EXAMPLES / "crontab").read_text().splitlines() if line[:1].isdigit()]
    command = line.split(None, 5)[5].replace("/data/tidegauge", str(tmp_path))
    told = subprocess.run(
        ["sh", "-c", command], env={**os.environ, "TIDEGAUGE": str(tool), "WAREHOUSE": "w"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    before = {"ingest": ["ingest"], "reconstruct": ["ingest", "reconstruct"], "check": ["check"], "none": []}[failing]

    assert told.stdout.split() == [word for step in before for word in (step, "ran")]
    assert told.stderr == ""
    assert (tmp_path / "ran").read_text().split()[-2] == "check"


def test_a_run_of_the_dag_is_what_its_check_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow takes a run for what its last tasks are: they wait for all, and fail with the check."""
    tasks: list[Task] = []

    class Task:
        """A task, and those that come after it."""

        def __init__(self, *, task_id: str = "", trigger_rule: str = "all_success", **_: object) -> None:
            self.name, self.rule, self.after = task_id, trigger_rule, list[Task]()
            tasks.append(self)

        def __rshift__(self, other: Task) -> Task:
            self.after.append(other)
            return other

        def __rrshift__(self, others: list[Task]) -> Task:
            for one in others:
                one.after.append(self)
            return self

    names = ("BashOperator", "EmptyOperator", "PythonOperator", "AirflowFailException")
    for module in (
        "airflow",
        *(f"airflow.{name}" for name in ("exceptions", "operators.bash", "operators.empty", "operators.python")),
    ):
        parts = {**dict.fromkeys(names, Task), "DAG": lambda **_: nullcontext()}
        monkeypatch.setitem(sys.modules, module, cast(Any, SimpleNamespace(**parts)))
    runpy.run_path(str(EXAMPLES / "airflow_dag.py"))
    last = [task for task in tasks if not task.after]
    before = [task.name for task in tasks if last[0] in task.after]

    assert [(task.name, task.rule) for task in last] == [("verdict", "all_success")]
    assert sorted(before) == ["check", "report"]


def test_each_example_ingests_reconstructs_and_checks() -> None:
    """A check of yesterday's tables would be no check."""
    assert sorted(command[0] for command in COMMANDS) == sorted(["ingest", "reconstruct", "check"] * 3 + ["report"])


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_compiles(path: Path) -> None:
    """The scheduler's own packages are not needed here: nothing is imported."""
    compile(path.read_text(encoding="utf-8"), str(path), "exec")
