"""A node's folder: its configuration, what it writes about itself, and its log directories, one a disk."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from cluster.logging_config import SERVER_LOG, log4j_properties


@dataclass(frozen=True)
class NodeFolder:
    """Where a node keeps what is its own."""

    path: Path
    disks: int = 1

    @property
    def data(self) -> Path:
        """The log directory, in Kafka's sense; of several the first."""
        return self.path / "data"

    @property
    def log_dirs(self) -> list[Path]:
        """The log directories, one a disk."""
        return [self.data, *(self.path / f"data-{disk}" for disk in range(2, self.disks + 1))]

    @property
    def logs(self) -> Path:
        """What the node writes about itself."""
        return self.path / "logs"

    @property
    def server_log(self) -> Path:
        """Its server.log."""
        return self.logs / SERVER_LOG

    @property
    def console(self) -> Path:
        """What the process writes before it has come to log."""
        return self.path / "console.log"

    @property
    def properties(self) -> Path:
        """Its server.properties."""
        return self.path / "server.properties"

    @property
    def logging(self) -> Path:
        """Its configuration of Log4j 2."""
        return self.path / "log4j2.properties"

    def configure(self, properties: str) -> None:
        """Make the folder, with the node's configuration in it."""
        self.logs.mkdir(parents=True)
        self.properties.write_text(properties, encoding="utf-8")
        self.logging.write_text(log4j_properties(self.logs), encoding="utf-8")

    def other_disk(self, topic: str, partition: int) -> Path:
        """A log directory that has no log of the partition."""
        return next(disk for disk in self.log_dirs if not (disk / f"{topic}-{partition}").exists())

    def lose_disk(self) -> None:
        """Its last disk is somewhere else from now on; what the process has open there it goes on writing."""
        self.log_dirs[-1].rename(self._lost)

    def give_disk_back(self) -> None:
        """The lost disk is where it was."""
        shutil.rmtree(self.log_dirs[-1], ignore_errors=True)
        self._lost.rename(self.log_dirs[-1])

    @property
    def _lost(self) -> Path:
        return self.path / "lost"
