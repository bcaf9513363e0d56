"""`tidegauge capture` as a command: what it refuses, and a short scenario on a real cluster."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from jobs.capture_cluster import main
from jobs.cli import main as tidegauge
from jobs.errors import ExitCode


def test_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a scenario or a folder."""
    assert main(["--list"]) == ExitCode.OK
    assert "unclean_election" in capsys.readouterr().out


def test_an_unknown_scenario_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the names there are."""
    assert main(["earthquake", "--out", str(tmp_path / "out")]) == ExitCode.USAGE
    assert "'leader_killed'" in capsys.readouterr().err


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A capture must not be mixed with another."""
    (tmp_path / "note").touch()

    assert main(["steady", "--out", str(tmp_path)]) == ExitCode.COULD_NOT_RUN
    assert "a new folder" in capsys.readouterr().err


def test_no_java_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing is written."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")

    assert main(["steady", "--out", str(tmp_path / "out")]) == ExitCode.COULD_NOT_RUN
    assert capsys.readouterr().err.splitlines()[-1].startswith("tidegauge: no Java: /nowhere/bin/java is not there")
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_an_unclean_election_is_captured(tmp_path: Path) -> None:
    """A real cluster: the files are there, the election was unclean, and an acknowledged offset was given twice."""
    out = tmp_path / "out"

    assert main(["unclean_election", "--out", str(out)]) == ExitCode.OK

    capture = out / "capture"
    for broker in (1, 2, 3):
        folder = capture / f"broker-{broker}"
        for log in ("kafka-request.log.gz", "server.log.gz", "state-change.log.gz", "segments/clicks-0.txt.gz"):
            assert (folder / log).stat().st_size > 100
        assert "clicks-0" in json.loads((folder / "leader-epoch-checkpoints.json").read_text(encoding="utf-8"))
    assert '"leaderRecoveryState":1' in gzip.decompress((capture / "cluster-metadata.txt.gz").read_bytes()).decode()
    truth = [json.loads(line) for line in gzip.decompress((out / "truth.jsonl.gz").read_bytes()).splitlines()]
    assert {"leader_hw", "remote_leo", "append", "follower_hw", "truncate"} <= {row["kind"] for row in truth}
    acked = [json.loads(line) for line in gzip.decompress((out / "acked.jsonl.gz").read_bytes()).splitlines()]
    offsets = [row["offset"] for row in acked if (row["topic"], row["partition"]) == ("clicks", 0)]
    assert len(offsets) > len(set(offsets))
    assert not (out / "trace").exists()


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.delta
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("scenario", ["unclean_election", "frozen_follower", "restarts"])
def test_a_live_cluster_is_rebuilt_to_the_step(scenario: str, tmp_path: Path) -> None:
    """A real Kafka is started, broken and captured, and the timelines agree with its brokers' own words."""
    out, lake = str(tmp_path / "out"), str(tmp_path / "lake")

    assert main([scenario, "--out", out]) == ExitCode.OK
    assert tidegauge(["pipeline", out, "--warehouse", lake]) in (ExitCode.OK, ExitCode.RULE_BROKEN)
    assert tidegauge(["agree", out, "--warehouse", lake]) == ExitCode.OK
