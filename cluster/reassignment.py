"""Reassignments, by Kafka's own tool: librdkafka does not speak of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from cluster.brokers import Cluster
from cluster.distribution import TO_BROKERS_SINCE


def replicas_to(moves: Mapping[tuple[str, int], Sequence[int]]) -> list[dict[str, object]]:
    """A plan that gives partitions new replicas."""
    return [{"topic": t, "partition": p, "replicas": list(to)} for (t, p), to in moves.items()]


def log_dirs_to(topic: str, partition: int, to: Mapping[int, Path]) -> list[dict[str, object]]:
    """A plan that gives the replica of each broker another of that broker's log directories."""
    dirs = [str(log_dir) for log_dir in to.values()]
    return [{"topic": topic, "partition": partition, "replicas": list(to), "log_dirs": dirs}]


def execute(cluster: Cluster, partitions: Sequence[Mapping[str, object]]) -> None:
    """Have the tool carry a plan out."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
        json.dump({"version": 1, "partitions": list(partitions)}, plan)
        plan.flush()
        words = ["--bootstrap-server", cluster.bootstrap, "--reassignment-json-file", plan.name, "--execute"]
        if cluster.distribution.number < TO_BROKERS_SINCE:
            words += ["--zookeeper", cluster.zookeeper]
        cluster.distribution.run("ReassignPartitionsCommand", words)
