"""A warehouse of several clusters, whose topics have the same names: what is told is of one of them."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs import what_if
from jobs.cli import main
from jobs.errors import ExitCode
from jobs.warehouse import Warehouse
from schemas import tables as T
from tests.checked_rows import BEGIN, event, read_file
from tests.checked_warehouse import store

pytestmark = [pytest.mark.spark, pytest.mark.delta]

OURS, THEIRS = "MkU3OEVBNTcwNTJENDM2Qg", "theirs"


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Two clusters with the partition ledger-0, and one with two lives of the topic `again`."""
    twice = [event(0, seq, leo, leo, cluster_id=cluster, remote_log_end_offset={2: leo})
             for cluster, leo in ((OURS, 7), (THEIRS, 9)) for seq in (1, 2)]  # fmt: skip
    again = [event(0, 2 * life + n, n, n, cluster_id="third", topic="again", topic_id=topic_id, event_seq=n)
             for life, topic_id in enumerate(("zz", "aa")) for n in (1, 2)]  # fmt: skip
    return store(spark, tmp_path_factory.mktemp("clusters"), {
        T.LEADER_TIMELINE: [*twice, *again], T.REPLICA_TIMELINE: [], T.TRUNCATIONS: [], T.BROKER_STATEMENTS: [],
        T.SOURCE_FILES: [{**read_file(), "cluster_id": cluster} for cluster in (OURS, THEIRS)],
    })  # fmt: skip


def show(lake: Warehouse, *more: str, topic: str = "ledger") -> int:
    """Show a partition."""
    return main(["show", "--warehouse", lake.path, "--topic", topic, "--partition", "0", *more])


def test_events_of_two_clusters_are_not_mixed(lake: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    """They would read as one history, in which offsets go back and forth."""
    assert show(lake) == ExitCode.COULD_NOT_RUN
    told = capsys.readouterr()
    assert told.out == ""
    assert f"ledger-0 is of the clusters {OURS}, {THEIRS}: name one by --cluster-id" in told.err
    assert show(lake, "--cluster-id", THEIRS) == 0
    assert [" 2:9 " in line for line in capsys.readouterr().out.splitlines()[1:]] == [True, True]


def test_a_topic_created_anew_is_told_after_the_one_before(lake: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    """Both begin at epoch 0: the order is that of their first events."""
    assert show(lake, topic="again") == 0
    lines = capsys.readouterr().out.splitlines()

    assert [line for line in lines if line.startswith("topic id")] == ["topic id zz", "topic id aa"]
    assert [line.split()[:2] for line in lines if line.startswith("0/")] == [
        ["0/1", "10:49:23.000"], ["0/2", "10:49:24.000"], ["0/1", "10:49:25.000"], ["0/2", "10:49:26.000"]
    ]  # fmt: skip


def said(folder: Path, captures: Path, *statements: tuple[str, int]) -> Path:
    """A capture of our cluster, by its logs, whose brokers said so."""
    kept = shutil.copytree(captures / "failover" / "capture" / "broker-1", folder / "capture" / "broker-1")
    assert (kept / "server.log.gz").exists()
    of = {"ts": int(BEGIN.timestamp() * 1000) + 1000, "topic": "ledger", "partition": 0, "epoch": 0, "broker": 1}
    with gzip.open(folder / "truth.jsonl.gz", "wt") as truth:
        truth.writelines(json.dumps({**of, "kind": kind, "replica": 2, "to": to}) + "\n" for kind, to in statements)
    return folder


def test_a_capture_is_compared_with_its_own_cluster(
    lake: Warehouse, captures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whose it is its logs tell; the other's values would be extra."""
    capture = said(tmp_path, captures, ("become_leader", 7), ("remote_leo", 7))

    assert main(["agree", str(capture), "--warehouse", lake.path]) == 0
    assert main(["agree", str(capture), "--warehouse", lake.path, "--cluster-id", THEIRS]) == ExitCode.RULE_BROKEN
    shutil.rmtree(capture / "capture")
    assert main(["agree", str(capture), "--warehouse", lake.path]) == ExitCode.COULD_NOT_RUN
    assert f"is of the clusters {OURS}, {THEIRS}: name one by --cluster-id" in capsys.readouterr().err


def test_nothing_said_is_no_agreement(
    lake: Warehouse, captures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty input never passes."""
    assert main(["agree", str(said(tmp_path, captures)), "--warehouse", lake.path]) == ExitCode.COULD_NOT_RUN
    assert "says nothing of what was rebuilt" in capsys.readouterr().err


def test_what_if_says_whose_outcomes_they_are(
    lake: Warehouse, spark: SparkSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Topic and partition do not tell it."""
    outcomes = spark.createDataFrame([("ledger", 0, 11)], "topic string, partition int, records int")
    monkeypatch.setattr(what_if, "replay_truncations", lambda *_: outcomes)

    assert main(["what-if", "--warehouse", lake.path]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if "cluster" in line] == [
        f"cluster {OURS}", f"cluster {THEIRS}"
    ]  # fmt: skip
