"""A stopped cluster into a capture: what an operator would have, and beside it what to compare with."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster.brokers import Cluster
from cluster.dumps import dump_metadata, dump_segments, leader_epoch_checkpoints, write_gzip
from cluster.load import Acked
from cluster.logging_config import REQUEST_LOG, SERVER_LOG, STATE_CHANGE_LOG, TRACE_LOG
from cluster.node import Node
from cluster.truth import write_truth

CHECKPOINTS = ("replication-offset-checkpoint", "log-start-offset-checkpoint")


def collect(cluster: Cluster, target: Path, about: Mapping[str, Any], acked: Sequence[Acked]) -> int:
    """Write capture/, trace/, truth.jsonl.gz and acked.jsonl.gz into `target`; how many statements the truth has."""
    capture, trace = target / "capture", target / "trace"
    for broker, node in cluster.brokers.items():
        _collect_broker(cluster, node, capture / f"broker-{broker}")
        traced = trace / f"broker-{broker}"
        traced.mkdir(parents=True)
        _compress(node.folder.logs / TRACE_LOG, traced)
    if not cluster.distribution.has_zookeeper:  # its metadata are no log
        dump_metadata(cluster.distribution, cluster.controller.folder.data, capture / "cluster-metadata.txt.gz")
    (capture / "about.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    write_gzip(target / "acked.jsonl.gz", map(json.dumps, acked))
    return write_truth(trace, target / "truth.jsonl.gz")


def _collect_broker(cluster: Cluster, node: Node, folder: Path) -> None:
    folder.mkdir(parents=True)
    for log in (REQUEST_LOG, SERVER_LOG, STATE_CHANGE_LOG):
        _compress(node.folder.logs / log, folder)
    for disk, log_dir in enumerate(node.folder.log_dirs, 1):
        _copy_checkpoints(log_dir, folder if disk == 1 else folder / f"disk-{disk}")
    checkpoints = json.dumps(leader_epoch_checkpoints(node.folder.log_dirs), indent=0)
    (folder / "leader-epoch-checkpoints.json").write_text(checkpoints, encoding="utf-8")
    dump_segments(cluster.distribution, node.folder.log_dirs, folder / "segments")


def _copy_checkpoints(log_dir: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for checkpoint in CHECKPOINTS:
        if (log_dir / checkpoint).exists():
            shutil.copyfile(log_dir / checkpoint, folder / checkpoint)


def _compress(log: Path, folder: Path) -> None:
    with log.open("rb") as plain, gzip.open(folder / f"{log.name}.gz", "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed)
