"""docs/guides/the-protocol-by-scenarios.md, made of the stories: `python -m tests.drawn > docs/guides/…`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.story import SCENARIOS

PAGE = Path(__file__).parent.parent / "docs" / "guides" / "the-protocol-by-scenarios.md"
HEAD = """\
# The protocol by scenarios

<!-- Made by `python -m tests.drawn > docs/guides/the-protocol-by-scenarios.md` from tests/scenarios: edit those. -->

Each story is a test: the left side happens, the right side is what `tidegauge` must rebuild from its logs, written by
hand from Kafka's sources. `1:5 2:3 hw 3` is the leader's view: its own LEO first, then the remote LEO of each other
replica (`?` not heard from yet), then the high watermark. `replica 2: leo 5 hw 3` is what that replica itself knows,
`lost 2: 3 to 5` what it cut from its log. The worked examples, a to j, come first.
"""


def page() -> str:
    """The page: a section per story, the worked examples (a_ to j_) first."""
    stories = sorted(SCENARIOS.glob("*.txt"), key=lambda path: (not _is_worked(path), path.name))
    return HEAD + "".join(map(_section, stories))


def _is_worked(path: Path) -> bool:
    """Whether the story's comment names a worked example of the design."""
    return path.read_text().startswith("# design.md 8")


def _section(path: Path) -> str:
    """A story as a section: its comment as words, its lines as they are."""
    lines = path.read_text().splitlines()
    words = [
        line.removeprefix("#").strip().replace("design.md 8", "Example ") for line in lines if line.startswith("#")
    ]
    drawn = [line for line in lines if line and not line.startswith("#")]
    letter, _, rest = path.stem.replace("_", " ").partition(" ")
    title = f"{letter}: {rest}" if _is_worked(path) else f"{letter.capitalize()} {rest}"
    return "\n".join([f"\n## {title}\n", *words, "\n```", *drawn, "```\n"])


if __name__ == "__main__":
    sys.stdout.write(page())
