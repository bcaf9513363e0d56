"""docs/guides/the-protocol-by-scenarios.md: the stories that the tests replay."""

from __future__ import annotations

import re
from pathlib import Path

SCENARIOS = Path(__file__).parent.parent / "tests" / "scenarios"
HEAD = """\
# The protocol by scenarios

<!-- Made by `make docs` from tests/scenarios: edit those. -->

Each story is a test: the left side happens, the right side is what `tidegauge` must rebuild from its logs, written by
hand from Kafka's sources. `1:5 2:3 hw 3` is the leader's view: its own LEO first, then the remote LEO of each other
replica (`?` not heard from yet), then the high watermark. `replica 2: leo 5 hw 3` is what that replica itself knows,
`lost 2: 3 to 5` what it cut from its log. The worked examples, a to j, come first.
"""


def scenarios_page() -> str:
    """The page: a section per story, the worked examples (a_ to j_) first."""
    stories = sorted(SCENARIOS.glob("*.txt"), key=lambda path: (not _is_worked(path), path.name))
    return HEAD + "".join(map(_section, stories))


def _is_worked(path: Path) -> bool:
    """Whether the story's comment names a worked example, by its letter."""
    return path.read_text().startswith("# Example ")


def _section(path: Path) -> str:
    """A story as a section: its comment as words, its lines as they are."""
    lines = path.read_text().splitlines()
    words = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
    drawn = [line for line in lines if line and not line.startswith("#")]
    return "\n".join([f"\n## {_title(path)}\n", *words, "\n```", *drawn, "```\n"])


def _title(path: Path) -> str:
    """The file's name as a heading: versions with their dots, and the field's short words as it writes them."""
    name = re.sub(r"(?<=\d)_(?=\d)", ".", path.stem).replace("_", " ")
    words = [word.upper() if word in ("hw", "isr", "leo", "lso") else word for word in name.split(" ")]
    first, *rest = words
    if _is_worked(path) and len(first) == 1:
        return f"{first}: {' '.join(rest)}"
    return " ".join([first if first.isupper() else first.capitalize(), *rest])
