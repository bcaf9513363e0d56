"""A cluster on loopback: a controller or a ZooKeeper and its brokers, on ports and in folders nobody else uses."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from cluster.distribution import Distribution
from cluster.node import STARTED_BESIDE_ZOOKEEPER, ZOOKEEPER_STARTED, Node
from cluster.node_folder import NodeFolder
from cluster.ports import free_ports
from cluster.settings import (
    TIMEOUTS,
    ZOOKEEPER_SESSION,
    ZOOKEEPER_TICK_MS,
    ZOOKEEPER_TIMEOUTS,
    broker_properties,
    controller_properties,
    replication_settings,
    zookeeper_broker_properties,
    zookeeper_properties,
)


class Cluster:
    """The nodes; leaving the `with` block ends every one of them, whatever happened. `upgrade` is what comes after."""

    def __init__(
        self,
        distribution: Distribution,
        folder: Path,
        brokers: int,
        settings: Mapping[str, str] | None = None,
        disks: int = 1,
        upgrade: Distribution | None = None,
    ) -> None:
        self.distribution = distribution
        self.upgrade = upgrade or distribution
        timeouts = ZOOKEEPER_TIMEOUTS if distribution.has_zookeeper else TIMEOUTS
        self.settings = {**timeouts, **replication_settings(brokers), **(settings or {})}
        self.controller = _controller(folder, distribution)
        self.brokers = {broker: self._broker(broker, folder, disks) for broker in range(1, brokers + 1)}
        self._ports = free_ports(brokers + 1)

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def nodes(self) -> list[Node]:
        """All processes, the controller or the ZooKeeper last."""
        return [*self.brokers.values(), self.controller]

    @property
    def bootstrap(self) -> str:
        """Addresses of the brokers that answer."""
        ports = dict(zip(self.brokers, self._ports[1:], strict=True))
        return ",".join(f"127.0.0.1:{ports[broker]}" for broker, node in self.brokers.items() if node.is_answering)

    @property
    def zookeeper(self) -> str:
        """Address of the ZooKeeper, where there is one."""
        return f"127.0.0.1:{self._ports[0]}"

    def shut_down(self) -> None:
        """End all in order: the brokers together, then what they report to."""
        for node in self.brokers.values():
            node.terminate()
        for node in self.brokers.values():
            node.wait_stopped()
        self.controller.terminate()
        self.controller.wait_stopped()

    def close(self) -> None:
        """End what still runs, at once: all are told before one is waited for, which a second Ctrl-C may cut short."""
        for node in self.nodes:
            node.kill(wait=False)
        for node in self.nodes:
            node.kill()

    def check(self) -> None:
        """Refuse to go on when a node has ended by itself."""
        for node in self.nodes:
            node.check()

    def _start(self) -> None:
        cluster_id = new_cluster_id()
        controller_port, *ports = self._ports
        has_zookeeper = self.distribution.has_zookeeper
        of_broker = zookeeper_broker_properties if has_zookeeper else broker_properties
        texts = [
            of_broker(broker, port, controller_port, node.folder.log_dirs, self.settings)
            for (broker, node), port in zip(self.brokers.items(), ports, strict=True)
        ]
        data = self.controller.folder.data
        texts.append(
            zookeeper_properties(controller_port, data)
            if has_zookeeper
            else controller_properties(controller_port, data, self.settings)
        )
        with ThreadPoolExecutor(2) as pool:  # each formatting is a Java of its own
            list(pool.map(lambda node, text: node.prepare(text, cluster_id), self.nodes, texts))
        self.controller.start()
        self.controller.wait_started()
        for node in self.brokers.values():
            node.start()
        for node in self.brokers.values():
            node.wait_started()

    def _broker(self, broker: int, folder: Path, disks: int) -> Node:
        """A broker; one that a ZooKeeper still holds for alive is not let in again: its session has to end first."""
        node = Node(f"broker {broker}", NodeFolder(folder / f"broker-{broker}", disks), self.distribution)
        if not self.distribution.has_zookeeper:
            return node
        patience = int(self.settings[ZOOKEEPER_SESSION]) + 3 * ZOOKEEPER_TICK_MS
        return replace(node, started=STARTED_BESIDE_ZOOKEEPER.format(broker=broker), missed_after=patience / 1000)


def _controller(folder: Path, distribution: Distribution) -> Node:
    if distribution.has_zookeeper:
        main, started = "ZooKeeperServerMain", ZOOKEEPER_STARTED
        return Node("ZooKeeper", NodeFolder(folder / "zookeeper"), distribution, main=main, started=started)
    return Node("the controller", NodeFolder(folder / "controller"), distribution)


def new_cluster_id() -> str:
    """A random id as Kafka writes one: never with a leading dash, which its tools take for an option (`Uuid`)."""
    drawn = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return new_cluster_id() if drawn.startswith("-") else drawn
