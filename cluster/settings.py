"""What each node is told: server.properties as text, and the settings a capture's about.json repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

CONTROLLER_ID = 100

ZOOKEEPER_TICK_MS = 500
ZOOKEEPER_SESSION = "zookeeper.session.timeout.ms"

TIMEOUTS = {
    "replica.lag.time.max.ms": "3000",
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "500",
}
"""Shorter than the defaults, so that a fault of seconds is one: these stand in about.json."""

ZOOKEEPER_TIMEOUTS = {"replica.lag.time.max.ms": "3000", ZOOKEEPER_SESSION: "7500"}
"""The same beside a ZooKeeper: a follower frozen until it has left the ISR is not missed yet."""

SMALL = {
    "num.network.threads": "2",
    "num.io.threads": "4",
    "num.recovery.threads.per.data.dir": "2",
    "log.cleaner.dedupe.buffer.size": "8388608",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
}
"""Several brokers share a laptop."""

RACK = "rack-{}"
"""Rack of a broker, by its id: it matters where consumers may read from the replica next to them."""


def replication_settings(brokers: int) -> dict[str, str]:
    """Internal topics on three brokers, or on as many as there are."""
    return {
        "offsets.topic.replication.factor": str(min(3, brokers)),
        "transaction.state.log.replication.factor": str(min(3, brokers)),
        "transaction.state.log.min.isr": str(min(2, brokers)),
    }


def controller_properties(port: int, data: Path, settings: Mapping[str, str]) -> str:
    """server.properties of the controller."""
    return _render(
        {
            "process.roles": "controller",
            "node.id": str(CONTROLLER_ID),
            "listeners": f"CONTROLLER://127.0.0.1:{port}",
            **_quorum(port, [data]),
            **settings,
        }
    )


def broker_properties(
    broker: int, port: int, controller_port: int, log_dirs: Sequence[Path], settings: Mapping[str, str]
) -> str:
    """server.properties of a broker."""
    return _render(
        {
            "process.roles": "broker",
            "node.id": str(broker),
            "broker.rack": RACK.format(broker),
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            **_quorum(controller_port, log_dirs),
            **SMALL,
            **settings,
        }
    )


def zookeeper_properties(port: int, data: Path) -> str:
    """zoo.cfg of the one ZooKeeper."""
    return _render(
        {
            "dataDir": str(data),
            "clientPort": str(port),
            "clientPortAddress": "127.0.0.1",
            "tickTime": str(ZOOKEEPER_TICK_MS),
            "maxClientCnxns": "0",
            "admin.enableServer": "false",
        }
    )


def zookeeper_broker_properties(
    broker: int, port: int, zookeeper_port: int, log_dirs: Sequence[Path], settings: Mapping[str, str]
) -> str:
    """server.properties of a broker beside a ZooKeeper."""
    return _render(
        {
            "broker.id": str(broker),
            "broker.rack": RACK.format(broker),
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "zookeeper.connect": f"127.0.0.1:{zookeeper_port}",
            "log.dirs": ",".join(map(str, log_dirs)),
            **SMALL,
            **settings,
        }
    )


def _quorum(controller_port: int, log_dirs: Sequence[Path]) -> dict[str, str]:
    return {
        "controller.quorum.voters": f"{CONTROLLER_ID}@127.0.0.1:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": ",".join(map(str, log_dirs)),
    }


def _render(settings: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())
