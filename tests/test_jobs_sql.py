"""`tidegauge sql`: one statement, or a conversation."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.commits import Transaction
from jobs.errors import ExitCode
from jobs.sql_prompt import main
from jobs.warehouse import Warehouse
from schemas.tables import INCIDENTS
from tests.frames import rows

pytestmark = [pytest.mark.spark, pytest.mark.delta]


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A warehouse with three findings."""
    path = str(tmp_path_factory.mktemp("lake"))
    warehouse = Warehouse(spark, path)
    warehouse.create(INCIDENTS)
    started = datetime(2026, 11, 21, 10, 0, 0, 123000, tzinfo=UTC)
    findings = [{"incident_id": name, "started_at": started, "evidence": "[red]"} for name in ("i0", "i1", "i2")]
    warehouse.append(INCIDENTS, rows(spark, INCIDENTS, *findings), Transaction("t", 1))
    return path


def ask(lake: str, statement: str, *more: str) -> int:
    """Run one statement."""
    return main(["--warehouse", lake, "-e", statement, *more])


def test_a_statement_prints_its_rows(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Values as they are: UTC, NULL, nothing taken for markup, two columns of one name."""
    columns = "SELECT incident_id, started_at, ended_at, evidence, 1 AS n, 2 AS n"
    assert ask(lake, columns + " FROM incidents ORDER BY incident_id LIMIT 1;") == 0
    heading, row = capsys.readouterr().out.splitlines()

    assert heading.split() == ["incident_id", "started_at", "ended_at", "evidence", "n", "n"]
    assert row.split() == ["i0", "2026-11-21", "10:00:00.123", "NULL", "[red]", "1", "2"]


def test_a_result_is_printed_as_it_is(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a map's value is no markup, and nothing is too long for a line."""
    assert ask(lake, "SELECT map('a', 1)['a'], map('/a', 2)['/a'], repeat('y', 12000)") == 0
    heading, row = capsys.readouterr().out.splitlines()

    assert heading.split() == ["map(a,", "1)[a]", "map(/a,", "2)[/a]", "repeat(y,", "12000)"]
    assert row.split() == ["1", "2", "y" * 12000]


def test_a_long_result_is_cut_and_says_so(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--limit` rows are printed; a result of just as many is not called cut."""
    assert ask(lake, "SELECT incident_id FROM incidents", "--limit", "2") == 0
    cut = capsys.readouterr()
    assert ask(lake, "SELECT incident_id FROM incidents", "--limit", "3") == 0
    whole = capsys.readouterr()

    assert len(cut.out.splitlines()) == 3
    assert "first 2 rows" in cut.err
    assert len(whole.out.splitlines()) == 4
    assert "first" not in whole.err


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM incidents",
        "UPDATE incidents SET evidence = ''",
        "INSERT INTO incidents SELECT * FROM incidents",
        "INSERT OVERWRITE incidents SELECT * FROM incidents LIMIT 1",
        "MERGE INTO incidents t USING (SELECT 'i0' AS id) s ON t.incident_id = s.id WHEN MATCHED THEN DELETE",
    ],
)
def test_a_table_is_there_to_be_read(spark: SparkSession, lake: str, statement: str) -> None:
    """What would change it could not run, and has not."""
    assert ask(lake, statement) == ExitCode.COULD_NOT_RUN
    assert Warehouse(spark, lake).read(INCIDENTS).count() == 3


def test_a_wrong_statement_could_not_run(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A column that is not there: code 3 and Spark's own first line."""
    assert ask(lake, "SELECT nothing FROM incidents") == ExitCode.COULD_NOT_RUN
    shown = capsys.readouterr().err

    assert "UNRESOLVED_COLUMN" in shown
    assert shown.count("\n") == 1


@pytest.mark.usefixtures("spark")
def test_a_folder_without_tables_could_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No prompt over nothing."""
    assert main(["--warehouse", str(tmp_path)]) == ExitCode.COULD_NOT_RUN
    assert "has no tables of tidegauge" in capsys.readouterr().err


class Terminal(io.StringIO):
    """What a person types."""

    def isatty(self) -> bool:
        """They are there."""
        return True


TYPED = """
SELECT max(incident_id)

FROM incidents;
;
SELECT nothing FROM incidents;
SELECT 6 * 7;

quit
SELECT 1;
"""


@pytest.mark.parametrize(("typed", "code"), [(Terminal, ExitCode.OK), (io.StringIO, ExitCode.COULD_NOT_RUN)])
def test_a_conversation(
    typed: type[io.StringIO], code: ExitCode, lake: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Tables are listed, a statement may take lines, a wrong one does not end it, `quit` does.

    Who typed it has seen what failed; who piped it in sees the code.
    """
    monkeypatch.setattr("sys.stdin", typed(TYPED))

    assert main(["--warehouse", lake]) == code
    shown = capsys.readouterr()
    assert "One finding." in shown.out
    assert "i2" in shown.out
    assert "42" in shown.out
    assert shown.err.count("UNRESOLVED_COLUMN") == 1
    assert "PARSE_SYNTAX_ERROR" not in shown.err
    assert "1" not in shown.out.splitlines()[-1]


@pytest.mark.parametrize("script", ["SELECT 6 *\n7", "SELECT 6 * 7;\n\n", "SELECT 6 * 7;\n  \n;\n"])
def test_a_last_statement_needs_no_semicolon(
    script: str, lake: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a script that is piped in: nobody is prompted, so that its results are lines of their own."""
    monkeypatch.setattr("sys.stdin", io.StringIO(script))

    assert main(["--warehouse", lake]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()[-2:]] == ["(6 * 7)", "42"]
