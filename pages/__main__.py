"""Write every page that is made: `python -m pages`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pages.protocol import protocol_page
from pages.rules import rules_page
from pages.scenarios import scenarios_page
from pages.tables import tables_page
from pages.views import views_page

DOCS = Path(__file__).parent.parent / "docs"
PAGES: Mapping[str, Callable[[], str]] = {
    "tables.md": tables_page,
    "views.md": views_page,
    "rules.md": rules_page,
    "protocol.md": protocol_page,
    "guides/the-protocol-by-scenarios.md": scenarios_page,
}
"""How each is made, by its place below docs/."""


if __name__ == "__main__":
    for name, made in PAGES.items():
        (DOCS / name).write_text(made(), encoding="utf-8")
