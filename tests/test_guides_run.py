"""README and guides followed to the letter: each `tidegauge` command run, in order, on a bundled capture."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.cli import main
from jobs.errors import ExitCode
from tests.guide_pages import ROOT, commands

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.captured, pytest.mark.long]

NEEDS_A_KAFKA = "capture"
"""Starts a real cluster of jars that are fetched: tests/test_jobs_capture.py does that."""

RUN = [(where, words) for where, words in commands("tidegauge") if words[0] != NEEDS_A_KAFKA]
STANDS_FOR = {"T": "ledger", "clicks": "ledger", "SELECT …": "SELECT count(*) FROM incidents"}
"""Words of a command that stand for others; `N` is a partition or a number of events."""

WHERE_THINGS_ARE = {
    "CAPTURE": "examples/captures/hw_truncation", "capture": "examples/captures/hw_truncation",
    "build/live/unclean": "examples/captures/hw_truncation", "conf": "conf", "examples": "examples",
}  # fmt: skip
FOLDER = {"docs/guides/run-on-a-cluster.md": "tide", "examples/scenarios/README.md": "scenario"}
"""What `DIR` is on a page that begins a warehouse of its own."""

VERDICTS = (ExitCode.OK, ExitCode.WARNINGS, ExitCode.RULE_BROKEN)
SPEAKS_A_VERDICT = ("pipeline", "check", "agree")


@pytest.fixture(scope="module")
def reader(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A reader's folder: the bundled capture under the names the pages use, one warehouse under each of its names."""
    here = tmp_path_factory.mktemp("reader")
    for name, place in WHERE_THINGS_ARE.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).symlink_to(ROOT / place)
    for name in ("build/demo", "build/live-warehouse"):
        (here / name).symlink_to(here / "DIR")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(here)
        for _, words in commands("openssl"):
            subprocess.run(["openssl", *words], check=True)
        yield
    spark.sql("DROP DATABASE IF EXISTS tide CASCADE")


def meant(where: str, words: list[str]) -> list[str]:
    """The command with what its words stand for: the `DIR` of each page is a folder, what is generated has its own."""
    folder = "generated" if words[0] == "generate" and where == "README.md" else FOLDER.get(where, "DIR")
    own = {"DIR": folder, "DIR/truth": f"{folder}/truth", "N": "2000" if words[0] == "generate" else "0"}
    return [(STANDS_FOR | own).get(word, word) for word in words]


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(("where", "words"), RUN, ids=lambda value: str(value)[:60])
def test_a_command_runs(where: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """It ends well, or with a verdict where it has one to speak."""
    code = main(meant(where, words))

    assert code in (VERDICTS if words[0] in SPEAKS_A_VERDICT else (ExitCode.OK,)), (where, capsys.readouterr().err)


@pytest.mark.usefixtures("reader")
def test_all_of_them_left_something() -> None:
    """Warehouses with reports, where the pages said they would be."""
    folders = ("DIR", "lake", "tide", "build/shared")

    assert [name for name in folders if not Path(name, "report", "index.html").is_file()] == []
