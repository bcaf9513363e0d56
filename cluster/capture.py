"""A scenario from nothing to a capture: cluster up, load on, script, load off, cluster down, files."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException

from cluster.acts import Say
from cluster.brokers import Cluster
from cluster.collect import collect
from cluster.distribution import Distribution
from cluster.errors import ClusterError
from cluster.load import Load
from cluster.scenario import Scenario
from cluster.stage import Stage

SETTLE_SECONDS = 1.5
"""After the load: the last fetches carry the last high watermark to the followers."""


@dataclass(frozen=True)
class Captured:
    """What a run came to."""

    acked: int
    statements: int


def capture(
    scenario: Scenario,
    distribution: Distribution,
    target: Path,
    *,
    brokers: int,
    seed: int,
    keep_trace: bool,
    say: Say,
    upgrade: Distribution | None = None,
) -> Captured:
    """Run a scenario and write its capture into `target`, which appears when it is whole."""
    with tempfile.TemporaryDirectory(prefix="tidegauge-", ignore_cleanup_errors=True) as scratch:
        folder, result = Path(scratch), Path(scratch) / "result"
        beside = "a ZooKeeper" if distribution.has_zookeeper else "a controller"
        say(f"starting Kafka {distribution.version}: {beside} and {brokers} brokers")
        with Cluster(distribution, folder, brokers, scenario.settings, scenario.disks, upgrade) as cluster:
            stage, load = _play(scenario, cluster, seed, say)
            say("stopping the brokers")
            cluster.shut_down()
        say("writing the capture")
        statements = collect(cluster, result, _about(scenario, cluster, stage, seed), load.acked)
        if statements == 0 or not load.acked:
            raise ClusterError(f"nothing happened: {len(load.acked)} records acknowledged, {statements} statements.")
        if not keep_trace:
            shutil.rmtree(result / "trace")
        _move(result, target)
    return Captured(len(load.acked), statements)


def lasting(scenario: Scenario, seconds: float | None) -> Scenario:
    """The scenario with another length, where one is asked for."""
    return scenario if seconds is None else replace(scenario, seconds=seconds)


def _play(scenario: Scenario, cluster: Cluster, seed: int, say: Say) -> tuple[Stage, Load]:
    load = Load(
        cluster.bootstrap, scenario.topics, seed, transactions=scenario.transactions, consumers=scenario.consumers
    )
    stage = Stage(cluster, scenario.topics, seed, scenario.seconds, say)
    try:
        stage.admin.create(scenario.topics)
        load.start()
        stage.begin()
        scenario.script(stage)
        stage.rest(max(0.0, scenario.seconds - stage.elapsed))
    except KafkaException as error:
        raise ClusterError(f"the cluster refused: {error}") from error
    except TimeoutError as error:  # of a future: it says nothing, and is an OSError
        raise ClusterError("the cluster has not answered a request in time; is the machine too busy?") from error
    finally:
        load.stop()
    stage.rest(SETTLE_SECONDS)
    return stage, load


def _about(scenario: Scenario, cluster: Cluster, stage: Stage, seed: int) -> dict[str, Any]:
    return {
        "scenario": scenario.name,
        "kafka": cluster.distribution.version,
        "brokers": list(cluster.brokers),
        "config": cluster.settings,
        "seed": seed,
        "acts": stage.acts,
    }


def _move(result: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for part in sorted(result.iterdir()):
        shutil.move(part, target / part.name)
