"""The guides: their commands are commands, their SQL answers, their drawings are the tests' own."""

from __future__ import annotations

import importlib
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.cli import tidegauge
from jobs.redacting import redacting
from jobs.run_config import Configured
from sources.redaction import Redacted
from tests.frames import rows
from tests.guide_pages import COMMANDS, OTHERS, PAGES, ROOT, blocks, commands, lines_of, program_of
from tests.test_sql_cookbook import GIVEN

A_CAPTURE = str(ROOT / "examples" / "captures" / "failover")
PLACEHOLDERS = {
    "CAPTURE": A_CAPTURE, "build/live/unclean": A_CAPTURE, "DIR/truth": A_CAPTURE, "SCENARIO": "steady", "N": "0",
    "redact.key": __file__,
}  # fmt: skip

STORIES = "docs/guides/the-protocol-by-scenarios.md"
NO_COMMANDS = ("kind ", "capture/")
"""How the blocks begin that are what a command prints, or a folder's content."""

QUERIES = [
    (name, query)
    for name, block in blocks("sql")
    for query in block.split(";")
    if query.strip() and name != "docs/rules.md"  # tests/test_expectations_rules.py asks those
]


def test_every_page_is_read() -> None:
    """A new guide is named in tests/guide_pages.py; decisions tell no commands."""
    there = {path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "adr"}

    assert there <= set(PAGES)


def test_every_block_is_of_a_program_that_is_known() -> None:
    """What looks like commands is run by a test, or named as what cannot be."""
    told = [block for name, block in blocks("") if name != STORIES and not block.startswith(NO_COMMANDS)]
    firsts = {program_of(line) for block in told for line in lines_of(block)}

    assert firsts == {*COMMANDS, *OTHERS}


@pytest.mark.parametrize(("where", "words"), commands("tidegauge"), ids=lambda value: str(value)[:60])
def test_a_command_of_the_guides_is_one(where: str, words: list[str]) -> None:
    """It exists, takes these options, and these values are of the right kind; tests/test_guides_run.py runs them."""
    name, *arguments = (PLACEHOLDERS.get(word, word) for word in words)
    command = tidegauge.commands[name]

    with command.make_context(name, arguments) as context:
        given = {option.name for option in command.params if {*option.opts} & {*arguments}}
        assert all(context.params[option] for option in given if option), where


@pytest.mark.parametrize(("where", "words"), commands("spark-submit"), ids=lambda value: str(value)[-60:])
def test_a_submission_of_the_guides_is_one(where: str, words: list[str]) -> None:
    """The script and its settings are there, and it takes these options; tests/test_jobs_cluster.py submits them."""
    place = next(index for index, word in enumerate(words) if word.startswith("jobs/"))
    files = [words[place], *(file for option, file in pairwise(words) if option == "--properties-file")]
    module = importlib.import_module(f"jobs.{Path(words[place]).stem}")
    (command,) = (one for one in vars(module).values() if isinstance(one, Configured))

    assert [file for file in files if not (ROOT / file).is_file()] == [], where
    with command.make_context(command.name, [PLACEHOLDERS.get(word, word) for word in words[place + 1 :]]) as context:
        assert context.params, where


@pytest.mark.parametrize(("where", "words"), commands("make"), ids=lambda value: str(value)[:60])
def test_a_target_of_the_guides_is_one(where: str, words: list[str]) -> None:
    """`make` knows it and what it would do; CI runs `make test`, tests/test_jobs_submit.py `make zip`."""
    told = subprocess.run(["make", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, check=False)

    assert told.returncode == 0, (where, told.stderr)
    assert all(word.split("=")[1] in told.stdout for word in words[1:])


def test_a_key_is_made_and_a_topic_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the guide on sharing says: its commands and its Python, with a key of the house."""
    monkeypatch.chdir(tmp_path)
    ((_, words),) = commands("openssl")
    subprocess.run(["openssl", *words], check=True)
    ((_, snippet),) = [(name, text) for name, text in blocks("python") if name == "docs/guides/share-a-capture.md"]
    told = subprocess.run([sys.executable, "-c", snippet], capture_output=True, text=True, check=True).stdout

    redaction = redacting(frozenset(Redacted), Path("redact.key"))
    assert told.strip() == redaction.topic_name("orders")


@pytest.mark.spark
@pytest.mark.parametrize(("where", "query"), QUERIES, ids=lambda value: str(value).strip()[:40])
def test_a_query_of_the_guides_answers(spark: SparkSession, where: str, query: str) -> None:
    """It reads the tables as they are and finds a row in a history where something was lost."""
    for table, given in GIVEN.items():
        rows(spark, table, *given).createOrReplaceTempView(table.name)

    assert spark.sql(query).count() > 0, where
