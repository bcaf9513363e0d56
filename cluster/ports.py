"""Ports for the nodes of a cluster."""

from __future__ import annotations

import random
import socket

from cluster.errors import ClusterError

PORTS = range(20_000, 32_000)
"""Below the ports that outgoing connections are given: a broker that is down for a while finds its own free again."""


def free_ports(count: int) -> list[int]:
    """Loopback ports on which nobody listens."""
    found: list[int] = []
    for port in random.sample(PORTS, k=min(len(PORTS), 50 * count)):
        if _is_free(port):
            found.append(port)
        if len(found) == count:
            return found
    raise ClusterError(f"no {count} free ports on 127.0.0.1 between {PORTS.start} and {PORTS.stop}.")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
