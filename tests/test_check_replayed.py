"""Whether a check has tables of one moment, and that a verdict is told whatever else fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from pyspark.sql import SparkSession

from expectations.invariants import INVARIANTS
from jobs import check_run, check_timelines
from jobs.alone import alone
from jobs.check_timelines import check_cluster
from jobs.commits import Transaction
from jobs.deliveries import name_of_ingest
from jobs.errors import CouldNotRunError, ExitCode
from jobs.replay_marks import Mark, landed_until, require_all_replayed
from jobs.warehouse import Warehouse
from schemas.tables import CHECK_RESULTS, INCIDENTS, LEADER_TIMELINE, REPLICA_TIMELINE, SOURCE_FILES, Table
from tests.checked_rows import event, read_file, state
from tests.checked_warehouse import copied, run
from tests.frames import rows

pytestmark = [pytest.mark.spark, pytest.mark.delta]

OF_A_REPLAY = {REPLICA_TIMELINE: [state(1, 0, 1, 5, 5)], LEADER_TIMELINE: [event(0, 1, 5, 5)], INCIDENTS: []}


def land(warehouse: Warehouse, cluster_id: str, name: str) -> None:
    """A delivery of a cluster."""
    told = rows(warehouse.spark, SOURCE_FILES, {**read_file(rejected=1, landed=7), "cluster_id": cluster_id})
    warehouse.append(SOURCE_FILES, told, Transaction(f"{name_of_ingest(cluster_id)}{name}", 1))


def write(warehouse: Warehouse, mark: str, *tables: Table) -> None:
    """What a replay of cluster c writes to some tables."""
    for table in tables:
        warehouse.create(table)
        warehouse.replace(table, rows(warehouse.spark, table, *OF_A_REPLAY[table]), "c", note=mark)


def mark_of(warehouse: Warehouse) -> Mark:
    """The mark of a replay of all that has landed."""
    return Mark("c", landed_until(warehouse), "", is_plain=True, has_incidents=True)


@pytest.fixture(scope="module")
def fresh(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """One delivery, replayed; nothing has happened. Tests work on copies."""
    warehouse = Warehouse(spark, str(tmp_path_factory.mktemp("fresh") / "lake"))
    warehouse.create(SOURCE_FILES)
    land(warehouse, "c", "one")
    write(warehouse, mark_of(warehouse).text(), *OF_A_REPLAY)
    return warehouse


def test_a_delivery_must_be_replayed_before_it_is_judged(
    fresh: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rows beside timelines without it would break rules that no broker broke; another cluster's change nothing."""
    warehouse = copied(fresh, tmp_path)
    land(warehouse, "another", "one")
    require_all_replayed(warehouse, "c")
    land(warehouse, "c", "two")

    assert run(warehouse) == ExitCode.COULD_NOT_RUN
    said = "a delivery of cluster c has landed since its timelines were made: run `tidegauge reconstruct`"
    assert capsys.readouterr().err == f"tidegauge: {warehouse.path}: {said}\n"
    assert not warehouse.has(CHECK_RESULTS)
    write(warehouse, mark_of(warehouse).text(), *OF_A_REPLAY)
    require_all_replayed(warehouse, "c")


@pytest.mark.parametrize("written", [1, 2])
def test_a_replay_that_died_must_come_to_its_end(fresh: Warehouse, tmp_path: Path, written: int) -> None:
    """Between its tables, whether one had rows or not; also the first one, of a table that is not there yet."""
    warehouse = copied(fresh, tmp_path)
    land(warehouse, "c", "two")
    write(warehouse, mark_of(warehouse).text(), *list(OF_A_REPLAY)[:written])
    with pytest.raises(CouldNotRunError, match="the last replay of cluster c did not end: run `tidegauge reconstruct`"):
        require_all_replayed(warehouse, "c")

    first = Warehouse(warehouse.spark, str(tmp_path / "first"))
    first.create(SOURCE_FILES)
    land(first, "c", "one")
    write(first, mark_of(first).text(), *list(OF_A_REPLAY)[:written])
    with pytest.raises(CouldNotRunError, match="did not end"):
        require_all_replayed(first, "c")


def test_what_bears_no_mark_is_taken_as_it_is(fresh: Warehouse, tmp_path: Path) -> None:
    """Somebody wrote it, and knows why; incidents bore none before there was one for them."""
    warehouse = copied(fresh, tmp_path)
    write(warehouse, "", LEADER_TIMELINE)
    require_all_replayed(warehouse, "c")
    write(warehouse, "", REPLICA_TIMELINE)
    land(warehouse, "c", "two")
    require_all_replayed(warehouse, "c")

    mark = replace(mark_of(warehouse), has_incidents=False)
    write(warehouse, mark.text(), REPLICA_TIMELINE, LEADER_TIMELINE)
    require_all_replayed(warehouse, "c")


RULES = [rule for rule in INVARIANTS if rule.name == "NoLineWasRejected"]


def test_a_file_that_cannot_be_written_hides_no_verdict(
    fresh: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdicts are kept by then, and no news to the next run; one that is not broken could not be told, code 3."""
    monkeypatch.setattr(check_run, "INVARIANTS", RULES)
    warehouse = copied(fresh, tmp_path)
    (tmp_path / "check.yaml").write_text("rules: {NoLineWasRejected: {severity: critical}}")
    (tmp_path / "no-folder").touch()
    files = ("--junit", str(tmp_path / "no-folder" / "check.xml"), "--data-docs", str(tmp_path / "no-folder" / "docs"))
    broken = run(warehouse, "--json", "--config", str(tmp_path / "check.yaml"), *files)
    shown = capsys.readouterr()
    holds = run(warehouse, *files)

    assert (broken, holds) == (ExitCode.RULE_BROKEN, ExitCode.COULD_NOT_RUN)
    assert json.loads(shown.out)["exit_code"] == ExitCode.RULE_BROKEN
    said = [line for line in shown.err.splitlines() if line.startswith("tidegauge: ")]
    assert len(said) == 2, "of either file"
    assert [line for line in said if "no-folder" not in line] == []


def test_a_cluster_that_cannot_be_judged_hides_no_other(
    fresh: Warehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are judged before any is kept; one that failed is told, and the code is that of the worst."""
    monkeypatch.setattr(check_run, "INVARIANTS", RULES)
    warehouse = copied(fresh, tmp_path)
    land(warehouse, "later", "one")
    land(warehouse, "c", "two")
    code = check_timelines.main(["--warehouse", warehouse.path])
    shown = capsys.readouterr()

    assert code == ExitCode.COULD_NOT_RUN
    assert "check of cluster later" in shown.out
    assert "a delivery of cluster c has landed since" in shown.err
    assert [row[0] for row in warehouse.read(CHECK_RESULTS).select("cluster_id").collect()] == ["later"]


def test_what_cannot_be_kept_is_told(
    fresh: Warehouse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full."""
    monkeypatch.setattr(check_run, "INVARIANTS", RULES)
    monkeypatch.setattr(check_timelines, "keep", _die)

    with alone(fresh.path):  # as a pipeline holds it
        assert check_cluster(fresh, "c") is ExitCode.COULD_NOT_RUN
    shown = capsys.readouterr()
    assert "NoLineWasRejected" in shown.out
    assert "no space left" in shown.err


def _die(*_: object) -> NoReturn:
    raise OSError("no space left")


def test_a_check_waits_for_whoever_writes(fresh: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judging as keeping: what it reads is of one moment."""
    done: list[str] = []

    @contextmanager
    def lock(path: str) -> Iterator[None]:
        done.append(f"wait for {path}")
        yield
        done.append("let go")

    def judge(*_: object) -> NoReturn:
        done.append("judge")
        raise CouldNotRunError("not today")

    monkeypatch.setattr(check_timelines, "alone", lock)
    monkeypatch.setattr(check_timelines, "judge_cluster", judge)

    assert run(fresh) == ExitCode.COULD_NOT_RUN
    assert done == [f"wait for {fresh.path}", "judge", "let go"]
