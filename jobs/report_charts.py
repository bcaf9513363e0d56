"""The report's charts: per partition each replica's LEO and the HW over time, as Vega-Lite made by Altair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import vl_convert

HW_LINE = "HW"
COLORS = ("#4c9be8", "#e69f00", "#2ca87f", "#cc79a7", "#9a8cf0", "#8c8c8c")
"""Of replicas in order of their ids; readable on light and on dark ground, and to the colour-blind."""
HW_COLOR = "#e4572e"
INK = "currentColor"
"""Texts and lines take the page's own colour, so that a chart is as dark or light as the page."""
DRAW = """
const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
for (const data of document.querySelectorAll("script[data-chart]")) {
  const options = { renderer: "svg", actions: false, tooltip: { theme } };
  vegaEmbed("#" + data.dataset.chart, JSON.parse(data.textContent), options);
}
"""


class Point(NamedTuple):
    """From this time on the line stands at this offset."""

    line: str
    milliseconds: int
    position: int
    offset: int


class Mark(NamedTuple):
    """Something that happened at a time: the begin of a leadership, or a truncation at an offset."""

    milliseconds: int
    text: str
    offset: int = 0


def library() -> str:
    """The script that draws the charts, with Vega, Vega-Lite and Vega-Embed in it (0.9 MB): no network is asked."""
    version = alt.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]
    return str(vl_convert.javascript_bundle(DRAW, vl_version=version))


def chart(points: Sequence[Point], leaderships: Sequence[Mark], truncations: Sequence[Mark]) -> dict[str, Any]:
    """The Vega-Lite of a partition: a step line per replica and the HW, a rule per election, a mark per truncation."""
    layers = (_lines(points), *_elections(leaderships), _cuts(truncations))
    drawn = alt.layer(*layers).properties(width="container", height=260)
    zoom = alt.selection_interval(bind="scales", encodings=["x"], name="zoom")
    styled = (
        drawn.add_params(zoom)
        .configure(background="transparent")
        .configure_axis(labelColor=INK, titleColor=INK, gridColor=INK, gridOpacity=0.12, tickColor=INK, domainColor=INK)
        .configure_legend(labelColor=INK, titleColor=INK, orient="top")
        .configure_view(strokeOpacity=0)
    )
    return dict(styled.to_dict())


def _lines(points: Sequence[Point]) -> alt.Chart:
    """A step line per replica and the HW, broken and on top."""
    values = [{"line": p.line, "t": p.milliseconds, "n": p.position, "offset": p.offset} for p in points]
    names = sorted({p.line for p in points} - {HW_LINE}, key=lambda name: (len(name), name))
    shown = [*(_title(name) for name in names), HW_LINE]
    colors = [*(COLORS[i % len(COLORS)] for i in range(len(names))), HW_COLOR]
    for value in values:
        value["line"] = _title(str(value["line"]))
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_line(interpolate="step-after", strokeWidth=2, opacity=0.9)
        .transform_calculate(at="utcFormat(datum.t, '%Y-%m-%d %H:%M:%S.%L')")
        .encode(
            x=alt.X("t:T", scale=alt.Scale(type="utc"), title="time (UTC)"),
            y=alt.Y("offset:Q", title="offset", scale=alt.Scale(zero=False)),
            color=alt.Color("line:N", title=None, scale=alt.Scale(domain=shown, range=colors)),
            strokeDash=alt.condition(f"datum.line == '{HW_LINE}'", alt.value([5, 3]), alt.value([1, 0])),
            order="n:Q",
            detail="line:N",
            tooltip=[alt.Tooltip("line:N"), alt.Tooltip("at:N", title="from"), alt.Tooltip("offset:Q")],
        )
    )
    return chart


def _elections(marks: Sequence[Mark]) -> tuple[alt.Chart, alt.Chart]:
    """A thin rule where a leadership begins, with its epoch and leader."""
    base = alt.Chart(_data(marks)).encode(x=alt.X("t:T", scale=alt.Scale(type="utc")), tooltip=alt.Tooltip("text:N"))
    rule = base.mark_rule(color=INK, opacity=0.5, strokeDash=[2, 2])
    label = base.mark_text(align="left", dx=4, dy=8, color=INK, fontSize=10).encode(text="text:N", y=alt.value(0))
    return rule, label


def _cuts(marks: Sequence[Mark]) -> alt.Chart:
    """A triangle where a replica cut its log, at the offset it cut to."""
    chart: alt.Chart = (
        alt.Chart(_data(marks))
        .mark_point(shape="triangle-down", size=110, filled=True, color=HW_COLOR)
        .encode(x=alt.X("t:T", scale=alt.Scale(type="utc")), y="offset:Q", tooltip=alt.Tooltip("text:N"))
    )
    return chart


def _data(marks: Sequence[Mark]) -> alt.InlineData:
    """Marks as inline data."""
    return alt.InlineData(values=[{"t": m.milliseconds, "text": m.text, "offset": m.offset} for m in marks])


def _title(line: str) -> str:
    """A line's name in the legend."""
    return line if line == HW_LINE else f"LEO of {line}"
