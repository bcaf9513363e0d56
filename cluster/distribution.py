"""A version of Kafka as jars, and its programs as commands of Java."""

from __future__ import annotations

import re
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cluster.errors import ToolFailedError

KRAFT_SINCE = (3, 3)
"""The first whose KRaft mode was meant for production: before it a ZooKeeper runs beside the brokers."""

TO_BROKERS_SINCE = (2, 6)
"""The first whose tool for reassignments asks the brokers, and not ZooKeeper."""


@dataclass(frozen=True)
class Distribution:
    """A folder with Kafka's jars and all behind them."""

    version: str
    jars: Path
    java: str

    @property
    def number(self) -> tuple[int, int]:
        """The version's first two numbers."""
        return number_of(self.version)

    @property
    def has_zookeeper(self) -> bool:
        """Whether a ZooKeeper keeps the metadata, and one of the brokers is the controller."""
        return self.number < KRAFT_SINCE

    def command(self, main: str, arguments: Sequence[str], options: Sequence[str] = ()) -> list[str]:
        """The command that runs a main class, named by its last part: its package differs from version to version."""
        return [self.java, *options, "-cp", f"{self.jars}/*", self.classes[main], *arguments]

    def run(self, main: str, arguments: Sequence[str], options: Sequence[str] = ()) -> str:
        """A tool's standard output; a tool that fails is an error with its last lines."""
        command = self.command(main, arguments, ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *options))
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - Java, and our own words
        if done.returncode != 0:
            told = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
            raise ToolFailedError(f"Kafka's {main} failed: {' / '.join(told[-3:])}")
        return done.stdout

    @cached_property
    def classes(self) -> dict[str, str]:
        """The programs used here, last part of the name to full name."""
        wanted = re.compile(
            r"(.*/(Kafka|StorageTool|DumpLogSegments|ReassignPartitionsCommand|ZooKeeperServerMain))\.class"
        )
        found: dict[str, str] = {}
        for jar in (*sorted(self.jars.glob("kafka*.jar")), *self.jars.glob("zookeeper-[0-9]*.jar")):
            with zipfile.ZipFile(jar) as archive:
                names = filter(None, map(wanted.fullmatch, archive.namelist()))
                found |= {name[2]: name[1].replace("/", ".") for name in names}
        return found


def number_of(version: str) -> tuple[int, int]:
    """A version's first two numbers."""
    major, minor, *_ = version.split(".")
    return int(major), int(minor)
