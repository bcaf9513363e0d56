"""docs/views.md, the views of ad-hoc SQL."""

from __future__ import annotations

from pages.tables import columns_told, words_told
from replay.views.catalog import VIEWS, View
from schemas import view_columns as V
from schemas.answers import HeldBy, Position

HEAD = """\
# The views

<!-- Made by `make docs` from replay/views/: edit that, not this page. -->

What `tidegauge sql` knows besides the [tables](tables.md): worked out when it is asked, never stored. In SQL
`DESCRIBE exposure` tells the same. Offsets are exclusive ends, -1 is unknown, NULL is what does not apply. Times are
UTC. What the words of `why` and `position_is` mean stands at the end, that of others [with the
tables](tables.md#what-the-words-mean).
"""


def views_page() -> str:
    """The page: a section per view, and what the words mean."""
    told = words_told({V.WHY: HeldBy, V.POSITION_IS: Position})
    return HEAD + "".join(map(_section, VIEWS)) + "\n## What the words mean\n" + told


def _section(view: View) -> str:
    """A view: what one row is, what it is made of, and its columns."""
    made_of = ", ".join(f"`{table.name}`" for table in view.of)
    lines = [f"## {view.name}", "", view.comment, "", f"Made of {made_of}.", "", *columns_told(view.columns)]
    return "\n" + "\n".join(lines) + "\n"
