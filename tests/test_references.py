"""What a comment refers to is there: a module's name, and one function at a line of Kafka's sources."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.test_layout import CODE, named

IN_BACKTICKS = re.compile(r"`(?:\w+\.)*(?P<module>[a-z_]+)\.(?P<name>\w+)`")
SUFFIXES = {"py", "md", "txt", "json", "yaml"}
"""A file's name is no module's."""
LINE_OF_KAFKA = re.compile(r"\b((?:P|RM|RFT|R|UL|LEFC|LL|PCB):\d+) ([a-z]+[A-Z]\w+)")


def defined(path: Path) -> set[str]:
    """Every name that a module gives to something."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    made = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return made | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def in_modules() -> dict[str, set[str]]:
    """What each module has, by its own name; a folder has its modules."""
    has: dict[str, set[str]] = defaultdict(set)
    for path in CODE:
        has[path.stem] |= defined(path)
        has[path.parent.name].add(path.stem)
    return has


def test_a_name_of_ours_exists() -> None:
    """`module.name` in a comment: whoever follows it arrives."""
    modules = in_modules()
    found = [(named(path), it) for path in CODE for it in IN_BACKTICKS.finditer(path.read_text(encoding="utf-8"))]
    ours = [(where, it) for where, it in found if it["module"] in modules and it["name"] not in SUFFIXES]

    assert [(where, it[0]) for where, it in ours if it["name"] not in modules[it["module"]]] == []


def test_a_line_of_kafka_is_in_one_function() -> None:
    """Two names for one line: one of them is wrong."""
    functions: dict[str, set[str]] = defaultdict(set)
    for path in CODE:
        for line, function in LINE_OF_KAFKA.findall(path.read_text(encoding="utf-8")):
            functions[line].add(function)

    assert {line: each for line, each in functions.items() if len(each) > 1} == {}
