"""What a node is configured with, and what is read from what it leaves behind."""

from __future__ import annotations

import gzip
import time
import uuid
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
from confluent_kafka import KafkaError, KafkaException

from cluster.brokers import Cluster, new_cluster_id
from cluster.distribution import Distribution
from cluster.dumps import dump_segments, leader_epoch_checkpoints
from cluster.errors import ClusterError, NotOfferedError, ToolFailedError
from cluster.logging_config import TRACED, log4j_properties
from cluster.node import Node
from cluster.node_folder import NodeFolder
from cluster.ports import PORTS, free_ports
from cluster.releases import _dependencies, find_java, resolve
from cluster.settings import (
    broker_properties,
    controller_properties,
    zookeeper_broker_properties,
    zookeeper_properties,
)
from cluster.watch import UNSUPPORTED, patiently


class DumpOfTwo(Distribution):
    """A Kafka whose dump tool knows its lines by heart."""

    def run(self, main: str, arguments: Sequence[str], options: Sequence[str] = ()) -> str:
        """A dump of the two segments of one partition, and of one of another."""
        assert (main, options) == ("DumpLogSegments", ())
        return "".join(f"Dumping {log}\nLog starting offset: 0\n" for log in arguments[1].split(","))


def test_a_broker_knows_its_controller_and_its_folder() -> None:
    """Settings of the scenario come last, and win."""
    text = broker_properties(2, 20_002, 20_000, [Path("/d"), Path("/e")], {"num.io.threads": "1"})

    lines = text.splitlines()
    assert {"node.id=2", "process.roles=broker", "log.dirs=/d,/e", "num.io.threads=1"} <= set(lines)
    assert "controller.quorum.voters=100@127.0.0.1:20000" in lines
    assert "listeners=CONTROLLER://127.0.0.1:20000" in controller_properties(20_000, Path("/c"), {}).splitlines()


def test_before_kraft_a_broker_knows_its_zookeeper() -> None:
    """And formats nothing: it is told no cluster's id."""
    lines = zookeeper_broker_properties(2, 20_002, 20_000, [Path("/d"), Path("/e")], {"num.io.threads": "1"}).split(
        "\n"
    )

    assert {"broker.id=2", "zookeeper.connect=127.0.0.1:20000", "log.dirs=/d,/e", "num.io.threads=1"} <= set(lines)
    assert [line for line in lines if line.startswith(("process.roles", "controller."))] == []
    assert "clientPortAddress=127.0.0.1" in zookeeper_properties(20_000, Path("/z")).splitlines()


@pytest.mark.parametrize(
    ("version", "has_zookeeper"), [("2.3.1", True), ("3.2.3", True), ("3.3.0", False), ("4.1.0", False)]
)
def test_a_zookeeper_stands_beside_the_brokers_before_kraft(version: str, has_zookeeper: bool, tmp_path: Path) -> None:
    """It is no broker, and a broker killed beside it comes back only when its session there has ended."""
    cluster = Cluster(Distribution(version, tmp_path, "java"), tmp_path, 3)

    assert (cluster.controller.main == "ZooKeeperServerMain") is has_zookeeper
    assert {node.main for node in cluster.brokers.values()} == {"Kafka"}
    assert {node.missed_after > 7.5 for node in cluster.brokers.values()} == {has_zookeeper}


def test_a_broker_still_held_for_alive_waits_before_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only after a kill: an orderly shutdown ends the session itself."""
    waited: list[float] = []
    # Its own clock alone: other threads of the process sleep as well.
    monkeypatch.setattr("cluster.node.time", SimpleNamespace(sleep=waited.append, monotonic=time.monotonic))
    node = Node("broker 1", NodeFolder(tmp_path), Distribution("2.4.1", tmp_path, "true"), missed_after=9.0)
    monkeypatch.setattr(Distribution, "command", lambda *_: ["true"])

    node.start()
    assert waited == [0]
    node.kill()
    waited.clear()
    node.start()
    assert 8 < waited[0] <= 9
    node.kill()


def test_nothing_listens_beyond_loopback() -> None:
    """Every address is 127.0.0.1."""
    texts = (
        broker_properties(1, 20_001, 20_000, [Path("/d")], {}),
        controller_properties(20_000, Path("/c"), {}),
        zookeeper_broker_properties(1, 20_001, 20_000, [Path("/d")], {}),
    )
    addresses = [line for text in texts for line in text.splitlines() if "://" in line]

    assert len(addresses) == 5
    assert [address for address in addresses if "://127.0.0.1:" not in address] == []


def test_the_production_log_stays_at_info_and_the_trace_has_all() -> None:
    """server.log is what an operator has; what states offsets at TRACE goes to the trace log."""
    text = log4j_properties(Path("/logs"))

    assert "appender.server.filter.info.level = info" in text
    assert "appender.trace.filter" not in text
    assert [logger for logger in TRACED if f".name = {logger}\n" not in text] == []
    assert "logger.request.additivity = false" in text


def test_free_ports_are_different_and_in_range() -> None:
    """A port each."""
    ports = free_ports(6)

    assert len(set(ports)) == 6
    assert [port for port in ports if port not in PORTS] == []


def test_a_cluster_id_is_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """One in sixty-four begins with a dash, and Kafka's tools would refuse it: another is drawn."""
    drawn = iter([uuid.UUID(bytes=b"\xf8" + bytes(15)), uuid.UUID(bytes=bytes(16))])
    monkeypatch.setattr(uuid, "uuid4", lambda: next(drawn))

    assert new_cluster_id() == "A" * 22
    assert list(drawn) == []


def test_a_dump_is_cut_into_partitions(tmp_path: Path) -> None:
    """One file a partition, its segments in order; metadata and partitions on their way out are left out."""
    for log in (
        "data/clicks-0/00.log",
        "data/clicks-0/07.log",
        "data-2/a-b-1/00.log",
        "data/__cluster_metadata-0/00.log",
        "data/x-0.8a-delete/0.log",
    ):
        (tmp_path / log).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / log).touch()

    dump_segments(DumpOfTwo("4.1.0", tmp_path, "java"), [tmp_path / "data", tmp_path / "data-2"], tmp_path / "segments")

    written = {path.name: gzip.decompress(path.read_bytes()) for path in (tmp_path / "segments").iterdir()}
    assert sorted(written) == ["a-b-1.txt.gz", "clicks-0.txt.gz"]
    assert [line[-6:] for line in written["clicks-0.txt.gz"].splitlines()[::2]] == [b"00.log", b"07.log"]


def test_checkpoints_keep_their_lines(tmp_path: Path) -> None:
    """As on disk, the empty end after the last line break included."""
    (tmp_path / "clicks-0").mkdir()
    (tmp_path / "clicks-0" / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n", encoding="utf-8")

    assert leader_epoch_checkpoints([tmp_path / "none", tmp_path]) == {"clicks-0": ["0", "1", "0 0", ""]}


def test_a_program_is_found_wherever_its_version_keeps_it(tmp_path: Path) -> None:
    """Kafka's tools moved from package to package."""
    with zipfile.ZipFile(tmp_path / "kafka-tools-4.3.0.jar", "w") as jar:
        jar.writestr("org/apache/kafka/tools/DumpLogSegments.class", b"")
        jar.writestr("org/apache/kafka/tools/DumpLogSegments$Inner.class", b"")

    assert Distribution("4.3.0", tmp_path, "java").classes == {
        "DumpLogSegments": "org.apache.kafka.tools.DumpLogSegments"
    }


@pytest.mark.parametrize("version", ["", "4", "1.1.1", "latest", "4.1.0; rm"])
def test_a_version_that_cannot_be_is_refused(version: str) -> None:
    """Before anything is fetched."""
    with pytest.raises(ClusterError, match="no Kafka version"):
        resolve(version)


@pytest.mark.parametrize(
    ("version", "scala", "zookeeper"), [("2.0.1", "2.12", True), ("2.3.1", "2.12", True), ("2.4.0", "2.13", False)]
)
def test_each_version_is_fetched_with_what_it_runs_with(version: str, scala: str, zookeeper: bool) -> None:
    """Up to 2.3 there is none for Scala 2.13, and its own ZooKeeper is too old for today's Java."""
    told = _dependencies(version)

    assert f'name="kafka_{scala}" rev="{version}"' in told
    assert ('name="zookeeper"' in told) is zookeeper
    assert ET.fromstring(told).tag == "ivy-module"  # noqa: S314 - our own words


def test_no_java_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was looked for."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")

    with pytest.raises(ClusterError, match="no Java: /nowhere/bin/java"):
        find_java()


def test_a_tool_that_fails_says_why(tmp_path: Path) -> None:
    """In its last lines."""
    with zipfile.ZipFile(tmp_path / "kafka-tools.jar", "w") as jar:
        jar.writestr("org/apache/kafka/tools/ReassignPartitionsCommand.class", "")
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho Error: no such broker >&2\nexit 1\n")
    java.chmod(0o755)

    with pytest.raises(ToolFailedError, match=r"Kafka's ReassignPartitionsCommand failed: Error: no such broker"):
        Distribution("4.1.0", tmp_path, str(java)).run("ReassignPartitionsCommand", [])


def test_what_brokers_are_too_old_for_is_asked_once() -> None:
    """They may learn of a leader later, but of no new request."""
    asked = []

    def ask() -> None:
        asked.append("ElectLeaders")
        raise KafkaException(KafkaError(UNSUPPORTED, "ElectLeaders (KIP-460) not supported"))

    with pytest.raises(NotOfferedError, match=r"too old: ElectLeaders \(KIP-460\)"):
        patiently(ask)
    assert asked == ["ElectLeaders"]
