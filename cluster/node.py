"""One process of the cluster: started, frozen, killed and ended by its own process id."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass

from cluster.distribution import Distribution
from cluster.errors import ClusterError
from cluster.node_folder import NodeFolder

STARTED = "Kafka Server started"
STARTED_BESIDE_ZOOKEEPER = "[KafkaServer id={broker}] started"
ZOOKEEPER_STARTED = "binding to port"
TROUBLE = re.compile(r" (ERROR|FATAL|WARN) |Caused by|Exception")
START_SECONDS = 90.0
STOP_SECONDS = 45.0
POLL_SECONDS = 0.1

JVM = (
    "-Xmx320m",
    "-Xms128m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Djava.net.preferIPv4Stack=true",
    "-Duser.timezone=UTC",
    "-Dzookeeper.jmx.log4j.disable=true",
)
"""Small, quick to start, and log lines in UTC. ZooKeeper is not to look for Log4j 1."""


@dataclass
class Node:
    """A broker, the controller or the ZooKeeper, its folder, and its process while it has one."""

    name: str
    folder: NodeFolder
    distribution: Distribution
    main: str = "Kafka"
    """Its program, and what that writes once it serves."""
    started: str = STARTED
    missed_after: float = 0.0
    """Seconds for which it is held for alive after a SIGKILL: it would not be let in again before."""
    process: subprocess.Popen[bytes] | None = None
    is_frozen: bool = False
    _log_read: int = 0
    _killed_at: float = float("-inf")

    @property
    def is_answering(self) -> bool:
        """Whether it runs and is not frozen."""
        return self.process is not None and not self.is_frozen

    def prepare(self, properties: str, cluster_id: str) -> None:
        """Write its configuration and, where there is no ZooKeeper, format its log directory."""
        self.folder.configure(properties)
        if not self.distribution.has_zookeeper:
            self.distribution.run("StorageTool", ["format", "-t", cluster_id, "-c", str(self.folder.properties)])

    def start(self) -> None:
        """Start the process; `wait_started` says when it serves."""
        time.sleep(max(0.0, self._killed_at + self.missed_after - time.monotonic()))
        log = self.folder.server_log
        self._log_read = log.stat().st_size if log.exists() else 0
        options = (*JVM, f"-Dlog4j2.configurationFile={self.folder.logging.as_uri()}")
        command = self.distribution.command(self.main, [str(self.folder.properties)], options)
        with self.folder.console.open("ab") as console:
            # A session of its own: Ctrl-C in the terminal is for tidegauge, which then ends each node itself.
            self.process = subprocess.Popen(  # noqa: S603 - Java, and our own words
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, start_new_session=True
            )

    def wait_started(self) -> None:
        """Return once the node serves; a node that ends or stays silent is an error with its last lines."""
        deadline = time.monotonic() + START_SECONDS
        while self.started not in self._log_since_start():
            self.check()
            if time.monotonic() > deadline:
                raise ClusterError(f"{self.name} has not started within {START_SECONDS:.0f} s.{self._last_lines()}")
            time.sleep(POLL_SECONDS)

    def check(self) -> None:
        """Refuse to go on when the process has ended without having been told to."""
        if self.process is not None and (code := self.process.poll()) is not None:
            self.process = None
            raise ClusterError(f"{self.name} has ended by itself (exit code {code}).{self._last_lines()}")

    def freeze(self) -> None:
        """SIGSTOP: it answers nothing, and its connections stay open."""
        self._signal(signal.SIGSTOP)
        self.is_frozen = True

    def thaw(self) -> None:
        """SIGCONT: it goes on where it stood."""
        self._signal(signal.SIGCONT)
        self.is_frozen = False

    def kill(self, *, wait: bool = True) -> None:
        """SIGKILL: nothing is flushed, nothing handed over."""
        self._signal(signal.SIGKILL)
        self._killed_at = time.monotonic()
        if wait:
            self._reap(STOP_SECONDS)

    def terminate(self) -> None:
        """SIGTERM: an orderly shutdown begins; `wait_stopped` says when it has ended."""
        if self.is_frozen:
            self.thaw()
        self._signal(signal.SIGTERM)

    def wait_stopped(self) -> None:
        """Return once the process has ended; one that does not in time is killed."""
        if self.process is not None and not self._reap(STOP_SECONDS):
            self.kill()

    def _signal(self, number: signal.Signals) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(number)

    def _reap(self, seconds: float) -> bool:
        if self.process is None:
            return True
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        self.process, self.is_frozen = None, False
        return True

    def _log_since_start(self) -> str:
        log = self.folder.server_log
        if not log.exists():
            return ""
        with log.open("rb") as lines:
            lines.seek(self._log_read)
            return lines.read().decode("utf-8", "replace")

    def _last_lines(self) -> str:
        """What its log says last of trouble, stacks left out; or its console's end where it has not come to log."""
        console = self.folder.console
        text = self._log_since_start() or (console.read_text("utf-8", "replace") if console.exists() else "")
        said = [line for line in text.splitlines() if line and not line[0].isspace()]
        trouble = [line for line in said if TROUBLE.search(line)] or said
        return "".join(f"\n    {line[:240]}" for line in dict.fromkeys(trouble[-4:]))
