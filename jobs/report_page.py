"""The report's page: a Jinja template and the style of it. Everything shown is escaped; nothing is fetched."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, StrictUndefined

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5d6b7c; --ground: #fff; --card: #f4f6f8; --line: #dde2e8;
  --valid: #1b7f4b; --invalid: #c62f1d; --unknown: #8a6d00; --error: #a1207c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ef; --soft: #9aa7b5; --ground: #14181d; --card: #1d2329;
  --line: #333c46; --valid: #4cc38a; --invalid: #ff7a66; --unknown: #e0bb4b; --error: #e77cc8; } }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--ground); }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
h1, h3, p.note { overflow-wrap: anywhere; }
p.note { color: var(--soft); margin: .2rem 0 .8rem; }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin-top: 1rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem; }
.card b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: .85rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; white-space: nowrap; } td.long { min-width: 18rem; }
.valid { color: var(--valid); } .invalid { color: var(--invalid); font-weight: 600; }
.unknown { color: var(--unknown); } .error { color: var(--error); font-weight: 600; }
.chart { width: 100%; }
details { margin: .3rem 0; color: var(--soft); font-size: .85rem; } summary { cursor: pointer; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem; overflow-x: auto; }
"""

TEMPLATE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tidegauge: {{ clusters | map(attribute="name") | join(", ") }}</title>
<style>{{ style | safe }}</style>
</head>
<body>
{%- macro table(shown) %}
{%- if shown.rows %}
<div class="wide"><table>
<thead><tr>
{%- for column in shown.columns %}<th>{{ column | replace('_', '_<wbr>' | safe) }}</th>{% endfor %}</tr></thead>
<tbody>
{%- for row in shown.rows %}
<tr>
{%- for cell in row %}
<td{% if cell in statuses %} class="{{ cell }}"{% elif cell | length > long %} class="long"{% endif %}>{{ cell }}</td>
{%- endfor %}
</tr>
{%- endfor %}
</tbody></table></div>
{%- if shown.in_all > shown.rows | length %}
<p class="note">The first {{ shown.rows | length }} of {{ "{:,}".format(shown.in_all) }}.</p>
{%- endif %}
{%- else %}
<p class="note">{{ shown.if_none }}</p>
{%- endif %}
{%- endmacro %}
{%- for cluster in clusters %}
<h1>Cluster {{ cluster.name }}</h1>
<p class="note">{{ cluster.span }}</p>
<div class="cards">
{%- for label, figure in cluster.figures %}
<div class="card"><b>{{ figure }}</b><span>{{ label }}</span></div>
{%- endfor %}
</div>
{%- for shown in cluster.tables %}
<h2>{{ shown.title }}</h2>
{%- if shown.note %}
<p class="note">{{ shown.note }}</p>
{%- endif %}
{{- table(shown) }}
{%- if shown.sql %}
<details><summary>SQL</summary><pre>{{ shown.sql }}</pre></details>
{%- endif %}
{%- endfor %}
<h2>Log end offsets and high watermark</h2>
<p class="note">The partitions whose high watermark moved most. Dotted: a leadership begins. Triangle: a replica cut its
log. Scroll over a chart to zoom, drag to move, double-click to go back; point at a line for its values.</p>
{%- for drawn in cluster.charts %}
<h3>{{ drawn.title }}</h3>
{%- if drawn.note %}
<p class="note">{{ drawn.note }}</p>
{%- endif %}
<div class="chart" id="{{ drawn.id }}"></div>
<script type="application/json" data-chart="{{ drawn.id }}">{{ drawn.spec | tojson }}</script>
{%- else %}
<p class="note">There is no timeline to draw.</p>
{%- endfor %}
{%- endfor %}
<p class="note">Made by tidegauge {{ version }}. All times are UTC on the leader's clock; -1 is unknown; an offset is
the exclusive end.</p>
<script>{{ library | safe }}</script>
</body>
</html>
"""


LONG = 60
"""Characters from which on a cell is a sentence: on a narrow screen it is not squeezed to a word a line."""


def render(**content: Any) -> str:
    """The page as HTML; a name that the template misses is an error, not a blank."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(TEMPLATE).render(style=STYLE, long=LONG, **content)
