"""docs/views.md, the views of ad-hoc SQL."""

from __future__ import annotations

from replay.views.catalog import VIEWS, View
from schemas.document import columns_told

HEAD = """\
# The views

<!-- Made from replay/views/: edit that, not this page, and then
python -c "from replay.views.document import views_page; print(views_page(), end='')" > docs/views.md -->

What `tidegauge sql` knows besides the [tables](tables.md): worked out when it is asked, never stored. In SQL
`DESCRIBE exposure` tells the same. Offsets are exclusive ends, -1 is unknown, NULL is what does not apply. Times are
UTC.
"""


def views_page() -> str:
    """The page: a section per view."""
    return HEAD + "".join(map(_section, VIEWS))


def _section(view: View) -> str:
    """A view: what one row is, what it is made of, and its columns."""
    made_of = ", ".join(f"`{table.name}`" for table in view.of)
    lines = [f"## {view.name}", "", view.comment, "", f"Made of {made_of}.", "", *columns_told(view.columns)]
    return "\n" + "\n".join(lines) + "\n"
