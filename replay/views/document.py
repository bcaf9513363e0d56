"""docs/views.md, the views of ad-hoc SQL."""

from __future__ import annotations

from enum import StrEnum

from replay.views.catalog import VIEWS, View
from schemas import view_columns as V
from schemas.answers import HeldBy, Position
from schemas.columns import Field

HEAD = """\
# The views

<!-- Made from replay/views/: edit that, not this page, and then
python -c "from replay.views.document import views_page; print(views_page(), end='')" > docs/views.md -->

What `tidegauge sql` knows besides the [tables](tables.md): worked out when it is asked, never stored. In SQL
`DESCRIBE exposure` tells the same. Offsets are exclusive ends, -1 is unknown, NULL is what does not apply. Times are
UTC.
"""
VALUES: dict[Field, type[StrEnum]] = {V.WHY: HeldBy, V.POSITION_IS: Position}
"""What a column may say."""


def views_page() -> str:
    """The page: a section per view."""
    return HEAD + "".join(map(_section, VIEWS))


def _section(view: View) -> str:
    """A view: what one row is, what it is made of, and its columns."""
    rows = [f"| `{column}` | `{column.type.simpleString()}` | {_meaning(column)} |" for column in view.columns]
    made_of = ", ".join(f"`{table.name}`" for table in view.of)
    lines = [
        f"## {view.name}", "", view.comment, "", f"Made of {made_of}.", "",
        "| column | type | meaning |", "|---|---|---|", *rows,
    ]  # fmt: skip
    return "\n" + "\n".join(lines) + "\n"


def _meaning(column: Field) -> str:
    """What the column means, and what it may say where that is one of a few words."""
    values = VALUES.get(column)
    words = "" if values is None else f" One of {', '.join(f'`{value}`' for value in values)}."
    return column.comment.replace("|", "\\|") + words
