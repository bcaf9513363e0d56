"""What is known, drawn as the right side of a story's line."""

from __future__ import annotations

from collections.abc import Iterable

from tests.twin.model import Broker, Cluster


def draw(cluster: Cluster) -> str:
    """What the controller's leader knows, then each follower's own log."""
    broker = cluster.brokers.get(cluster.controller.leader)
    followers = [b for b in cluster.brokers.values() if b.is_alive and b is not broker]
    if broker is None or broker.leading is None:
        living = [b for b in cluster.brokers.values() if b.is_alive]
        return "  ".join(["no leader", *_replicas(living)])
    leader, log = broker.leading, broker.log
    known = {broker.id: log.log_end_offset, **{r: remote.log_end_offset for r, remote in leader.remotes.items()}}
    offsets = [f"{r}:{'?' if offset < 0 else offset}" for r, offset in known.items()]
    isr = ["isr " + " ".join(map(str, sorted(leader.isr)))]
    maximal = ["maximal isr " + " ".join(map(str, sorted(leader.maximal_isr)))] if leader.joining is not None else []
    start = [f"log start {log.log_start_offset}"] if log.log_start_offset else []
    under = ["under min isr"] if leader.is_under_min_isr else []
    return "  ".join([*offsets, f"hw {log.high_watermark}", *isr, *maximal, *start, *under, *_replicas(followers)])


def _replicas(brokers: Iterable[Broker]) -> list[str]:
    return [f"replica {b.id}: leo {b.log.log_end_offset} hw {b.log.high_watermark}" for b in brokers]
