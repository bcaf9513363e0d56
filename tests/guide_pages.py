"""README and guides as a reader follows them: the commands and queries of their fenced blocks, in order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parent.parent
GUIDES = (
    "capture-from-your-cluster", "post-mortem-in-ten-minutes", "run-on-a-cluster", "share-a-capture",
    "the-protocol-by-scenarios", "add-a-log-format",
)  # fmt: skip
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

PAGES = [
    ROOT / "README.md", ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs" / "guides" / f"{name}.md" for name in GUIDES),
    ROOT / "docs" / "see-it-for-yourself.md", ROOT / "docs" / "rules.md", ROOT / "docs" / "tables.md",
    ROOT / "docs" / "views.md", ROOT / "docs" / "protocol.md",
    ROOT / "examples" / "scenarios" / "README.md",
]  # fmt: skip
"""In the order in which they are read; `test_guides.py` sees to it that none is missing."""

COMMANDS = ("tidegauge", "make", "spark-submit", "openssl")
"""What a block without a language may begin with and a test can run."""

OTHERS = ("kafka-configs.sh", "zcat")
"""Programs of a Kafka distribution, and a pipe of the shell over what only a live cluster writes: these are read."""


def blocks(language: str) -> list[tuple[str, str]]:
    """The fenced blocks of a language, each with its page's place."""
    texts = ((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in PAGES)
    return [(name, block[2]) for name, text in texts for block in FENCED.finditer(text) if block[1] == language]


def lines_of(block: str) -> list[str]:
    """The commands of a block, each on one line."""
    return [line for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def program_of(line: str) -> str:
    """The program a line begins with."""
    return line.split(maxsplit=1)[0].removeprefix(".venv/bin/")


def commands(program: str) -> list[tuple[str, list[str]]]:
    """The commands of a program, each with its page, as words."""
    lines = [(name, line) for name, block in blocks("") for line in lines_of(block) if program_of(line) == program]
    return [(name, shlex.split(line, comments=True)[1:]) for name, line in lines]
