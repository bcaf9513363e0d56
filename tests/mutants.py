"""Mutants of the engine by hand: one condition of one function written otherwise, for as long as a test lasts."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from types import CodeType, FunctionType

import pytest


@dataclass(frozen=True)
class Mutant:
    """A function in whose text `old`, which is there once, is `new`; `because` says what it then gets wrong."""

    of: FunctionType
    old: str
    new: str
    because: str

    def __str__(self) -> str:
        return f"{self.of.__module__}.{self.of.__name__}: {self.because}"

    def live(self, patch: pytest.MonkeyPatch) -> None:
        """Exchange the function's code, and not its name: whoever has imported the function calls the mutant."""
        patch.setattr(self.of, "__code__", self.code())

    def code(self) -> CodeType:
        """The code of the changed text."""
        text = textwrap.dedent(inspect.getsource(self.of))
        assert text.count(self.old) == 1, f"{self} changes what is not there once: {self.old}"
        names = dict(self.of.__globals__)
        changed = "from __future__ import annotations\n" + text.replace(self.old, self.new)
        exec(compile(changed, str(self), "exec", dont_inherit=True), names)  # noqa: S102 - a text of this tree
        code: CodeType = names[self.of.__name__].__code__
        return code
