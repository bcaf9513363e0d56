"""The data dictionary."""

from __future__ import annotations

from pathlib import Path

from schemas.document import tables_page


def test_the_page_of_tables_is_fresh() -> None:
    """docs/tables.md is rendered from the schemas, never edited."""
    page = Path(__file__).parent.parent / "docs" / "tables.md"

    assert page.read_text(encoding="utf-8") == tables_page()
