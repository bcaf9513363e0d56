"""The report: complete in one file, correct in what it draws, bounded, and safe with hostile names."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from pyspark.sql import SparkSession

from expectations.invariants import INVARIANTS
from jobs import check_run
from jobs.check_timelines import check_cluster
from jobs.cli import main
from jobs.errors import CouldNotRunError, ExitCode
from jobs.report_charts import Mark, Point, chart, library
from jobs.report_drawn import Drawn
from jobs.report_lines import MOST_POINTS, lines, liveliest_partitions
from jobs.report_markdown import markdown
from jobs.report_page import render
from jobs.report_sections import Section, Shown
from jobs.report_timelines import default_output, page
from jobs.warehouse import Warehouse
from schemas import tables as T
from tests.checked_rows import BEGIN, event, state
from tests.checked_warehouse import copied
from tests.frames import rows

HOSTILE = "</script><b>&'\""


def section(**changed: Any) -> Section:
    """A section of the page, hostile wherever a name of a capture can stand."""
    given: dict[str, Any] = {
        "name": HOSTILE, "span": HOSTILE, "figures": [(HOSTILE, "1")],
        "tables": [Shown(HOSTILE, (HOSTILE,), [(HOSTILE,)], 1, HOSTILE)],
        "charts": [Drawn("chart-0-0", HOSTILE, HOSTILE, {"title": HOSTILE})],
    }  # fmt: skip
    return Section(**(given | changed))


def without_scripts(html: str) -> str:
    """The page but for what is in its scripts."""
    return re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)


def drawn(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The data of a chart's lines."""
    values: list[dict[str, Any]] = spec["datasets"][spec["layer"][0]["data"]["name"]]
    return values


def test_everything_shown_is_escaped() -> None:
    """A topic may be called as it likes: it is text, also inside a chart's data."""
    html = page([section()])
    specs = re.findall(r'<script type="application/json" data-chart="chart-0-0">(.*?)</script>', html)

    assert "</script><b>" not in without_scripts(html)
    assert [json.loads(spec) for spec in specs] == [{"title": HOSTILE}]


def test_the_page_is_complete_in_itself() -> None:
    """No script, style, image or font is asked of a network, and the whole stays small."""
    html = page([section()])

    assert re.findall(r"<(?:link|img|iframe)[^>]+(?:src|href)=", without_scripts(html)) == []
    assert re.findall(r"<script[^>]+src=", html.replace(library(), "")) == []
    assert re.findall(r"@import|url\(", without_scripts(html)) == []
    assert "</script" not in library()
    assert len(html) < 2_000_000


def test_a_ticket_stays_a_table() -> None:
    """As Markdown a text neither ends its cell nor its row, and is no markup."""
    hostile = "a|b\n<b>*c*</b>"
    tables = [Shown("Found", ("name",), [(hostile,)], 31, ""), Shown("None", (), [], 0, "Nothing happened.")]
    ticket = markdown([section(tables=tables)], "1.0")

    assert "| a\\|b \\<b\\>\\*c\\*\\</b\\> |\n" in ticket
    assert "Nothing happened." in ticket
    assert "The first 30 of 31." in ticket


def test_the_query_stands_beside_its_answer() -> None:
    """Folded away, as text."""
    html = page([section(tables=[Shown("Found", ("a",), [("1",)], 1, "", sql="SELECT 1 < 2")])])

    assert "<details><summary>SQL</summary><pre>SELECT 1 &lt; 2</pre></details>" in html


def test_a_name_the_template_misses_is_an_error() -> None:
    """And no blank that nobody notices."""
    with pytest.raises(Exception, match="'clusters' is undefined"):
        render(statuses=[], version="1", library="")


def test_a_table_that_is_cut_short_says_so() -> None:
    """The reader is told how many rows there are; an empty one says what that means."""
    tables = [Shown("Long", ("a",), [("1",)], 1234, ""), Shown("None", ("a",), [], 0, "Nothing happened.")]
    text = without_scripts(page([section(tables=tables)]))

    assert "The first 1 of 1,234." in text
    assert "Nothing happened." in text


def test_a_chart_is_drawn_by_vega() -> None:
    """What Altair made is a valid Vega-Lite of steps, and Vega draws its lines, elections and cuts."""
    points = [Point(line, 1000 * n, n, n + lead) for line, lead in (("10", 2), ("9", 1), ("HW", 0)) for n in range(3)]
    spec = chart(points, [Mark(0, "epoch 0: leader 9")], [Mark(2000, "replica 10 cut [2, 4)", 2)])
    svg = vl_convert.vegalite_to_svg(spec | {"width": 600})

    assert spec["layer"][0]["mark"]["interpolate"] == "step-after"
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["LEO of 9", "LEO of 10", "HW"]
    assert "epoch 0: leader 9" in svg
    assert svg.count('aria-roledescription="line mark"') == 3
    assert svg.count('aria-roledescription="point"') == 1


@pytest.mark.parametrize(
    ("warehouse", "expected"),
    [
        ("lake", "lake/report/index.html"),
        ("/lake/", "/lake/report/index.html"),
        ("file:/lake", "/lake/report/index.html"),
    ],
)
def test_where_the_report_goes(warehouse: str, expected: str) -> None:
    """Beside the tables."""
    assert default_output(warehouse) == Path(expected)


def test_an_object_store_needs_an_output() -> None:
    """A plain file is not written where only Spark can write."""
    with pytest.raises(CouldNotRunError, match="--output"):
        default_output("s3a://bucket/lake")


@pytest.mark.spark
def test_a_long_line_is_thinned_and_keeps_its_dip(spark: SparkSession) -> None:
    """At most 500 points of 3,000; first, last and lowest are among them; a value that stays is no point."""
    leos = [*range(1500), 700, *range(1500, 3000)]
    replicas = [state(2, 0, seq, leo, 0) for seq, leo in enumerate(leos, start=1)]
    leaders = [event(0, seq, 9, 5) for seq in range(1, 5)]
    led, followed = rows(spark, T.LEADER_TIMELINE, *leaders), rows(spark, T.REPLICA_TIMELINE, *replicas)
    found = lines(led, followed, liveliest_partitions(led))
    offsets = [row["offset"] for row in found if row["line"] == "2"]
    positions = [row["position"] for row in found if row["line"] == "2"]
    falls = [(a, b) for a, b in pairwise(offsets) if b < a]

    assert {row["in_all"] for row in found if row["line"] == "2"} == {3001}
    assert MOST_POINTS * 0.9 < len(offsets) <= MOST_POINTS
    assert (offsets[0], offsets[-1]) == (0, 2999)
    assert [low for _, low in falls] == [700]
    assert positions == sorted(positions)
    assert [row["position"] for row in found if row["line"] == "HW"] == [1, 2]


RULES = ("CommittedRecordsSurviveElections", "LeaderIsInIsr")


@pytest.mark.spark
@pytest.mark.delta
def test_the_report_of_a_loss(
    loss: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict, the cut and the leaderships are told, and the HW is drawn as it was, in UTC, wherever it is made."""
    monkeypatch.setattr(check_run, "INVARIANTS", [rule for rule in INVARIANTS if rule.name in RULES])
    warehouse = copied(loss, tmp_path)
    check_cluster(warehouse, "c")
    capsys.readouterr()
    ticket = tmp_path / "not" / "there" / "ticket.md"
    code = main(["report", "--warehouse", warehouse.path, "--markdown", str(ticket)])
    target = tmp_path / "lake" / "report" / "index.html"
    html = target.read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]+>", " ", without_scripts(html)).split())
    spec = json.loads(re.findall(r'data-chart="chart-0-0">(.*?)</script>', html)[0])
    begin = int(BEGIN.timestamp() * 1000)

    assert code == ExitCode.OK
    assert capsys.readouterr().out.strip() == str(target)
    assert ticket.read_text(encoding="utf-8").startswith("# Cluster c\n")
    assert "CommittedRecordsSurviveElections invalid critical 2 1 first: topic ledger" in text
    assert "2026-11-21 10:49:47.000 ledger 0 1 2 11 10 11 11 high_watermark true" in text
    assert "ledger 0 2 3 2026-11-21 10:49:43.000 10 10 10 10 exact" in text
    assert text.count("Not looked for yet.") == 3
    assert [(p["t"] - begin, p["offset"]) for p in drawn(spec) if p["line"] == "HW"] == [
        (1000, 0), (2000, 10), (3000, 11), (11000, 10), (21000, 10)
    ]  # fmt: skip
    assert [(p["t"] - begin, p["offset"]) for p in drawn(spec) if p["line"] == "LEO of 2"] == [(2000, 11)]
