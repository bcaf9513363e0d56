"""The report as Markdown, for a ticket: the same figures and tables, without the charts."""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment, StrictUndefined

from jobs.report_sections import Section

MOST_ROWS = 30
"""Rows of a table: a ticket is read, not searched."""

TEMPLATE = """\
{% for cluster in clusters -%}
# Cluster {{ cluster.name | cell }}

{{ cluster.span | cell }}

{% for label, figure in cluster.figures %}{{ figure }} {{ label | cell }}{{ "" if loop.last else ", " }}{% endfor %}

{% for shown in cluster.tables -%}
## {{ shown.title }}

{% if shown.rows -%}
{{ shown.note }}

|{% for column in shown.columns %} {{ column | cell }} |{% endfor %}
|{% for column in shown.columns %}---|{% endfor %}
{% for row in shown.rows[:most] -%}
|{% for value in row %} {{ value | cell }} |{% endfor %}
{% endfor %}
{%- if shown.in_all > most %}
The first {{ most }} of {{ "{:,}".format(shown.in_all) }}.
{% endif %}
{%- else -%}
{{ shown.if_none }}
{% endif %}
{% endfor %}
{%- endfor -%}
Made by tidegauge {{ version }}. Times are UTC on the leader's clock; -1 is unknown; an offset is the exclusive end.
"""


def cell(text: object) -> str:
    """A text that stays within its cell: no bar, no line break, no markup of its own."""
    flat = " ".join(str(text).split())
    for mark in "\\`*_[]<>|":
        flat = flat.replace(mark, f"\\{mark}")
    return flat


def markdown(sections: Sequence[Section], version: str) -> str:
    """The report as Markdown; a name that the template misses is an error."""
    environment = Environment(autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701
    environment.filters["cell"] = cell
    return environment.from_string(TEMPLATE).render(clusters=sections, most=MOST_ROWS, version=version)
