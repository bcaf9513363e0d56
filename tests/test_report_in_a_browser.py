"""The report as a reader meets it: in a browser, from the file system, with no network."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import sync_playwright

from jobs.report_charts import Mark, Point, chart
from jobs.report_drawn import Drawn
from jobs.report_sections import Section, Shown
from jobs.report_timelines import page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

HOSTILE = "</script><b onmouseover=alert(1)>&'\""
POINTS = [Point(line, 1_000 * second, second, offset * second) for line, offset in (("HW", 9), ("LEO of 1", 10))
          for second in range(50)]  # fmt: skip


def browser_path() -> str:
    """Where Debian's Chromium is."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.fail("no Chromium to look at the report with: apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[tuple[Page, list[str], list[str]]]:
    """A report of two charts, opened; what its console said, and what it asked for besides itself."""
    spec = chart(POINTS, [Mark(1_000, "epoch 0: leader 1")], [Mark(30_000, "replica 2 cut [280, 300)", 280)])
    tables = [Shown("What was lost", ("kind",), [(HOSTILE,)], 1, "", sql="SELECT kind FROM incidents")]
    drawn = [Drawn(f"chart-0-{place}", f"{HOSTILE}-{place}", "", spec) for place in range(2)]
    report = tmp_path / "index.html"
    report.write_text(page([Section(HOSTILE, "", [], tables, drawn)]), encoding="utf-8")
    said: list[str] = []
    asked: list[str] = []
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(report.as_uri())
    tab.wait_for_selector("#chart-0-1 svg")
    yield tab, said, [url for url in asked if url != report.as_uri()]
    tab.close()


def ticks(tab: Page) -> set[str]:
    """The times on the first chart's axis; Vega draws those that come back after those that stayed."""
    return set(tab.locator("#chart-0-0 svg .role-axis-label").first.locator("text").all_text_contents())


def becomes(tab: Page, condition: Callable[[], bool]) -> bool:
    """Whether it becomes so within five seconds: a busy machine draws late."""
    for _ in range(50):
        if condition():
            return True
        tab.wait_for_timeout(100)
    return False


def test_it_opens_without_a_word_and_without_a_network(opened: tuple[Page, list[str], list[str]]) -> None:
    """Every chart is drawn; the console is silent; nothing is asked for; a topic's name is text."""
    tab, said, asked = opened

    assert tab.locator(".chart").count() == tab.locator(".chart svg").count() == 2
    assert said == []
    assert asked == []
    assert tab.locator("b[onmouseover]").count() == 0


def test_a_wheel_zooms_and_a_double_click_goes_back(opened: tuple[Page, list[str], list[str]]) -> None:
    """The axis shows other times, and then the first ones again."""
    tab, said, _ = opened
    before = ticks(tab)
    box: Any = tab.locator("#chart-0-0 svg").bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.mouse.wheel(0, -400)
    assert before
    assert becomes(tab, lambda: ticks(tab) != before)

    tab.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert becomes(tab, lambda: ticks(tab) == before)
    assert said == []


def test_a_click_shows_the_query(opened: tuple[Page, list[str], list[str]]) -> None:
    """Folded away until then."""
    tab, _, _ = opened
    query = tab.locator("details pre").first

    assert not query.is_visible()
    tab.locator("details summary").first.click()
    assert query.is_visible()
    assert query.text_content() == "SELECT kind FROM incidents"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_in_light_and_dark(opened: tuple[Page, list[str], list[str]], scheme: Any) -> None:
    """Ink and ground are far apart in both."""
    tab, _, _ = opened
    tab.emulate_media(color_scheme=scheme)
    ink, ground = tab.evaluate(
        "['color', 'backgroundColor'].map(name => getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3)"
        ".map(Number).reduce((sum, part) => sum + part, 0))"
    )

    assert abs(ink - ground) > 450


def test_it_is_readable_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    """Nothing sticks out of the page, a table is moved within it, and a sentence in one is not a word a line."""
    name, evidence = "MkU3OEVBNTcwNTJENDM2Qg", "its log began at LEO 165, another had records up to 246; " * 4
    tables = [
        Shown("What was lost", ("kind", "topic", "evidence"), [("COMMITTED_RECORDS_LOST", name, evidence)], 1, "")
    ]
    report = tmp_path / "index.html"
    report.write_text(page([Section(name, "", [], tables, [])]), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 320, "height": 800})
    tab.goto(report.as_uri())
    box: Any = tab.locator("td.long").bounding_box()

    assert tab.evaluate("document.documentElement.scrollWidth") == 320
    assert box["width"] > 250
    assert box["height"] < 250
    tab.close()
