"""What words mean: the strings below the members of a class, as its author wrote them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

RESERVED = "Reserved"
"""Begins what a word means that no row has."""


def meanings(described: type) -> dict[str, str]:
    """Return what each member of a class means, by its name in the code; of one without a string below it nothing."""
    lines = next(it for it in ast.parse(inspect.getsource(described)).body if isinstance(it, ast.ClassDef)).body
    found = {}
    for member, text in pairwise(lines):
        match member, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(meaning))),
            ):
                found[name] = " ".join(meaning.split())
    return found


def in_use(words: type[StrEnum]) -> Sequence[StrEnum]:
    """Return the words that a row may have, in their order."""
    told = meanings(words)
    return [word for word in words if not told.get(word.name, "").startswith(RESERVED)]
