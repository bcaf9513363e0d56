"""`kafka-dump-log` of what the nodes have on disk."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from cluster.distribution import Distribution

METADATA = "__cluster_metadata-0"
HEADER = re.compile(r"Dumping .*/([^/]+)/\d+\.log")


def dump_segments(distribution: Distribution, log_dirs: Sequence[Path], target: Path) -> None:
    """Each partition of some log directories as TOPIC-P.txt.gz; one Java for all of them."""
    segments = [log for log in _in_all(log_dirs, "*-*/*.log") if _is_partition(log.parent.name)]
    target.mkdir(parents=True)
    if not segments:
        return
    text = distribution.run("DumpLogSegments", ["--files", ",".join(map(str, segments))])
    for partition, lines in _by_partition(text.splitlines()).items():
        write_gzip(target / f"{partition}.txt.gz", lines)


def dump_metadata(distribution: Distribution, data: Path, target: Path) -> None:
    """The controller's log, decoded."""
    segments = sorted((data / METADATA).glob("*.log"))
    words = ["--cluster-metadata-decoder", "--files", ",".join(map(str, segments))]
    write_gzip(target, distribution.run("DumpLogSegments", words).splitlines())


def leader_epoch_checkpoints(log_dirs: Sequence[Path]) -> dict[str, list[str]]:
    """The lines of each partition's leader-epoch-checkpoint."""
    files = _in_all(log_dirs, "*-*/leader-epoch-checkpoint")
    return {
        file.parent.name: file.read_text(encoding="utf-8").split("\n")
        for file in files
        if _is_partition(file.parent.name)
    }


def write_gzip(target: Path, lines: Iterable[str]) -> None:
    """Lines as a gzipped file."""
    with gzip.open(target, "wt", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines)


def _in_all(log_dirs: Iterable[Path], pattern: str) -> list[Path]:
    return [file for log_dir in log_dirs for file in sorted(log_dir.glob(pattern))]


def _is_partition(folder: str) -> bool:
    """A folder `topic-0`; one on its way out is `topic-0.….-delete` or `-stray`, and metadata is no partition."""
    return folder != METADATA and re.fullmatch(r".+-\d+", folder) is not None


def _by_partition(lines: Iterable[str]) -> dict[str, list[str]]:
    """A dump of many files, cut at its headers; a partition's segments come in offset order, as the files did."""
    found: dict[str, list[str]] = defaultdict(list)
    current: list[str] = []
    for line in lines:
        if header := HEADER.fullmatch(line):
            current = found[header[1]]
        current.append(line)
    return found
