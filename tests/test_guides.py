"""The guides: their commands are commands, their SQL answers, their drawings are the tests' own."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.cli import tidegauge
from tests.drawn import PAGE, page
from tests.frames import rows
from tests.test_sql_cookbook import GIVEN

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WORDS = re.compile(r"^(?:\.venv/bin/)?tidegauge (.+?)(?:\s+#.*)?$", re.MULTILINE)

A_CAPTURE = str(ROOT / "examples" / "captures" / "failover")
PLACEHOLDERS = {
    "CAPTURE": A_CAPTURE, "build/live/unclean": A_CAPTURE, "SCENARIO": "steady", "N": "0", "redact.key": __file__,
}  # fmt: skip


def blocks(language: str) -> list[tuple[str, str]]:
    """The fenced blocks of a language, each with its page."""
    texts = ((path.name, path.read_text()) for path in PAGES)
    return [(name, block[2]) for name, text in texts for block in FENCED.finditer(text) if block[1] == language]


COMMANDS = [(name, words) for name, block in blocks("") for words in WORDS.findall(block.replace("\\\n", " "))]
QUERIES = [
    (name, query)
    for name, block in blocks("sql")
    for query in block.split(";")
    if query.strip() and name != "rules.md"  # tests/test_expectations_rules.py asks those
]


def test_the_scenarios_page_is_fresh() -> None:
    """`python -m tests.drawn > docs/guides/the-protocol-by-scenarios.md` makes it."""
    assert PAGE.read_text() == page()


@pytest.mark.parametrize(("where", "words"), COMMANDS, ids=lambda value: str(value)[:40])
def test_a_command_of_the_guides_is_one(where: str, words: str) -> None:
    """It exists, takes these options, and these values are of the right kind."""
    name, *arguments = (PLACEHOLDERS.get(word, word) for word in shlex.split(words))
    command = tidegauge.commands[name]

    with command.make_context(name, arguments) as context:
        assert context.params, where


@pytest.mark.spark
@pytest.mark.parametrize(("where", "query"), QUERIES, ids=lambda value: str(value).strip()[:40])
def test_a_query_of_the_guides_answers(spark: SparkSession, where: str, query: str) -> None:
    """It reads the tables as they are and finds a row in a history where something was lost."""
    for table, given in GIVEN.items():
        rows(spark, table, *given).createOrReplaceTempView(table.name)

    assert spark.sql(query).count() > 0, where
